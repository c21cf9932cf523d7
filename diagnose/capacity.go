package diagnose

import (
	"fmt"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// readCapacity takes what the narrowest link carries, or why that could not be measured.
func readCapacity(g *gathering, r *measure.Result) {
	if size, told := r.Number("size"); told && size <= tinyPacket {
		return // that is how many packets pass, not how many bytes
	}
	g.each(r, func(s *Subject) {
		if c := r.Metrics[measure.Capacity]; c > 0 {
			s.doubt, s.standard, s.shaped = doubtOf(r), "", ""
			if e := r.Samples.Capacity; e != nil && e.Capacity.Certain {
				s.standard = e.Standard
			}
			fact, b := capacityFact(c, r), shaper(r)
			if b != nil {
				s.atOnce, fact = fact, estimateFact(b.Rate, r)
				s.standard, s.shaped = "", fmt.Sprintf("a shaper passes %s for long, and %s at once: the lower rate is taken for what the path carries",
					quantity.FormatRate(b.Rate.BitsPerSecond), quantity.FormatRate(c))
			}
			s.set(Capacity, fact)
		} else if r.Error != nil {
			s.set(Capacity, Fact{Result: r.ID, Unknown: *r.Error})
		}
	})
}

// capacityError is how far off a measured capacity may be.
const capacityError = 0.1

// capacityFact is a capacity with its interval.
func capacityFact(c float64, r *measure.Result) Fact {
	e := measure.RateEstimate{BitsPerSecond: c}
	if told := r.Samples.Capacity; told != nil && told.Capacity.Low > 0 {
		e.Low, e.High = told.Capacity.Low, told.Capacity.High
	}
	return estimateFact(e, r)
}

// estimateFact is an estimate as a fact: no narrower than what any may be off, and wider where the trains told so.
func estimateFact(e measure.RateEstimate, r *measure.Result) Fact {
	f := Fact{Value: e.BitsPerSecond, Low: e.BitsPerSecond * (1 - capacityError), High: e.BitsPerSecond * (1 + capacityError), Result: r.ID}
	if e.Low > 0 {
		f.Low, f.High = min(f.Low, e.Low), max(f.High, e.High)
	}
	return f
}

// shaper is a token bucket that trains met and that holds back what is above its rate; nil: none showed for certain. What a policer drops instead TCP
// does not get either, but a finding of its own says so.
func shaper(r *measure.Result) *measure.TokenBucket {
	if c := r.Samples.Capacity; c != nil && c.Bucket != nil && !c.Bucket.Drops && c.Bucket.Rate.Certain && c.Bucket.Rate.BitsPerSecond > 0 {
		return c.Bucket
	}
	return nil
}

// doubtOf is why a capacity is not certain; "": it is, or its Result is of a build that does not tell.
func doubtOf(r *measure.Result) string {
	if e := r.Samples.Capacity; e != nil && !e.Capacity.Certain && shaper(r) == nil {
		return e.Capacity.Doubt
	}
	return ""
}

// promised is what of a capacity may be promised, and why that is less than was measured; "": it is not. Where the trains are in doubt it is the
// least that they leave, and no less than what was moved.
func promised(s *Subject) (bitsPerSecond float64, why string) {
	f := s.Fact(PayloadCapacity)
	if s.doubt == "" || f.Low <= 0 || s.Value(Steady) >= f.Value {
		return f.Value, ""
	}
	capacity := s.Fact(Capacity)
	return max(f.Low, s.Value(Steady)), fmt.Sprintf("the capacity is uncertain, %s to %s: %s", quantity.FormatRate(capacity.Low), quantity.FormatRate(capacity.High), s.doubt)
}
