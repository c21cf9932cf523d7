package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sinkFlag makes this program the receiving end of a stream of UDP packets, on a host of a lab. It counts packets until as
// many have come as it is told, or none has for a while, and prints how many; with stamps, a line for each: its number and
// the kernel's receive stamp in ns since 1970.
const sinkFlag = "-sink" // PORT PACKETS [stamps]

// A sink waits so long, in ms, for the first packet, and for each one after.
const (
	sinkFirst = 10_000
	sinkNext  = 1_000
)

// sinkBuffer holds half a second of 125,000 packets/s: a sink must not lose what came.
const sinkBuffer = 64 << 20

func runSink(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("%s: want PORT PACKETS [stamps]", sinkFlag)
	}
	var n [2]int
	for i := range n {
		var err error
		if n[i], err = strconv.Atoi(args[i]); err != nil {
			return err
		}
	}
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open socket: %w", err)
	}
	defer unix.Close(s)
	// Without privilege the kernel grants up to net.core.rmem_max.
	_ = unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RCVBUF, sinkBuffer)
	_ = unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, sinkBuffer)
	stamps := len(args) > 2
	if stamps {
		if err := unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
			return fmt.Errorf("set SO_TIMESTAMPNS: %w", err)
		}
	}
	if err := unix.Bind(s, &unix.SockaddrInet4{Port: n[0]}); err != nil {
		return fmt.Errorf("bind to port %d: %w", n[0], err)
	}
	fmt.Fprintln(os.Stderr, sinkReady)
	arrivals, count := sink(s, n[1], stamps)
	if !stamps {
		fmt.Println(count)
		return nil
	}
	out := bufio.NewWriter(os.Stdout)
	for _, a := range arrivals {
		fmt.Fprintln(out, a.number, a.stamp)
	}
	return out.Flush()
}

// sinkReady is what a sink prints when packets may come.
const sinkReady = "ready"

// arrival is one packet that a sink got.
type arrival struct {
	number uint64
	stamp  int64 // the kernel's, ns since 1970; 0: none
}

// sinkBatch packets are taken with one call.
const sinkBatch = 64

// sinkMemory is what such a call fills.
type sinkMemory struct {
	messages [sinkBatch]struct {
		header unix.Msghdr
		length uint32
		_      [4]byte
	}
	vectors  [sinkBatch]unix.Iovec
	payloads [sinkBatch][2048]byte
	controls [sinkBatch][64]byte // one SCM_TIMESTAMPNS each
}

// reset points every message at its memory; the kernel writes lengths over what it was given.
func (m *sinkMemory) reset() {
	for i := range m.messages {
		m.vectors[i].Base = &m.payloads[i][0]
		m.vectors[i].SetLen(len(m.payloads[i]))
		h := &m.messages[i].header
		h.Iov, h.Iovlen, h.Control = &m.vectors[i], 1, &m.controls[i][0]
		h.SetControllen(len(m.controls[i]))
	}
}

// sink takes packets, and keeps what it knows of each if they are stamped.
func sink(s, packets int, stamps bool) (arrivals []arrival, count int) {
	exactSleep()
	var m sinkMemory
	poll := []unix.PollFd{{Fd: int32(s), Events: unix.POLLIN}}
	for patience := sinkFirst; count < packets; patience = sinkNext {
		n, err := unix.Poll(poll, patience)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			break
		}
		m.reset()
		got, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, uintptr(s), uintptr(unsafe.Pointer(&m.messages[0])), sinkBatch, unix.MSG_DONTWAIT, 0, 0)
		if errno != 0 {
			continue
		}
		count += int(got)
		if stamps {
			for i := range int(got) {
				arrivals = append(arrivals, m.arrival(i))
			}
		}
		if got < sinkBatch { // few wake-ups with many packets each: what a receiver sees from a real adapter
			pause(bulkPause)
		}
	}
	return arrivals, count
}

// arrival reads the i-th message.
func (m *sinkMemory) arrival(i int) arrival {
	a := arrival{number: binary.LittleEndian.Uint64(m.payloads[i][:])}
	controls, err := unix.ParseSocketControlMessage(m.controls[i][:m.messages[i].header.Controllen])
	if err != nil {
		return a
	}
	for _, c := range controls {
		if c.Header.Level == unix.SOL_SOCKET && c.Header.Type == unix.SCM_TIMESTAMPNS && len(c.Data) >= 16 {
			a.stamp = (*unix.Timespec)(unsafe.Pointer(&c.Data[0])).Nano()
		}
	}
	return a
}
