package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/sock"
)

// meterInterval is how fresh a Meter is, within what people notice, at no cost that could be measured.
const meterInterval = 50 * time.Millisecond

// keepMeter opens what the lab's processes may read of the engine, and brings it up to date for as long as the lab stands. It
// returns the variables that name it to them.
func (e *engine) keepMeter() (variables []string, err error) {
	meter, err1 := newSharedFile("pathwise-meter")
	counters, err2 := newSharedFile("pathwise-adapters")
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if err := errors.Join(meter.write(Meter{}.bytes()), counters.write([]byte("{}"))); err != nil {
		return nil, fmt.Errorf("write meter: %w", err)
	}
	go func() {
		last, lastCounters, handled := Meter{}, "", int64(0)
		for range time.Tick(meterInterval) {
			m, all, seen := e.pump.meter()
			if text, _ := json.Marshal(all); len(all) > 0 && string(text) != lastCounters { // numbers and names always can be
				lastCounters = string(text)
				_ = counters.write(text)
			}
			if seen == handled { // where nothing moves nothing overflows
				continue
			}
			handled, m.Overflowed = seen, e.pump.overflowed()
			if m != last {
				last = m
				_ = meter.write(m.bytes())
			}
		}
	}()
	return []string{MeterVariable + "=" + meter.path, sock.AdapterVariable + "=" + counters.path}, nil
}

// meter returns what the pump knows of a Meter and of adapters, and how many packets it has handled so far.
func (u *pump) meter() (m Meter, all adapters, handled int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return Meter{Packets: u.network.handed, Late: u.network.late, Refused: u.refusals}, u.network.adapters(u.now()), u.handled
}

// overflowed adds up what the kernel dropped at all devices. It takes system calls, so the pump's lock is not held.
func (u *pump) overflowed() (n uint64) {
	u.looking.Lock()
	defer u.looking.Unlock()
	for _, d := range u.devices {
		if d != nil {
			n += d.overflowed()
		}
	}
	return n
}

const hugePage = 2 << 20

// hugeMemory returns so many bytes, which must be a multiple of a huge page, on huge pages if the kernel has some: packets
// that wait for their time are tens of megabytes, and with ordinary pages nearly each touch of one would miss the
// processor's table of pages. It is nil where there is no memory to be had this way.
func hugeMemory(bytes int) []byte {
	// One page more than asked for has room for as many aligned ones. What is not touched takes no memory.
	all, err := unix.Mmap(-1, 0, bytes+hugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	skip := -uintptr(unsafe.Pointer(&all[0])) % hugePage
	aligned := all[skip : skip+uintptr(bytes)]
	_ = unix.Madvise(aligned, unix.MADV_HUGEPAGE) // best effort: older kernels, or those told never to
	return aligned
}

// sharedFile is a file in memory that the engine writes and the lab's processes read.
type sharedFile struct {
	fd   int
	path string // for the lab's processes
	size int
}

func newSharedFile(name string) (*sharedFile, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", name, err)
	}
	self, err := os.Readlink("/proc/self") // 1, unless the lab could not mount a /proc of its own
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", name, err)
	}
	return &sharedFile{fd: fd, path: fmt.Sprintf("/proc/%s/fd/%d", self, fd)}, nil
}

// write replaces what the file holds, in one call. What gets shorter is filled up with line ends.
func (f *sharedFile) write(b []byte) error {
	for len(b) < f.size {
		b = append(b, '\n')
	}
	f.size = len(b)
	_, err := unix.Pwrite(f.fd, b, 0)
	return err
}
