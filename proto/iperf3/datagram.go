package iperf3

import (
	"encoding/binary"
	"math"
	"time"
)

// Datagrams of a UDP test (iperf_udp.c), big-endian, padded with anything up to the length asked for:
//
//	| seconds : 32 | microseconds : 32 | sequence : 32 |          by default
//	| seconds : 32 | microseconds : 32 | sequence : 64      |     with udp_counters_64bit
//
// The time is the sender's monotonic clock, the sequence counts from 1.
const (
	datagramHeader   = 12
	datagramHeader64 = 16
)

// PutDatagram writes a datagram's header into b, which holds at least 16 bytes.
func PutDatagram(b []byte, sent time.Duration, seq uint64, wide bool) {
	binary.BigEndian.PutUint32(b, uint32(sent/time.Second))
	binary.BigEndian.PutUint32(b[4:], uint32(sent%time.Second/time.Microsecond))
	if wide {
		binary.BigEndian.PutUint64(b[8:], seq)
		return
	}
	binary.BigEndian.PutUint32(b[8:], uint32(seq))
}

// ParseDatagram reads a datagram's header; ok is false if b is too short or its sequence number is none.
func ParseDatagram(b []byte, wide bool) (sent time.Duration, seq uint64, ok bool) {
	size := datagramHeader
	if wide {
		size = datagramHeader64
	}
	if len(b) < size {
		return 0, 0, false
	}
	sent = time.Duration(binary.BigEndian.Uint32(b))*time.Second +
		time.Duration(binary.BigEndian.Uint32(b[4:]))*time.Microsecond
	if wide {
		seq = binary.BigEndian.Uint64(b[8:])
	} else {
		seq = uint64(binary.BigEndian.Uint32(b[8:]))
	}
	return sent, seq, seq > 0 && seq <= math.MaxInt64
}

// The stream handshake of UDP, 4 bytes each way. Before 3.12 they were integers in the host's byte order.
var (
	udpHello       = [4]byte{'9', '8', '7', '6'}
	udpAnswer      = [4]byte{'6', '7', '8', '9'}
	udpAnswerOldLE = [4]byte{0xb1, 0x68, 0xde, 0x3a} // 987654321, little-endian
	udpAnswerOldBE = [4]byte{0x3a, 0xde, 0x68, 0xb1}
)

func isUDPAnswer(b []byte) bool {
	if len(b) != 4 {
		return false
	}
	a := [4]byte(b)
	return a == udpAnswer || a == udpAnswerOldLE || a == udpAnswerOldBE
}

// Tracker counts what became of a stream's datagrams at the receiver, in constant memory.
//
// Loss is counted as iperf3 does: a gap in the sequence is lost until a late datagram takes one back. Unlike iperf3 it
// tells a duplicate from a late datagram, as far back as its window reaches.
type Tracker struct {
	Highest    uint64 // highest sequence number seen
	Lost       int64
	LossRuns   int64 // of numbers lost one after another, in which Lost were: the loss periods of RFC 3357
	Reordered  int64 // arrived after a higher sequence number (RFC 4737, Type-P-Reordered)
	Duplicates int64
	Received   int64         // datagrams, with duplicates
	Jitter     time.Duration // RFC 1889 A.8

	transit time.Duration
	seen    [trackerWindow / 64]uint64 // one bit for each of the latest sequence numbers
}

// trackerWindow is how many sequence numbers back a duplicate is recognised; 65536 are 80 ms at 10 Gbit/s.
const trackerWindow = 1 << 16

// Widen is the whole of a sequence number of which the lower 32 bits came: the one that is nearest to the highest.
func (t *Tracker) Widen(seq uint32) uint64 {
	whole := int64(t.Highest) + int64(int32(seq-uint32(t.Highest)))
	if whole < 1 {
		return uint64(seq)
	}
	return uint64(whole)
}

// Add records a datagram. Its two times may come from different clocks: only their differences count.
func (t *Tracker) Add(seq uint64, sent, arrived time.Duration) {
	t.Received++
	transit := arrived - sent
	if t.Received > 1 {
		d := (transit - t.transit).Abs()
		t.Jitter += (d - t.Jitter) / 16
	}
	t.transit = transit
	switch {
	case seq > t.Highest:
		if missing := int64(seq - t.Highest - 1); missing > 0 {
			t.Lost += missing
			t.LossRuns++
		}
		t.forget(seq)
		t.Highest = seq
	case t.Highest-seq < trackerWindow && t.has(seq):
		t.Duplicates++
		return
	default:
		t.Reordered++
		t.Lost = max(0, t.Lost-1)
		t.LossRuns = min(t.Lost, t.LossRuns+t.parts(seq)-1)
	}
	if t.Highest-seq < trackerWindow {
		t.seen[seq%trackerWindow/64] |= 1 << (seq % 64)
	}
}

func (t *Tracker) has(seq uint64) bool { return t.seen[seq%trackerWindow/64]&(1<<(seq%64)) != 0 }

// parts is how many runs of losses a run has become, from which a late datagram is taken back: none where it was alone, two where it
// was in the midst. Of a number beyond the window that is not known, and one is the likeliest.
func (t *Tracker) parts(seq uint64) (n int64) {
	if t.Highest-seq >= trackerWindow-1 {
		return 1
	}
	if seq > 1 && !t.has(seq-1) {
		n++
	}
	if !t.has(seq + 1) { // it is no higher than the highest
		n++
	}
	return n
}

// forget clears the bits of the numbers that enter the window when seq becomes the highest.
func (t *Tracker) forget(seq uint64) {
	if seq-t.Highest >= trackerWindow {
		clear(t.seen[:])
		return
	}
	for n := t.Highest + 1; n <= seq; n++ {
		t.seen[n%trackerWindow/64] &^= 1 << (n % 64)
	}
}
