package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// Budget is what a diagnosis may use. The zero value sets no limit.
type Budget struct {
	Time  time.Duration // for all steps together; 0: no limit
	Bytes int64         // that the steps move, as payload, both ways together; 0: no limit
}

const (
	// leastBudget is what ping and the shortest transfer take, with their set-up.
	leastBudget = 5 * time.Second
	// leastMoved is what a transfer must be able to move to say anything, in bytes: ten times the first window of ten segments, so
	// that slow start is seen at least.
	leastMoved = 150_000
)

// Validate returns an error, bad input, for a budget in which nothing can be learnt.
func (b Budget) Validate() error {
	switch {
	case b.Time != 0 && b.Time < leastBudget:
		return input.Errorf("want %v or more: a ping and a transfer take that", leastBudget)
	case b.Bytes != 0 && b.Bytes < leastMoved:
		return input.Errorf("want %s or more: the first round trips of a transfer move that", quantity.FormatSize(leastMoved))
	}
	return nil
}

// Cost is how many bytes a step moves, about; 0 for a transfer, which moves what it can.
type Cost func(Step) float64

// next returns the first of the steps that are left as it may be made: as it is, shorter, or with a limit to what it moves. It is false
// where the step is to be left out, for it or for what matters more.
func (b Budget) next(left []Step, cost Cost) (Step, bool) {
	fits := slices.Clone(left)
	if b.Time > 0 {
		fits = inTime(fits, b.Time.Seconds())
	}
	if b.Bytes > 0 {
		fits = inBytes(fits, float64(b.Bytes), cost)
	}
	if at := find(fits, left[0].Name); at >= 0 {
		return fits[at], true
	}
	return left[0], false
}

// inTime makes transfers shorter until the steps fit, and then leaves out what is worth the least.
func inTime(steps []Step, seconds float64) []Step {
	over := func() bool {
		sum := 0.0
		for _, s := range steps {
			sum += s.Seconds
		}
		return sum > seconds
	}
	for shorter := true; shorter && over(); {
		shorter = false
		for i, s := range steps {
			if half, ok := s.Shorter(); ok {
				steps[i], shorter = half, true
			}
		}
	}
	for len(steps) > 0 && over() {
		steps = slices.Delete(steps, least(steps), least(steps)+1)
	}
	return steps
}

// inBytes lets the transfers share what the other steps leave, and leaves out what is worth the least until each has something.
func inBytes(steps []Step, bytes float64, cost Cost) []Step {
	for len(steps) > 0 {
		spare, transfers := bytes, 0
		for _, s := range steps {
			if s.Transfer() {
				transfers++
			} else {
				spare -= cost(s)
			}
		}
		if spare >= leastMoved*float64(transfers) && spare >= 0 {
			for i := range steps {
				if steps[i].Transfer() {
					steps[i].Parameters = maps.Clone(steps[i].Parameters)
					steps[i].Parameters["bytes"] = float64(int64(spare / float64(transfers)))
				}
			}
			return steps
		}
		steps = slices.Delete(steps, least(steps), least(steps)+1)
	}
	return steps
}

// least is the index of the step that is worth the least.
func least(steps []Step) int {
	at := 0
	for i := range steps {
		if worth(steps[i]) < worth(steps[at]) {
			at = i
		}
	}
	return at
}

// worth ranks steps: nothing is known without a transfer, little without a round trip, and what is slow on one way is most often asked
// of the way there.
func worth(s Step) int {
	switch {
	case s.Kind == string(ofSockets): // which was asked for by name
		return 7
	case s.Transfer() && s.Way != measure.Reverse && !s.Compares():
		return 6
	case s.Name == "ping":
		return 5
	case s.Name == "capacity":
		return 4
	case s.Kind == "throughput" && s.Way != measure.Reverse: // what tells losses apart
		return 3
	case s.Way == measure.Reverse:
		return 2
	case s.Kind == "trace":
		return 1
	}
	return 0
}

// spend takes from a budget what a step took. What is used up is not 0, which would be no limit.
func (b *Budget) spend(took time.Duration, moved float64) {
	if b.Time > 0 {
		b.Time = max(1, b.Time-took)
	}
	if b.Bytes > 0 {
		b.Bytes = max(1, b.Bytes-int64(moved))
	}
}

// moved is how many bytes a step moved: what its Results counted, or what it costs.
func moved(s Step, made []*measure.Result, cost Cost) float64 {
	for _, r := range made {
		there, ok := countedBytes(r, measure.SentBytes, measure.ReceivedBytes)
		back, too := countedBytes(r, measure.ReverseSentBytes, measure.ReverseReceivedBytes)
		if ok || too {
			return there + back
		}
	}
	return cost(s)
}

// countedBytes is the larger of what both ends counted; false: neither did.
func countedBytes(r *measure.Result, sent, received measure.Metric) (bytes float64, told bool) {
	one, ok := r.Get(sent)
	other, too := r.Get(received)
	return max(one, other), ok || too
}

// without says which steps a budget had no room for; "" if it had for all.
func (b Budget) without(steps []Step) string {
	if len(steps) == 0 {
		return ""
	}
	names := []string{}
	for _, s := range steps {
		names = append(names, s.Name)
	}
	return fmt.Sprintf("left out, for the budget of %s: %s", b, strings.Join(names, ", "))
}

func (b Budget) String() string {
	var parts []string
	if b.Time > 0 {
		parts = append(parts, quantity.FormatSeconds(b.Time.Seconds()))
	}
	if b.Bytes > 0 {
		parts = append(parts, quantity.FormatSize(b.Bytes))
	}
	return strings.Join(parts, " and ")
}
