package owamp

import (
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"math/bits"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
)

// Slot is one step of a schedule: how long after the packet before it, or after the start, a packet is to be sent.
type Slot struct {
	Kind  SlotKind
	Delay control.Interval // of an exponential one its mean
}

// SlotKind says how a Slot's Delay is meant.
type SlotKind byte

const (
	exponentialSlot SlotKind = 0 // drawn from an exponential distribution, so that packets are a Poisson stream
	fixedSlot       SlotKind = 1

	slotBytes = 16
)

// Exponential is a slot that is drawn from an exponential distribution.
func Exponential(mean time.Duration) Slot { return Slot{exponentialSlot, control.IntervalOf(mean)} }

// Fixed is a slot that is always as long.
func Fixed(delay time.Duration) Slot { return Slot{fixedSlot, control.IntervalOf(delay)} }

// encode returns the slot as it stands behind a request.
//
//	0  kind (1), zero (7)
//	8  mean or delay (8)
func (s Slot) encode() []byte {
	b := make([]byte, slotBytes)
	b[0] = byte(s.Kind)
	binary.BigEndian.PutUint64(b[8:], uint64(s.Delay))
	return b
}

func decodeSlot(b []byte) (Slot, error) {
	s := Slot{SlotKind(b[0]), control.Interval(binary.BigEndian.Uint64(b[8:]))}
	if s.Kind > fixedSlot {
		return s, fmt.Errorf("slot of the unknown kind %d", s.Kind)
	}
	return s, nil
}

// Schedule tells when the packets of a session are to be sent. Both ends of a session have the same one, to the bit.
type Schedule struct {
	slots []Slot
	next  int
	total control.Interval
	deviates
}

// NewSchedule is the schedule of a session.
func NewSchedule(id control.SID, slots []Slot) *Schedule {
	return &Schedule{slots: slots, deviates: deviates{block: control.Cipher(id)}}
}

// Next is when the next packet is to be sent, since the start of the session.
func (s *Schedule) Next() time.Duration {
	slot := s.slots[s.next]
	s.next = (s.next + 1) % len(s.slots)
	delay := slot.Delay
	if slot.Kind == exponentialSlot {
		delay = times(delay, s.deviates.next())
	}
	s.total += delay
	return s.total.Duration()
}

// deviates are exponentially distributed numbers with the mean 1, which a session's ID determines (RFC 4656, section 5): algorithm 3.4.1.S of
// Knuth in 32.32 fixed point, on the 32-bit words of a counter that AES encrypts with the ID as its key.
type deviates struct {
	block   cipher.Block
	counter uint64 // of words; the upper half of 128 bits stays 0, as no session has so many packets
	words   [16]byte
}

// partial are the sums of ln 2 to the k over k!, from k = 1 on, times 2^32: those that the RFC lists.
var partial = [...]control.Interval{
	0xB17217F8, 0xEEF193F7, 0xFD271862, 0xFF9D6DD0, 0xFFF4CFD0, 0xFFFEE819, 0xFFFFE7FF, 0xFFFFFE2B, 0xFFFFFFE0, 0xFFFFFFFE, 0xFFFFFFFF,
}

// next draws one number.
func (d *deviates) next() control.Interval {
	word := d.uniform()
	ones := min(bits.LeadingZeros32(^word), 32)
	fraction := control.Interval(uint32(uint64(word) << (ones + 1)))
	whole := control.Interval(ones) << 32
	if fraction < partial[0] {
		return times(whole, partial[0]) + fraction
	}
	draws := 2
	for draws <= len(partial) && fraction >= partial[draws-1] {
		draws++
	}
	least := d.uniform()
	for range draws - 1 {
		least = min(least, d.uniform())
	}
	return times(whole+control.Interval(least), partial[0])
}

// uniform is the next word of the encrypted counter. Each block has four, by the counter modulo 4; it is encrypted at the first of them.
func (d *deviates) uniform() uint32 {
	at := d.counter & 3 * 4
	if at == 0 {
		var plain [16]byte
		binary.BigEndian.PutUint64(plain[8:], d.counter)
		d.block.Encrypt(d.words[:], plain[:])
	}
	d.counter++
	return binary.BigEndian.Uint32(d.words[at:])
}

// times multiplies in 32.32 fixed point; what is beyond 64 bits is cut off, as the RFC has it.
func times(a, b control.Interval) control.Interval {
	high, low := bits.Mul64(uint64(a), uint64(b))
	return control.Interval(high<<32 | low>>32)
}
