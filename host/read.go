package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"time"
)

// System is where a machine is read.
type System struct {
	Root    string  // of its files: "/", or a folder with proc, sys and etc as in a machine
	Page    float64 // bytes of a page of memory
	Network func(to netip.Addr) (Network, error)
	Clock   func() (TimeFacts, error)
	Space   func(path string) (free, size float64, err error) // of a file system, in bytes
	Resolve func(name string) []netip.Addr                    // of this machine's own name; it may give none
	Ciphers func() []CipherRate
	// Transfer tries what transfers do to each byte; nil: nobody asked for it.
	Transfer func() []CipherRate
	// DiskRates writes and reads a file; nil: nobody asked for it.
	DiskRates func(context.Context) ([]DiskRate, error)
	// GetLink and SetLink read and change a setting of an interface, for Apply and Revert.
	GetLink func(link, setting string) (string, error)
	SetLink func(link, setting, to string) error
	Wait    func(context.Context, time.Duration) error
}

// mostFile is more than any file holds that is read here.
const mostFile = 4 << 20

func (s System) path(name string) string { return filepath.Join(s.Root, name) }

func (s System) read(name string) (string, error) { return readBounded(s.path(name)) }

func readBounded(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostFile))
	return string(text), err
}

// Read reads a machine, with the way to an address where one is given. Counters are read twice, an interval apart. The end of ctx ends
// the wait, and is returned as its error.
func (s System) Read(ctx context.Context, to netip.Addr, interval time.Duration) (*Facts, error) {
	f := &Facts{Counters: map[string]Counter{}}
	missing := func(what string, err error) {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.Missing = append(f.Missing, fmt.Sprintf("read %s: %v", what, err))
		}
	}
	name, err := s.read("proc/sys/kernel/hostname")
	missing("name", err)
	kernel, err := s.read("proc/sys/kernel/osrelease")
	if err != nil {
		return nil, fmt.Errorf("read this machine's kernel: %w", err)
	}
	f.Name, f.Kernel = spaced(name), spaced(kernel)
	f.Network, err = s.Network(to)
	missing("network by netlink", err)
	for i := range f.Network.Links {
		s.addSysfs(&f.Network.Links[i])
	}
	s.readSettings(f)
	f.Time, err = s.readTime()
	missing("clock", err)
	f.Ciphers = s.Ciphers() // before the counters: it keeps a processor busy
	if s.Transfer != nil {
		f.Transfer = s.Transfer()
	}
	if s.DiskRates != nil {
		f.DiskRates, err = s.DiskRates(ctx)
		missing("disk rates", err)
	}
	began, first := time.Now(), s.counters(f.Network)
	f.OwnAddresses = s.ownAddresses(f.Name)
	if err := s.Wait(ctx, interval); err != nil {
		return nil, err
	}
	again, _ := s.Network(to) // what is missing now was missing before
	last := s.counters(again)
	f.Elapsed = time.Since(began)
	for name, value := range last {
		if was, there := first[name]; there {
			f.Counters[name] = Counter{was, value}
		}
	}
	return f, nil
}

// readSettings reads what stands in files and does not count.
func (s System) readSettings(f *Facts) {
	f.Configured = s.configuredSysctls()
	f.Sysctls = s.readSysctls(f.Configured)
	f.Unaudited = unaudited(f.Configured)
	maps.Copy(f.Configured, s.configuredLinks(f.Network.Links))
	memory, _ := s.read("proc/meminfo") // what is not there is absent
	sockets, _ := s.read("proc/net/sockstat")
	f.Memory, f.Sockets, f.PageSize = parseMemory(memory), parseSockets(sockets), s.Page
	f.CPUs = s.processors()
	f.Mounts, f.Disks = s.storage()
	f.Fstab = s.fstab()
	f.Interrupts = s.interrupts(f.Network.Links)
}

// Sleep waits, unless ctx ends before.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
