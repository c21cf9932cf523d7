package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/proto/stamp"
)

// forgeFlag makes this program an attacker of a STAMP reflector or an OWAMP server: so many packets a second, a third of them too short, a third of
// them whole but each of another session or from another source, and a third of them one packet again and again. It prints what it sent and what came
// back as a forged.
const forgeFlag = "-forge" // PROTOCOL ADDRESS:PORT PACKETS/S SECONDS

// forged is what an attacker sent and got, in bytes of payload.
type forged struct {
	Packets       int     `json:"sent_packets"`
	Bytes         int     `json:"sent_bytes"`
	AnswerPackets int64   `json:"answer_packets"`
	AnswerBytes   int64   `json:"answer_bytes"`
	Larger        int64   `json:"answers_larger_than_their_packet"`
	Seconds       float64 `json:"seconds"`
}

// rate is in packets/s.
func (f forged) rate() float64 { return float64(f.Packets) / f.Seconds }

// forgery is one way to attack. The sockets of STAMP's are of one each, so that answers are told from others'.
type forgery struct {
	socket int
	to     netip.AddrPort
	size   int
	fill   func(b []byte)
}

// truncatedBytes is less than any STAMP packet has.
const truncatedBytes = 20

// forgeSTAMP makes the three forgeries of an attacker of a reflector.
func forgeSTAMP(to netip.AddrPort) (all []*forgery, end func(), err error) {
	var replayed [stamp.LeastBytes]byte
	stamp.Probe{Sequence: 7, Session: 7}.Put(replayed[:])
	all = []*forgery{
		{size: truncatedBytes, fill: func([]byte) {}},
		{size: stamp.LeastBytes, fill: func(b []byte) {
			clear(b)
			binary.BigEndian.PutUint32(b, rand.Uint32())
			binary.BigEndian.PutUint16(b[14:], uint16(rand.Uint32()))
		}},
		{size: len(replayed), fill: func(b []byte) { copy(b, replayed[:]) }},
	}
	end = func() {
		for _, one := range all {
			unix.Close(one.socket)
		}
	}
	for _, one := range all {
		one.to = to
		if one.socket, err = openForgery(); err != nil {
			return nil, nil, err
		}
	}
	return all, end, nil
}

func openForgery() (socket int, err error) {
	socket, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return 0, fmt.Errorf("open socket: %w", err)
	}
	return socket, nil
}

func runForge(args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("%s: want PROTOCOL ADDRESS:PORT PACKETS/S SECONDS", forgeFlag)
	}
	to, err := netip.ParseAddrPort(args[1])
	if err != nil {
		return err
	}
	rate, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	seconds, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	prepare := forgeSTAMP
	if args[0] == protocolOWAMP {
		prepare = forgeOWAMP
	}
	all, end, err := prepare(to)
	if err != nil {
		return err
	}
	defer end()
	result, err := forge(all, rate, time.Duration(seconds)*time.Second)
	if err != nil {
		return err
	}
	return printJSON(os.Stdout, result)
}

// forge attacks by trains of one forgery at a time, so that the attacker takes little of the processors that it shares with its victim.
func forge(all []*forgery, rate int, duration time.Duration) (forged, error) {
	var f forged
	for _, one := range all {
		if err := unix.Connect(one.socket, &unix.SockaddrInet4{Addr: one.to.Addr().As4(), Port: int(one.to.Port())}); err != nil {
			return f, fmt.Errorf("connect to %s: %w", one.to, err)
		}
	}
	exactSleep()
	train := make([]byte, maxTrain*stamp.LeastBytes)
	began := time.Now()
	for turn := 0; time.Since(began) < duration; turn++ {
		if wait := time.Duration(float64(f.Packets)/float64(rate)*float64(time.Second)) - time.Since(began); wait > 0 {
			f.takeAnswers(all)
			pause(wait)
		}
		one := all[turn%len(all)]
		for i := range maxTrain {
			one.fill(train[i*one.size : (i+1)*one.size])
		}
		if err := unix.SetsockoptInt(one.socket, unix.SOL_UDP, unix.UDP_SEGMENT, one.size); err != nil {
			return f, fmt.Errorf("set UDP_SEGMENT: %w", err)
		}
		if n, err := unix.Write(one.socket, train[:maxTrain*one.size]); err == nil {
			f.Packets += maxTrain
			f.Bytes += n
		}
	}
	f.Seconds = time.Since(began).Seconds()
	pause(100 * time.Millisecond) // for the last answers
	f.takeAnswers(all)
	return f, nil
}

// takeAnswers counts what has come back until now.
func (f *forged) takeAnswers(all []*forgery) {
	var b [1 << 12]byte
	for _, one := range all {
		for {
			n, err := unix.Read(one.socket, b[:])
			if err != nil {
				break
			}
			f.AnswerPackets++
			f.AnswerBytes += int64(n)
			if n > one.size {
				f.Larger++
			}
		}
	}
}
