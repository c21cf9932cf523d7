package stat

import "math"

// Running is the mean and the spread of a sample that is not kept: its memory does not grow, however long it runs. A small spread around
// a large mean survives (Welford, 1962). The zero value is empty and ready. It is not safe for concurrent use.
type Running struct {
	n              int
	mean, squares  float64
	least, largest float64
}

// Add takes a value into account.
func (r *Running) Add(v float64) {
	if r.n == 0 {
		r.least, r.largest = v, v
	}
	r.n++
	r.least, r.largest = min(r.least, v), max(r.largest, v)
	from := v - r.mean
	r.mean += from / float64(r.n)
	r.squares += from * (v - r.mean)
}

// Merge takes all values of another into account, as if they had been added (Chan, Golub and LeVeque, 1979).
func (r *Running) Merge(other *Running) {
	if other.n == 0 {
		return
	}
	if r.n == 0 {
		*r = *other
		return
	}
	n, m := float64(r.n), float64(other.n)
	apart := other.mean - r.mean
	r.n += other.n
	r.mean += apart * m / (n + m)
	r.squares += other.squares + apart*apart*n*m/(n+m)
	r.least, r.largest = min(r.least, other.least), max(r.largest, other.largest)
}

// Count returns how many values were added.
func (r *Running) Count() int { return r.n }

// Min returns the smallest value; NaN if there is none.
func (r *Running) Min() float64 { return r.ifAny(r.least) }

// Max returns the largest value; NaN if there is none.
func (r *Running) Max() float64 { return r.ifAny(r.largest) }

// Mean returns the mean of the values; NaN if there are none.
func (r *Running) Mean() float64 { return r.ifAny(min(max(r.least, r.mean), r.largest)) } // rounding must not put it outside

// Stddev returns the sample standard deviation, with n-1 below the line: 0 for a single value, NaN for none.
func (r *Running) Stddev() float64 {
	if r.n == 1 {
		return 0
	}
	return r.ifAny(math.Sqrt(max(0, r.squares) / float64(r.n-1)))
}

func (r *Running) ifAny(v float64) float64 {
	if r.n == 0 {
		return math.NaN()
	}
	return v
}
