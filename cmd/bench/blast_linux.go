package main

import (
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The two ends of a stream of UDP packets, as this program again on hosts of a lab: one sends so many a second, evenly in
// bursts of what is due, the other counts what comes. Both use the kernel's batches, so that on two processors the ends
// leave most of one to the emulator.
const (
	blastFlag = "-blast" // ADDRESS:PORT PACKETS/S BYTES SECONDS, bytes being those of the IP packet
	sinkFlag  = "-sink"  // PORT
)

// runBlast sends, and prints how many packets went out.
func runBlast(args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("%s: want ADDRESS:PORT PACKETS/S BYTES SECONDS", blastFlag)
	}
	to, err := netip.ParseAddrPort(args[0])
	if err != nil {
		return err
	}
	var n [3]int
	for i, text := range args[1:] {
		if n[i], err = strconv.Atoi(text); err != nil {
			return err
		}
	}
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	if err := unix.Connect(s, &unix.SockaddrInet4{Addr: to.Addr().As4(), Port: int(to.Port())}); err != nil {
		return err
	}
	sent, err := blast(s, n[0], n[1]-28, time.Duration(n[2])*time.Second)
	fmt.Println(sent)
	return err
}

// From bulkRate on, the ends do what has gathered in bulkPause in one go, as adapters with interrupt moderation do: on a
// virtual machine, waking the other processor costs more than sending a packet.
const (
	bulkRate  = 50_000 // packets/s
	bulkPause = 400 * time.Microsecond
)

func pause(d time.Duration) {
	if d > 0 {
		limit := unix.NsecToTimespec(int64(d))
		_, _ = unix.Ppoll(nil, &limit, nil) // ends early on a signal, which does no harm
	}
}

// maxTrain is the kernel's own limit of segments in one call (UDP_MAX_SEGMENTS before Linux 6.9 was 64).
const maxTrain = 40

func blast(s, rate, payload int, duration time.Duration) (int, error) {
	// Few large packets go faster as one call; many small ones are sent as they are due.
	if err := unix.SetsockoptInt(s, unix.SOL_UDP, unix.UDP_SEGMENT, payload); err != nil {
		return 0, fmt.Errorf("set UDP_SEGMENT: %w", err)
	}
	buffer := make([]byte, maxTrain*payload)
	sent := 0
	for start := time.Now(); ; {
		elapsed := time.Since(start)
		if elapsed >= duration {
			return sent, nil
		}
		due := int(elapsed.Seconds()*float64(rate)) + 1 - sent
		if due <= 0 {
			next := start.Add(time.Duration(float64(sent) / float64(rate) * float64(time.Second)))
			wait := time.Until(next)
			if rate >= bulkRate {
				wait = bulkPause
			}
			pause(wait)
			continue
		}
		due = min(due, maxTrain, 65000/payload)
		if _, err := unix.Write(s, buffer[:due*payload]); err != nil && err != unix.EAGAIN && err != unix.ENOBUFS {
			return sent, fmt.Errorf("send: %w", err)
		}
		sent += due
	}
}

// runSink counts packets until it is interrupted or none has come for two seconds, and prints how many.
func runSink(args []string) error {
	port, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	_ = unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 64<<20)
	_ = unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RCVBUF, 64<<20)
	if err := unix.Bind(s, &unix.SockaddrInet4{Port: port}); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "ready")
	count := countPackets(s)
	fmt.Println(count)
	return nil
}

// sinkIdle is how long a sink waits for the next packet once there was one.
const sinkIdle = 2000 // ms

func countPackets(s int) (count int) {
	const batch = 64
	var messages [batch]struct {
		header unix.Msghdr
		length uint32
		_      [4]byte
	}
	var vectors [batch]unix.Iovec
	space := make([]byte, batch*2048)
	for i := range messages {
		vectors[i].Base = &space[i*2048]
		vectors[i].SetLen(2048)
		messages[i].header.Iov, messages[i].header.Iovlen = &vectors[i], 1
	}
	poll := []unix.PollFd{{Fd: int32(s), Events: unix.POLLIN}}
	for patience := -1; ; patience = sinkIdle {
		n, err := unix.Poll(poll, patience)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return count
		}
		// Few wake-ups with many packets each: what a receiver of bulk traffic sees from a real adapter.
		got, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, uintptr(s), uintptr(unsafe.Pointer(&messages[0])), batch, unix.MSG_DONTWAIT, 0, 0)
		if errno == 0 {
			count += int(got)
		}
		if got < batch {
			pause(bulkPause)
		}
	}
}
