package stat

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// How a Sketch is written. Numbers are unsigned varints; a float is the number of its bytes that follow, then those
// from the highest one on without the zeros at its end, so that 0 takes one byte and 10 three.
//
//	0x10                                                            no value
//	0x11 value                                                      one value
//	0x12 count value                                                so many values, all the same
//	0x13 smaller larger                                             two values
//	0x14 count min max sum zeros  n (step count)...  n (step count)...
//	                              positive bins      negative bins, each with its distance from the last (the first: zigzag)
//
// The high half of the first byte is the version.
const (
	sketchEmpty byte = 0x10 + iota
	sketchOne
	sketchSame
	sketchTwo
	sketchFull
)

// maxBin is beyond the bin of every float64: log(2^1024) and log(2^-1074) in bins.
const maxBin = 38000

var errSketch = errors.New("not a sketch, or a damaged one")

// AppendBinary appends s as DecodeSketch reads it.
func (s *Sketch) AppendBinary(b []byte) []byte {
	switch {
	case s.n == 0:
		return append(b, sketchEmpty)
	case s.n == 1 && s.sum == s.min:
		return AppendFloat(append(b, sketchOne), s.min)
	case s.min == s.max && s.sum == bounded(s.min*float64(s.n)):
		return AppendFloat(binary.AppendUvarint(append(b, sketchSame), s.n), s.min)
	case s.n == 2 && s.sum == bounded(s.min+s.max):
		return AppendFloat(AppendFloat(append(b, sketchTwo), s.min), s.max)
	}
	b = binary.AppendUvarint(append(b, sketchFull), s.n)
	b = AppendFloat(AppendFloat(AppendFloat(b, s.min), s.max), s.sum)
	b = binary.AppendUvarint(b, s.zero)
	return appendBins(appendBins(b, s.positive), s.negative)
}

// AppendSketchOf appends the Sketch of a single finite value, as AppendBinary does, at a fraction of the cost.
func AppendSketchOf(b []byte, v float64) []byte { return AppendFloat(append(b, sketchOne), v) }

func appendBins(b []byte, bins []sketchBin) []byte {
	b = binary.AppendUvarint(b, uint64(len(bins)))
	for i, bin := range bins {
		if i == 0 {
			b = binary.AppendVarint(b, int64(bin.index))
		} else {
			b = binary.AppendUvarint(b, uint64(bin.index-bins[i-1].index))
		}
		b = binary.AppendUvarint(b, bin.count)
	}
	return b
}

// AppendFloat appends the number of bytes that follow and then those bytes, from the highest on, without the zeros at the float's
// end: 0 takes one byte, 10 takes three, a third takes nine.
func AppendFloat(b []byte, v float64) []byte {
	raw := math.Float64bits(v)
	size := 8 - bits.TrailingZeros64(raw)/8
	b = append(b, byte(size))
	for shift := 56; shift > 56-8*size; shift -= 8 {
		b = append(b, byte(raw>>shift))
	}
	return b
}

// ReadFloat takes off data what AppendFloat appended; ok is false of what is no such thing.
func ReadFloat(data []byte) (v float64, rest []byte, ok bool) {
	if len(data) == 0 || data[0] > 8 || int(data[0]) >= len(data) {
		return 0, nil, false
	}
	end := 1 + int(data[0])
	if len(data) > 8 { // as mostly; what follows the float is cut off
		raw := binary.BigEndian.Uint64(data[1:]) &^ (1<<(64-8*data[0]) - 1)
		return math.Float64frombits(raw), data[end:], true
	}
	var raw [8]byte
	copy(raw[:], data[1:end])
	return math.Float64frombits(binary.BigEndian.Uint64(raw[:])), data[end:], true
}

