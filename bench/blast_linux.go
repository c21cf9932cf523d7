package main

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// blastFlag makes this program the sending end of a stream of UDP packets, on a host of a lab: so many a second, evenly, in
// bursts of what is due. It prints what became of its part as a blasted. Bytes are those of the IP packet.
const blastFlag = "-blast" // ADDRESS:PORT PACKETS/S BYTES SECONDS

// blasted is what a sender did.
type blasted struct {
	Sent    int     `json:"sent_packets"` // that the kernel took
	Seconds float64 `json:"seconds"`
}

// rate is in packets/s.
func (s blasted) rate() float64 { return float64(s.Sent) / s.Seconds }

func runBlast(args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("%s: want ADDRESS:PORT PACKETS/S BYTES SECONDS", blastFlag)
	}
	to, err := netip.ParseAddrPort(args[0])
	if err != nil {
		return err
	}
	what, err := parseStream(args[1:])
	if err != nil {
		return err
	}
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open socket: %w", err)
	}
	defer unix.Close(s)
	if err := unix.Connect(s, &unix.SockaddrInet4{Addr: to.Addr().As4(), Port: int(to.Port())}); err != nil {
		return fmt.Errorf("connect to %s: %w", to, err)
	}
	sent, err := blast(s, what.rate, what.bytes-udpHeaders, time.Duration(what.seconds)*time.Second)
	if err != nil {
		return err
	}
	return printJSON(os.Stdout, sent)
}

// udpHeaders are those of IPv4 and UDP.
const udpHeaders = 20 + 8

// From bulkRate on, the ends do what has gathered in bulkPause in one go, as adapters with interrupt moderation do: on a
// virtual machine, waking the other processor costs more than sending a packet.
const (
	bulkRate  = 50_000 // packets/s
	bulkPause = 400 * time.Microsecond
)

// maxTrain is the kernel's own limit of segments in one call (UDP_MAX_SEGMENTS before Linux 6.9 was 64).
const maxTrain = 40

// blastGrace is how much longer than asked a sender may take that fell behind.
const blastGrace = 100 * time.Millisecond

// blast sends what the rate gives in that time, packet by packet as it falls due; each carries its number, from 0, in its
// first 8 bytes. A sender that cannot keep up ends early.
func blast(s, rate, payload int, duration time.Duration) (blasted, error) {
	// Few large packets go faster as one call; many small ones are sent as they are due.
	if err := unix.SetsockoptInt(s, unix.SOL_UDP, unix.UDP_SEGMENT, payload); err != nil {
		return blasted{}, fmt.Errorf("set UDP_SEGMENT: %w", err)
	}
	exactSleep()
	buffer := make([]byte, maxTrain*payload)
	total := int(duration.Seconds() * float64(rate))
	offered, refused := 0, 0
	start := time.Now()
	for offered < total {
		elapsed := time.Since(start)
		if elapsed > duration+blastGrace {
			break
		}
		due := min(int(elapsed.Seconds()*float64(rate))+1, total) - offered
		if due <= 0 {
			wait := time.Duration(float64(offered)/float64(rate)*float64(time.Second)) - elapsed
			if rate >= bulkRate {
				wait = bulkPause
			}
			pause(wait)
			continue
		}
		due = min(due, maxTrain, maxCall/payload)
		for i := range due {
			binary.LittleEndian.PutUint64(buffer[i*payload:], uint64(offered+i))
		}
		switch _, err := unix.Write(s, buffer[:due*payload]); err {
		case nil:
		case unix.EAGAIN, unix.ENOBUFS:
			refused += due
		default:
			return blasted{}, fmt.Errorf("send: %w", err)
		}
		offered += due
	}
	return blasted{offered - refused, time.Since(start).Seconds()}, nil
}

// maxCall is what one call may send: a little less than the largest UDP datagram.
const maxCall = 65_000

func pause(d time.Duration) {
	if d > 0 {
		limit := unix.NsecToTimespec(int64(d))
		_, _ = unix.Ppoll(nil, &limit, nil) // ends early on a signal, which does no harm
	}
}

// exactSleep keeps the kernel from ending this thread's sleeps up to 50 µs late, which it does to merge wake-ups. Where it
// is refused, packets leave less evenly.
func exactSleep() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) }
