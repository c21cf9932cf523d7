package archivebench

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/pathwise-net/pathwise/archive/postgrestest"
)

// Use is what a part of a run took.
type Use struct {
	PeakBytes uint64        // of memory, of this process, as Linux counts what is resident
	Own       time.Duration // of processor time: this process and the programs that it ran and waited for
	Server    time.Duration // and the PostgreSQL server that was started for this
	Others    float64       // part of all processors that others had, 0..1; negative: not known
}

func (u Use) describeOthers() string {
	if u.Others < 0 {
		return "what others took of the processors is not known here"
	}
	return fmt.Sprintf("others had %.0f %% of the processors", u.Others*100)
}

// meter measures a Use. What it cannot read counts as nothing: a benchmark goes on without.
type meter struct {
	server        *postgrestest.Server
	own, ofServer time.Duration
	busy, all     uint64
}

func startMeter(server *postgrestest.Server) *meter {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // the peak begins here: proc(5)
	m := &meter{server: server, own: ownTime(), ofServer: serverTime(server)}
	m.busy, m.all = processors()
	return m
}

func (m *meter) stop() Use {
	u := Use{PeakBytes: peakMemory(), Own: ownTime() - m.own, Server: serverTime(m.server) - m.ofServer, Others: -1}
	busy, all := processors()
	if all > m.all {
		ours := uint64((u.Own + u.Server).Seconds() * ticksPerSecond)
		u.Others = float64(busy-m.busy-min(ours, busy-m.busy)) / float64(all-m.all)
	}
	return u
}

// ticksPerSecond is the unit of /proc/stat, on every platform that Linux has now.
const ticksPerSecond = 100

// processors returns how long all processors were busy, and how long they have run, in ticks. What a hypervisor gave to
// others counts as busy.
func processors() (busy, all uint64) {
	data, _ := os.ReadFile("/proc/stat")
	line, _, _ := bytes.Cut(data, []byte("\n"))
	for i, field := range bytes.Fields(line) { // cpu user nice system idle iowait irq softirq steal, then parts of user
		n, _ := strconv.ParseUint(string(field), 10, 64)
		if i == 0 || i > 8 {
			continue
		}
		all += n
		if i != 4 && i != 5 {
			busy += n
		}
	}
	return busy, all
}

func ownTime() (total time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err == nil {
			total += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return total
}

func serverTime(s *postgrestest.Server) time.Duration {
	if s == nil {
		return 0
	}
	used, _ := s.CPU()
	return used
}

// peakMemory reads the line VmHWM of proc(5), which is in kB.
func peakMemory() uint64 {
	data, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := bytes.Cut(data, []byte("VmHWM:"))
	if f := bytes.Fields(rest); len(f) > 0 {
		kB, _ := strconv.ParseUint(string(f[0]), 10, 64)
		return kB << 10
	}
	return 0
}
