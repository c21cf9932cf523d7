package stat

import "math/bits"

// The buckets of a Histogram. Up to 128 ns each value has one of its own; above, each doubling is cut into 64 equal ones:
//
//	value    0 1 2 ... 127 | 128 130 ... 254 | 256 260 ... 508 | ... up to 2^63-1
//	bucket   0 1 2 ... 127 | 128 129 ... 191 | 192 193 ... 255 | ...
//	width          1       |       2         |       4         |
//
// A bucket is at most 1/64 of its lower edge wide and stands for its middle, so a value read back is within
// 1/128 = 0.8 % of the one recorded.
const (
	halfBits    = 6                             // log2 of the buckets in one doubling: the fewest that keep the error under 1 %
	half        = 1 << halfBits                 // buckets in one doubling
	bucketCount = 2*half + (63-halfBits-1)*half // the first 128, then one doubling for each higher leading bit of an int64
)

// Histogram counts non-negative durations in nanoseconds, from 0 to the largest int64, with a relative error of at most
// 0.8 %. Histograms merge without further error, in any order. The zero value is empty and ready; it takes 30 kB whatever is recorded, so
// pass it by pointer. It is not safe for concurrent use: give each goroutine its own and merge.
type Histogram struct {
	counts   [bucketCount]uint64
	n        uint64
	min, max int64
}

// Record adds one value. A negative one, which only a clock that was stepped can give, counts as 0.
func (h *Histogram) Record(ns int64) {
	ns = max(ns, 0)
	if h.n == 0 || ns < h.min {
		h.min = ns
	}
	h.max = max(h.max, ns)
	h.counts[bucket(ns)]++
	h.n++
}

// Merge adds all that other has recorded, and leaves other as it is.
func (h *Histogram) Merge(other *Histogram) {
	if other.n == 0 {
		return
	}
	if h.n == 0 || other.min < h.min {
		h.min = other.min
	}
	h.max = max(h.max, other.max)
	for i, c := range other.counts {
		h.counts[i] += c
	}
	h.n += other.n
}

// Count returns how many values were recorded.
func (h *Histogram) Count() uint64 { return h.n }

// Min returns the smallest value recorded, exactly; 0 if there is none.
func (h *Histogram) Min() int64 { return h.min }

// Max returns the largest value recorded, exactly; 0 if there is none.
func (h *Histogram) Max() int64 { return h.max }

// Quantile returns the q-quantile (0 <= q <= 1), defined as in the function Quantile, to within 0.8 % of its value;
// 0 if nothing was recorded.
func (h *Histogram) Quantile(q float64) int64 {
	if h.n == 0 {
		return 0
	}
	want := rank(h.n, q)
	var seen uint64
	for i, c := range h.counts {
		seen += c
		if seen >= want {
			return min(max(h.min, middle(i)), h.max)
		}
	}
	return h.max
}

// bucket returns which bucket counts v, which is not negative.
func bucket(v int64) int {
	shift := max(0, bits.Len64(uint64(v))-halfBits-1) // low bits that the bucket does not tell apart
	return shift*half + int(v>>shift)
}

// middle returns the value in the middle of bucket i.
func middle(i int) int64 {
	shift := max(0, i/half-1)
	low := int64(i-shift*half) << shift
	return low + (int64(1)<<shift)/2
}
