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

// forgeFlag makes this program an attacker of a STAMP reflector: so many packets a second, a third of them too short, a third of them whole but
// each of another session, and a third of them one packet again and again. It prints what it sent and what came back as a forged.
const forgeFlag = "-forge" // ADDRESS:PORT PACKETS/S SECONDS

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

// forgery is one way to attack, with a socket of its own, so that its answers are told from others'.
type forgery struct {
	socket int
	size   int
	fill   func(b []byte)
}

// truncatedBytes is less than any STAMP packet has.
const truncatedBytes = 20

func forgeries() []*forgery {
	var replayed [stamp.LeastBytes]byte
	stamp.Probe{Sequence: 7, Session: 7}.Put(replayed[:])
	return []*forgery{
		{size: truncatedBytes, fill: func([]byte) {}},
		{size: stamp.LeastBytes, fill: func(b []byte) {
			clear(b)
			binary.BigEndian.PutUint32(b, rand.Uint32())
			binary.BigEndian.PutUint16(b[14:], uint16(rand.Uint32()))
		}},
		{size: len(replayed), fill: func(b []byte) { copy(b, replayed[:]) }},
	}
}

func runForge(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("%s: want ADDRESS:PORT PACKETS/S SECONDS", forgeFlag)
	}
	to, err := netip.ParseAddrPort(args[0])
	if err != nil {
		return err
	}
	rate, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	seconds, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	result, err := forge(to, rate, time.Duration(seconds)*time.Second)
	if err != nil {
		return err
	}
	return printJSON(os.Stdout, result)
}

// forge attacks by trains of one forgery at a time, so that the attacker takes little of the processors that it shares with the reflector.
func forge(to netip.AddrPort, rate int, duration time.Duration) (forged, error) {
	all := forgeries()
	var f forged
	for _, one := range all {
		s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			return f, fmt.Errorf("open socket: %w", err)
		}
		defer unix.Close(s)
		if err := unix.Connect(s, &unix.SockaddrInet4{Addr: to.Addr().As4(), Port: int(to.Port())}); err != nil {
			return f, fmt.Errorf("connect to %s: %w", to, err)
		}
		if err := unix.SetsockoptInt(s, unix.SOL_UDP, unix.UDP_SEGMENT, one.size); err != nil {
			return f, fmt.Errorf("set UDP_SEGMENT: %w", err)
		}
		one.socket = s
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
