package host

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"strconv"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// readClock asks the kernel what it knows of its clock, and changes nothing.
func readClock() (TimeFacts, error) {
	var t unix.Timex // with no modes it only reads
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return TimeFacts{}, fmt.Errorf("read the clock's state: %w", err)
	}
	return TimeFacts{Known: true, Synchronised: state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0,
		MaxError: time.Duration(t.Maxerror) * time.Microsecond}, nil
}

func readSpace(path string) (free, size float64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, 0, fmt.Errorf("read the space of %s: %w", path, err)
	}
	return float64(s.Bavail) * float64(s.Bsize), float64(s.Blocks) * float64(s.Bsize), nil
}

// resolveTime is how long a machine whose name servers do not answer may take to say what its own name stands for.
const resolveTime = time.Second

func resolve(name string) []netip.Addr {
	ctx, cancel := context.WithTimeout(context.Background(), resolveTime)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return nil // a machine need not have its name anywhere
	}
	for i := range found {
		found[i] = found[i].Unmap()
	}
	return found
}

// readListeners are the TCP sockets that wait for connections. Of those the kernel says how many wait, and how many may.
func readListeners() ([]Listener, error) {
	var all []Listener
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		found, err := netlink.SocketDiagTCP(family)
		if err != nil {
			return all, fmt.Errorf("list TCP sockets: %w", err)
		}
		for _, one := range found {
			if one.State == netlink.TCP_LISTEN {
				all = append(all, Listener{Address: net.JoinHostPort(one.ID.Source.String(), strconv.Itoa(int(one.ID.SourcePort))),
					Waiting: int(one.RQueue), Queue: int(one.WQueue)})
			}
		}
	}
	return all, nil
}

// OwnCiphers tries ciphers by the processor time of this thread, which takes it a tenth of a second.
func OwnCiphers() []CipherRate { return byThreadTime(cipherRates) }

// OwnTransfer tries what transfers do to each byte, which takes a processor a second.
func OwnTransfer() []CipherRate { return byThreadTime(transferRates) }

// byThreadTime has something tried with the processor time of this thread as its clock; nil where the kernel does not tell that.
func byThreadTime(try func(now func() time.Duration) []CipherRate) []CipherRate {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return nil
	}
	return try(func() time.Duration {
		_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // it just did
		return time.Duration(t.Nano())
	})
}
