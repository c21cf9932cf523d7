package peertest

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"math/bits"
)

// Exponential yields pseudo-random deviates of the exponential distribution with mean 1, as RFC 4656 section 5 defines them.
type Exponential struct {
	block   cipher.Block
	counter uint64   // of words; the RFC's counter has 128 bits, of which no session uses more than these
	words   [16]byte // the last encrypted block
}

// NewExponential is the generator with a SID as its seed.
func NewExponential(sid [16]byte) *Exponential {
	block, err := aes.NewCipher(sid[:])
	if err != nil {
		panic(err) // a key of 16 octets is always valid
	}
	return &Exponential{block: block}
}

// uniform is the next 32 bits (section 5.3): the words of the encrypted counter, which steps by one with each of the four words.
func (e *Exponential) uniform() uint32 {
	i := e.counter % 4
	if i == 0 {
		e.words = [16]byte{}
		binary.BigEndian.PutUint64(e.words[8:], e.counter)
		e.block.Encrypt(e.words[:], e.words[:])
	}
	e.counter++
	return binary.BigEndian.Uint32(e.words[4*i:])
}

// q are Q[k] = ln2/1! + ln2^2/2! + ... + ln2^k/k!, times 2^32 (section 5.2).
var q = [...]uint64{0, 0xB17217F8, 0xEEF193F7, 0xFD271862, 0xFF9D6DD0, 0xFFF4CFD0, 0xFFFEE819, 0xFFFFE7FF, 0xFFFFFE2B, 0xFFFFFFE0,
	0xFFFFFFFE, 0xFFFFFFFF}

// Next is the next deviate, by algorithm S (sections 5.1 and 5.2).
func (e *Exponential) Next() Timestamp {
	u := e.uniform()
	ones := bits.LeadingZeros32(^u) // S1
	if ones == 32 {
		return Timestamp(32 * q[1])
	}
	rest := uint64(u << (ones + 1))
	if rest < q[1] { // S2
		return Timestamp(uint64(ones)*q[1] + rest)
	}
	k := 2 // S3
	for k < len(q)-1 && rest >= q[k] {
		k++
	}
	least := e.uniform()
	for range k - 1 {
		least = min(least, e.uniform())
	}
	return times(Timestamp(uint64(ones)<<32|uint64(least)), Timestamp(q[1])) // S4
}

// times is the product of two numbers with 32 bits of fraction (section 5.2).
func times(a, b Timestamp) Timestamp {
	high, low := bits.Mul64(uint64(a), uint64(b))
	return Timestamp(high<<32 | low>>32)
}

// Slot is a step of a schedule (RFC 4656 section 3.6).
type Slot struct {
	Fixed     bool      // otherwise exponential
	Parameter Timestamp // the mean, or the fixed time
}

// Schedule are the times at which a session's packets are sent, after the start of the session.
func Schedule(sid [16]byte, slots []Slot, packets uint32) []Timestamp {
	all := make([]Timestamp, 0, packets)
	deviates, at := NewExponential(sid), Timestamp(0)
	for i := range int(packets) {
		slot := slots[i%len(slots)]
		if slot.Fixed {
			at += slot.Parameter
		} else {
			at += times(slot.Parameter, deviates.Next())
		}
		all = append(all, at)
	}
	return all
}
