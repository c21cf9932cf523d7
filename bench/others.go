package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/prometheus/procfs"
)

// quiet is the share of the processors that others may have taken during a comparison whose ratios are to be published.
const quiet = 0.01

// machine is what the processors have done since the machine started, in seconds of all of them together.
type machine struct {
	all, busy, stolen float64 // by /proc/stat; stolen by the hypervisor, for other machines
	ours              float64 // of this program and all that descend from it, by their own accounts, and of the network's threads
	others            float64 // of all other programs
}

// hundredths of a second are what the kernel shows processor time in (USER_HZ).
const hundredths = 100.0

// readMachine looks at every process. What has ended counts for the one that waited for it.
func readMachine() (m machine, err error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return m, fmt.Errorf("read processor time: %w", err)
	}
	total, err := fs.Stat()
	if err != nil {
		return m, fmt.Errorf("read processor time: %w", err)
	}
	c := total.CPUTotal
	m.busy, m.stolen = c.User+c.Nice+c.System+c.IRQ+c.SoftIRQ, c.Steal
	m.all = m.busy + m.stolen + c.Idle + c.Iowait
	running, err := fs.AllProcs()
	if err != nil {
		return m, fmt.Errorf("list processes: %w", err)
	}
	stats := map[int]procfs.ProcStat{}
	for _, p := range running {
		if s, err := p.Stat(); err == nil { // it may have ended meanwhile
			stats[s.PID] = s
		}
	}
	m.ours, m.others = share(stats, os.Getpid())
	return m, nil
}

const (
	kthreadd      = 2            // the parent of all threads of the kernel
	networkThread = "ksoftirqd/" // one for each processor; what these handle here is the traffic that is compared
)

// share adds up the processor time of the processes that descend from one, itself included, and that of the others. What
// other threads of the kernel used is in neither.
func share(stats map[int]procfs.ProcStat, root int) (ours, others float64) {
	for pid, s := range stats {
		used := (float64(s.UTime+s.STime) + float64(s.CUTime+s.CSTime)) / hundredths
		for pid != root && pid != kthreadd && pid != 0 {
			pid = stats[pid].PPID // 0 for one that is not known
		}
		switch {
		case pid == root, strings.HasPrefix(s.Comm, networkThread):
			ours += used
		case pid != kthreadd:
			others += used
		}
	}
	return ours, others
}

// othersSince is the share of the processors that was not ours: what the hypervisor took, and the larger of what other programs
// say that they used and what was used in all beyond what ours did. The first misses what ended unseen or lives in another
// container; the second, counted by the clock's ticks, is off by some percent either way.
func (m machine) othersSince(before machine) float64 {
	all := m.all - before.all
	if all <= 0 {
		return 0
	}
	beyond := m.busy - before.busy - (m.ours - before.ours)
	return (m.stolen - before.stolen + max(m.others-before.others, beyond, 0)) / all
}

// describeOthers says whether ratios measured meanwhile may be published.
func describeOthers(share float64) string {
	if share < quiet {
		return fmt.Sprintf("others took %.1f %% of the processors", 100*share)
	}
	return fmt.Sprintf("NOT TO BE PUBLISHED: others took %.1f %% of the processors, and %.0f %% is the most that leaves a ratio to trust",
		100*share, 100*quiet)
}
