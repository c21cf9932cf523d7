package archive

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// Numbers in what is kept are varints. A float is the number of bytes that follow and then those bytes, from the
// highest on, without the zeros at its end: 0 takes one byte, 10 takes three, a third takes nine.

var errDamaged = errors.New("damaged data in the archive")

func appendFloat(b []byte, v float64) []byte {
	raw := math.Float64bits(v)
	size := 8 - bits.TrailingZeros64(raw)/8
	b = append(b, byte(size))
	for shift := 56; shift > 56-8*size; shift -= 8 {
		b = append(b, byte(raw>>shift))
	}
	return b
}

// reader takes numbers off data. The first that is not there, or cannot be, sets err, and all after it are 0.
type reader struct {
	data []byte
	err  error
}

func (r *reader) fail() uint64 {
	r.data, r.err = nil, errDamaged
	return 0
}

// uint reads a number below a limit.
func (r *reader) uint(limit uint64) uint64 {
	v, size := binary.Uvarint(r.data)
	if size <= 0 || v >= limit {
		return r.fail()
	}
	r.data = r.data[size:]
	return v
}

func (r *reader) int() int64 {
	v, size := binary.Varint(r.data)
	if size <= 0 {
		return int64(r.fail())
	}
	r.data = r.data[size:]
	return v
}

func (r *reader) float() float64 {
	if len(r.data) == 0 {
		return float64(r.fail())
	}
	size := int(r.data[0])
	if size > 8 || size >= len(r.data)+1 || 1+size > len(r.data) {
		return float64(r.fail())
	}
	var raw uint64
	for i, b := range r.data[1 : 1+size] {
		raw |= uint64(b) << (56 - 8*i)
	}
	r.data = r.data[1+size:]
	return math.Float64frombits(raw)
}

// take returns the next n bytes.
func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.data)) {
		r.fail()
		return nil
	}
	taken := r.data[:n:n]
	r.data = r.data[n:]
	return taken
}

// count reads how many things follow that take at least so many bytes each.
func (r *reader) count(each int) int {
	return int(r.uint(uint64(len(r.data)/max(1, each)) + 1))
}
