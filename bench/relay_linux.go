package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/stat"
)

// relayFlag makes this program the plainest emulator there is, and sends a stream of UDP packets through it. It runs on a
// host of a lab, where it may make devices and a second network namespace, and prints a relayed.
//
//	sender                                             sink
//	+---------------+   +------------------------+   +---------------+
//	| host's        |-->| read, wait until due,  |-->| second        |
//	| namespace tun |<--| write: one such pair   |<--| namespace tun |
//	+---------------+   | of goroutines each way |   +---------------+
//	                    +------------------------+
//
// It is what one writes first: Go's own reads, channels and time.Sleep. It does not know what a packet is.
const relayFlag = "-relay" // DELAY PACKETS/S BYTES SECONDS

// relayed is what came of a stream.
type relayed struct {
	blasted
	Received int     `json:"received_packets"`
	Median   float64 `json:"late_median_microseconds"`
	P99      float64 `json:"late_p99_microseconds"`
}

func runRelay(args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("%s: want DELAY PACKETS/S BYTES SECONDS", relayFlag)
	}
	delay, err := time.ParseDuration(args[0])
	if err != nil {
		return err
	}
	s, err := parseStream(args[1:])
	if err != nil {
		return err
	}
	near, err := openTUN(clientAddress, serverAddress)
	if err != nil {
		return err
	}
	second, err := enterSecond()
	if err != nil {
		return err
	}
	var far *os.File
	if err := second(func() error { far, err = openTUN(serverAddress, clientAddress); return err }); err != nil {
		return err
	}
	there := &delayLine{delay: delay, late: make([]float64, 0, s.packets())}
	go there.carry(near, far)
	go (&delayLine{delay: delay}).carry(far, near)
	r, err := s.runBetween(second)
	if err != nil {
		return err
	}
	late := stat.Summarize(there.lateness())
	r.Median, r.P99 = late.Median, late.P99
	return printJSON(os.Stdout, r)
}

// runBetween sends from this namespace to the second.
func (s stream) runBetween(second func(func() error) error) (relayed, error) {
	self, err := os.Executable()
	if err != nil {
		return relayed{}, fmt.Errorf("find this program: %w", err)
	}
	var received strings.Builder
	sink := exec.Command(self, s.sinkArgs()...)
	sink.Stdout = &received
	ready, err := sink.StderrPipe()
	if err != nil {
		return relayed{}, err
	}
	if err := second(sink.Start); err != nil {
		return relayed{}, fmt.Errorf("start sink: %w", err)
	}
	if _, err := ready.Read(make([]byte, len(sinkReady))); err != nil {
		return relayed{}, fmt.Errorf("start sink: %w", err)
	}
	sent, sendErr := exec.Command(self, s.blastArgs(serverAddress)...).Output()
	if err := errors.Join(sendErr, sink.Wait()); err != nil {
		return relayed{}, err
	}
	var r relayed
	if err := json.Unmarshal(sent, &r.blasted); err != nil {
		return relayed{}, fmt.Errorf("read what the sender printed: %w", err)
	}
	r.Received, err = readCount(received.String())
	return r, err
}

// enterSecond makes a network namespace. What it returns runs a function on the thread that lives there.
func enterSecond() (func(func() error) error, error) {
	work, done := make(chan func() error), make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread is of no use to anyone else
		done <- unix.Unshare(unix.CLONE_NEWNET)
		for f := range work {
			done <- f()
		}
	}()
	if err := <-done; err != nil {
		return nil, fmt.Errorf("create network namespace: %w", err)
	}
	return func(f func() error) error {
		work <- f
		return <-done
	}, nil
}

// openTUN makes a TUN device with an address and a peer in the caller's network namespace. Its queue is as long as those of
// a lab's hosts.
func openTUN(address, peer string) (*os.File, error) {
	const name = "relay0"
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: "/dev/net/tun", Err: err}
	}
	request, err := unix.NewIfreq(name)
	if err == nil {
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("create TUN device: %w", err)
	}
	f := os.NewFile(uintptr(fd), name)
	link, err := netlink.LinkByName(name)
	if err == nil {
		whole := net.CIDRMask(32, 32)
		err = errors.Join(
			netlink.LinkSetTxQLen(link, 10_000),
			netlink.AddrAdd(link, &netlink.Addr{IPNet: &net.IPNet{IP: net.ParseIP(address).To4(), Mask: whole},
				Peer: &net.IPNet{IP: net.ParseIP(peer).To4(), Mask: whole}}),
			netlink.LinkSetUp(link))
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("set up TUN device: %w", err)
	}
	return f, nil
}

// delayLine hands on packets a while after they came.
type delayLine struct {
	delay time.Duration
	mu    sync.Mutex
	late  []float64 // µs, of each
}

// relayRoom is how many packets may be under way one way: half a second of 125,000 packets/s.
const relayRoom = 1 << 16

// carry works until the process ends.
func (d *delayLine) carry(from, to *os.File) {
	type waiting struct {
		due time.Time
		b   []byte
	}
	line := make(chan waiting, relayRoom)
	go func() {
		defer close(line)
		for b := make([]byte, 2048); ; {
			n, err := from.Read(b)
			if err != nil {
				return
			}
			line <- waiting{time.Now().Add(d.delay), append([]byte(nil), b[:n]...)}
		}
	}()
	for w := range line {
		time.Sleep(time.Until(w.due))
		_, _ = to.Write(w.b) // what is refused is missing at the sink
		left := time.Since(w.due)
		d.mu.Lock()
		d.late = append(d.late, float64(left)/1e3)
		d.mu.Unlock()
	}
}

func (d *delayLine) lateness() []float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.late
}