// DecodeBinary reads what AppendBinary wrote into s, whatever s held, and returns what comes after it. It takes memory
// in proportion to the data, whatever the data says; of what is not a sketch it returns an error and leaves s empty.
func (s *Sketch) DecodeBinary(data []byte) (rest []byte, err error) {
	s.Reset()
	r := sketchReader{data: data}
	kind := r.byte()
	switch kind {
	case sketchEmpty:
	case sketchOne:
		s.repeat(r.float(), 1)
	case sketchSame:
		n := r.uint()
		if s.repeat(r.float(), n); n == 0 {
			r.bad = true
		}
	case sketchTwo:
		s.Add(r.float())
		s.Add(r.float())
	case sketchFull:
		r.full(s)
	default:
		s.Reset()
		return nil, fmt.Errorf("%w: it begins with %#x", errSketch, kind)
	}
	if r.bad {
		s.Reset()
		return nil, errSketch
	}
	return r.data, nil
}

// SketchTotals returns how many values a Sketch holds that AppendBinary wrote, and their sum, at a fraction of the cost of
// DecodeBinary: it looks at no bins.
func SketchTotals(data []byte) (count uint64, sum float64, err error) {
	r := sketchReader{data: data}
	switch kind := r.byte(); kind {
	case sketchEmpty:
	case sketchOne:
		count, sum = 1, r.float()
	case sketchSame:
		count = r.uint()
		sum = bounded(r.float() * float64(count))
	case sketchTwo:
		count, sum = 2, r.float()
		sum = bounded(sum + r.float())
	case sketchFull:
		count = r.uint()
		r.float()
		r.float()
		sum = r.float()
	default:
		return 0, 0, fmt.Errorf("%w: it begins with %#x", errSketch, kind)
	}
	if r.bad {
		return 0, 0, errSketch
	}
	return count, sum, nil
}

// repeat makes an empty s hold n times the same value.
func (s *Sketch) repeat(v float64, n uint64) {
	if s.Add(v) {
		s.n, s.sum = n, bounded(v*float64(n))
		s.zero *= n
		for _, bins := range [][]sketchBin{s.positive, s.negative} {
			if len(bins) > 0 {
				bins[0].count = n
			}
		}
	}
}

// sketchReader takes values off data; bad says that one was not there or cannot be.
type sketchReader struct {
	data []byte
	bad  bool
}

func (r *sketchReader) byte() byte {
	if len(r.data) == 0 {
		r.bad = true
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return b
}

func (r *sketchReader) uint() uint64 {
	v, size := binary.Uvarint(r.data)
	if size <= 0 {
		r.bad = true
		return 0
	}
	r.data = r.data[size:]
	return v
}

func (r *sketchReader) float() float64 {
	v, rest, ok := ReadFloat(r.data)
	r.data = rest
	r.bad = r.bad || !ok || v-v != 0 // NaN, or infinite
	return v
}

func (r *sketchReader) full(s *Sketch) {
	s.n = r.uint()
	s.min, s.max, s.sum = r.float(), r.float(), r.float()
	s.zero = r.uint()
	left := s.n - s.zero
	s.positive = r.bins(s.positive, &left)
	s.negative = r.bins(s.negative, &left)
	if s.n == 0 || s.zero > s.n || left != 0 || s.min > s.max {
		r.bad = true
	}
}

// bins reads one side, and takes its counts off what is left of them all.
func (r *sketchReader) bins(bins []sketchBin, left *uint64) []sketchBin {
	n := r.uint()
	if n > uint64(len(r.data))/2 { // each takes two bytes at least
		r.bad = true
		return bins
	}
	var index int64
	bins = slices.Grow(bins, int(n))
	for i := range n {
		step, count := uint64(0), uint64(0)
		switch data := r.data; {
		case i == 0:
			v, size := binary.Varint(data)
			r.bad = r.bad || size <= 0
			index, r.data = v, data[max(0, size):]
			count = r.uint()
		case len(data) > 1 && data[0]|data[1] < 0x80: // a byte each, as in most
			step, count, r.data = uint64(data[0]), uint64(data[1]), data[2:]
			r.bad = r.bad || step == 0
		default:
			step, count = r.uint(), r.uint()
			r.bad = r.bad || step == 0 || step > 2*maxBin
		}
		index += int64(step)
		if r.bad || index < -maxBin || index > maxBin || count == 0 || count > *left {
			r.bad = true
			return bins
		}
		*left -= count
		bins = append(bins, sketchBin{int32(index), count})
	}
	return bins
}
