package stat

import (
	"math"
	"slices"
)

// SketchError is the relative error of a Sketch's quantiles.
const SketchError = 0.01

// The bins of a Sketch: bin i counts the values in (g^(i-1), g^i], and stands for g^i (1-e), which with g = (1+e)/(1-e)
// is within e of each value in it (DDSketch: Masson, Rim and Lee, VLDB 2019). Every float64 has a bin, and i is within
// ±38,000.
//
//	value   0.980   1   1.020   1.041   1.062
//	bin       |  0  |  1  |   2   |   3   |
const sketchBase = (1 + SketchError) / (1 - SketchError)

// binsPerUnit is how many bins there are in one unit of the natural logarithm.
var binsPerUnit = 1 / math.Log(sketchBase)

// Sketch is the distribution of any finite numbers, negative ones and zero too, in no more space than they differ:
// quantiles within 1 % of the value, count, minimum and maximum exactly, the sum to rounding. Sketches merge without
// further error in any order, so the percentiles of a day are those of its minutes merged. The zero value is empty and
// ready. It is not safe for concurrent use.
//
// Histogram is the faster one for durations that one process counts; a Sketch is what can be kept.
type Sketch struct {
	n             uint64
	sum, min, max float64
	zero          uint64
	positive      []sketchBin // by ascending index
	negative      []sketchBin // of the absolute values, by ascending index
}

type sketchBin struct {
	index int32
	count uint64
}

// Add records a value, and says whether it is one: NaN and infinities are not.
func (s *Sketch) Add(v float64) bool { return s.AddBin(v, SketchBin(v)) }

// SketchBin is the bin of a value's magnitude: the costly part of Add, for who adds one value to several Sketches. Of
// what is zero or no number it is 0.
func SketchBin(v float64) int32 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return int32(math.Ceil(math.Log(math.Abs(v)) * binsPerUnit))
}

// AddBin is Add of a value whose SketchBin is known.
func (s *Sketch) AddBin(v float64, bin int32) bool {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return false
	}
	if s.n == 0 {
		s.min, s.max = v, v
	}
	s.min, s.max = min(s.min, v), max(s.max, v)
	s.n++
	s.sum = bounded(s.sum + v)
	switch {
	case v == 0:
		s.zero++
	case v > 0:
		s.positive = addToBin(s.positive, bin, 1)
	default:
		s.negative = addToBin(s.negative, bin, 1)
	}
	return true
}

func addToBin(bins []sketchBin, index int32, count uint64) []sketchBin {
	i, end := 0, len(bins) // by hand: it is half the cost of a value
	for i < end {
		if middle := int(uint(i+end) / 2); bins[middle].index < index {
			i = middle + 1
		} else {
			end = middle
		}
	}
	if i < len(bins) && bins[i].index == index {
		bins[i].count += count
		return bins
	}
	return slices.Insert(bins, i, sketchBin{index, count})
}

// bounded keeps a sum a number that can be written, where values are near the largest there is.
func bounded(sum float64) float64 { return min(max(sum, -math.MaxFloat64), math.MaxFloat64) }

// Merge adds all that other has recorded, and leaves other as it is.
func (s *Sketch) Merge(other *Sketch) { s.MergeTimes(other, 1) }

// MergeTimes is Merge of so many copies of other: of one whose values weigh more than those of s.
func (s *Sketch) MergeTimes(other *Sketch, times uint64) {
	if other.n == 0 || times == 0 {
		return
	}
	if s.n == 0 {
		s.min, s.max = other.min, other.max
	}
	s.min, s.max = min(s.min, other.min), max(s.max, other.max)
	s.n += other.n * times
	s.sum = bounded(s.sum + bounded(other.sum*float64(times)))
	s.zero += other.zero * times
	s.positive = mergeBins(s.positive, other.positive, times)
	s.negative = mergeBins(s.negative, other.negative, times)
}

