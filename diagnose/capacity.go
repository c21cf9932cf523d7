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
			s.set(Capacity, capacityFact(c, r))
			s.doubt, s.standard = doubtOf(r), ""
			if e := r.Samples.Capacity; e != nil && e.Capacity.Certain {
				s.standard = e.Standard
			}
		} else if r.Error != nil {
			s.set(Capacity, Fact{Result: r.ID, Unknown: *r.Error})
		}
	})
}

// capacityError is how far off a measured capacity may be.
const capacityError = 0.1

// capacityFact is a capacity with its interval: no narrower than what any may be off, and wider where the trains told so.
func capacityFact(c float64, r *measure.Result) Fact {
	f := Fact{Value: c, Low: c * (1 - capacityError), High: c * (1 + capacityError), Result: r.ID}
	if e := r.Samples.Capacity; e != nil && e.Capacity.Low > 0 {
		f.Low, f.High = min(f.Low, e.Capacity.Low), max(f.High, e.Capacity.High)
	}
	return f
}

// doubtOf is why a capacity is not certain; "": it is, or its Result is of a build that does not tell.
func doubtOf(r *measure.Result) string {
	if e := r.Samples.Capacity; e != nil && !e.Capacity.Certain {
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
