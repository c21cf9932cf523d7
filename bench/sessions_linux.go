package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/stamp"
	"github.com/pathwise-net/pathwise/stat"
)

// sessionsFlag makes this program many STAMP senders at once, each with a socket and a session of its own. It prints what became of their
// packets as a sessionsSeen. Both ends share this machine's clock, so that each stamp of the reflector has to lie between the sender's own.
const sessionsFlag = "-sessions" // ADDRESS:PORT SESSIONS PACKETS/S-OF-EACH SECONDS

// sessionsSeen is what became of the packets of all sessions. Delays are in seconds.
type sessionsSeen struct {
	Sent      int     `json:"sent_packets"`
	Answered  int     `json:"answered_packets"`
	Misplaced int     `json:"misplaced_stamps"` // answers whose stamps do not follow T1 <= T2 <= T3 <= T4
	Miscount  int     `json:"wrong_counts"`     // answers whose count is not that of their session
	RTTMedian float64 `json:"rtt_median_seconds"`
	RTTP99    float64 `json:"rtt_p99_seconds"`
}

// sessionsGrace is how long answers may take after the last packet.
const sessionsGrace = time.Second

func runSessions(args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("%s: want ADDRESS:PORT SESSIONS PACKETS/S SECONDS", sessionsFlag)
	}
	to, err := netip.ParseAddrPort(args[0])
	if err != nil {
		return err
	}
	var n [3]int
	for i := range n {
		if n[i], err = strconv.Atoi(args[i+1]); err != nil {
			return err
		}
	}
	all := make([]*stampSession, n[0])
	for i := range all {
		conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
		if err != nil {
			return fmt.Errorf("open session %d: %w", i, err)
		}
		defer conn.Close()
		all[i] = &stampSession{conn: conn, number: uint16(i + 1)}
	}
	return printJSON(os.Stdout, playSessions(all, n[1], n[2]))
}

// stampSession is one sender.
type stampSession struct {
	conn   *net.UDPConn
	number uint16
	sent   uint32

	answered, misplaced, miscount int // by its goroutine
	trips                         []float64
}

// playSessions has each session send so many packets a second for so many seconds, the sessions evenly spread over each interval.
func playSessions(all []*stampSession, rate, seconds int) sessionsSeen {
	ctx, cancel := context.WithCancel(context.Background())
	var readers sync.WaitGroup
	for _, s := range all {
		readers.Go(func() { s.read(ctx) })
	}
	gap := time.Second / time.Duration(rate*len(all))
	began := time.Now()
	for i := range rate * seconds * len(all) {
		time.Sleep(time.Until(began.Add(time.Duration(i) * gap)))
		all[i%len(all)].send()
	}
	time.Sleep(sessionsGrace)
	cancel()
	for _, s := range all {
		_ = s.conn.SetReadDeadline(time.Unix(1, 0))
	}
	readers.Wait()
	var seen sessionsSeen
	var trips []float64
	for _, s := range all {
		seen.Sent += int(s.sent)
		seen.Answered += s.answered
		seen.Misplaced += s.misplaced
		seen.Miscount += s.miscount
		trips = append(trips, s.trips...)
	}
	if len(trips) > 0 {
		slices.Sort(trips)
		seen.RTTMedian, seen.RTTP99 = stat.Median(trips), stat.Quantile(trips, 0.99)
	}
	return seen
}

// send sends a packet that asks for what those of `pathwise owd` do.
func (s *stampSession) send() {
	packet := make([]byte, stamp.LeastBytes, 100)
	packet = stamp.AppendTLV(packet, stamp.TLV{Type: stamp.DirectMeasurement, Value: make([]byte, stamp.CountersBytes)})
	packet = stamp.AppendTLV(packet, stamp.TLV{Type: stamp.FollowUpTelemetry, Value: make([]byte, stamp.FollowUpBytes)})
	stamp.Probe{Sequence: s.sent, Sent: control.TimestampOf(time.Now()), Error: control.Unknown, Session: s.number}.Put(packet)
	if _, err := s.conn.Write(packet); err == nil {
		s.sent++
	}
}

// read takes answers until the context ends.
func (s *stampSession) read(ctx context.Context) {
	var b [1 << 11]byte
	for {
		n, err := s.conn.Read(b[:])
		now := time.Now()
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			continue // an ICMP error about a packet, which stays unanswered
		}
		a, ok := stamp.ReadAnswer(b[:n])
		if !ok {
			continue
		}
		sent := a.Probe.Sent.Time()
		if arrived, answered := a.Arrived.Time(), a.Answered.Time(); arrived.Before(sent) || answered.Before(arrived) || now.Before(answered) {
			s.misplaced++
		}
		if a.Sequence != uint32(s.answered) {
			s.miscount++
		}
		s.answered++
		s.trips = append(s.trips, now.Sub(sent).Seconds())
	}
}