// mergeBins adds so many copies of other to bins, in their memory where there is room. Of many that merge most bins are there already.
func mergeBins(bins, other []sketchBin, times uint64) []sketchBin {
	if len(other) == 1 {
		return addToBin(bins, other[0].index, other[0].count*times)
	}
	at, missing := 0, 0
	for _, b := range other {
		for at < len(bins) && bins[at].index < b.index {
			at++
		}
		if at < len(bins) && bins[at].index == b.index {
			bins[at].count += b.count * times
		} else {
			missing++
		}
	}
	if missing == 0 {
		return bins
	}
	from := len(bins) - 1
	bins = slices.Grow(bins, missing)[:len(bins)+missing]
	for at := len(other) - 1; missing > 0; at-- { // from the last one on, so that each bin moves once
		for ; from >= 0 && bins[from].index > other[at].index; from-- {
			bins[from+missing] = bins[from]
		}
		if from < 0 || bins[from].index < other[at].index {
			bins[from+missing] = sketchBin{other[at].index, other[at].count * times}
			missing--
		}
	}
	return bins
}

// Reset makes s empty and keeps its memory.
func (s *Sketch) Reset() {
	s.n, s.sum, s.min, s.max, s.zero = 0, 0, 0, 0, 0
	s.positive, s.negative = s.positive[:0], s.negative[:0]
}

// Count returns how many values were recorded.
func (s *Sketch) Count() uint64 { return s.n }

// Sum returns the sum of the values, to the rounding of float64; 0 if there are none.
func (s *Sketch) Sum() float64 { return s.sum }

// Min returns the smallest value, exactly; NaN if there is none.
func (s *Sketch) Min() float64 { return s.ifAny(s.min) }

// Max returns the largest value, exactly; NaN if there is none.
func (s *Sketch) Max() float64 { return s.ifAny(s.max) }

// Mean returns the mean of the values; NaN if there are none.
func (s *Sketch) Mean() float64 {
	mean := s.sum / float64(max(1, s.n))
	return s.ifAny(min(max(s.min, mean), s.max)) // rounding must not put it outside
}

func (s *Sketch) ifAny(v float64) float64 {
	if s.n == 0 {
		return math.NaN()
	}
	return v
}

// Quantile returns the q-quantile (0 <= q <= 1), defined as in the function Quantile, to within 1 % of its value and
// exactly where it is the smallest or largest; NaN if there are no values.
func (s *Sketch) Quantile(q float64) float64 {
	if s.n == 0 {
		return math.NaN()
	}
	return s.ranked(rank(s.n, q))
}

// Median returns the middle of the values, defined as in the function Median, as exactly as Quantile; NaN if there are none.
func (s *Sketch) Median() float64 {
	if lower := s.n / 2; s.n > 0 && s.n%2 == 0 {
		return middleOf(s.ranked(lower), s.ranked(lower+1))
	}
	return s.ranked(s.n/2 + 1)
}

// ranked returns the value of this rank, counted from 1.
func (s *Sketch) ranked(want uint64) float64 {
	switch {
	case s.n == 0:
		return math.NaN()
	case want <= 1:
		return s.min
	case want >= s.n:
		return s.max
	}
	return min(max(s.min, s.at(want)), s.max)
}

// at returns what stands for the value of this rank, counted from 1: negative values come first, the largest magnitude
// before the others.
func (s *Sketch) at(rank uint64) float64 {
	for _, b := range slices.Backward(s.negative) {
		if rank <= b.count {
			return -binValue(b.index)
		}
		rank -= b.count
	}
	if rank <= s.zero {
		return 0
	}
	rank -= s.zero
	for _, b := range s.positive {
		if rank <= b.count {
			return binValue(b.index)
		}
		rank -= b.count
	}
	return s.max
}

func binValue(index int32) float64 {
	return math.Exp(float64(index)/binsPerUnit) * (1 - SketchError)
}
