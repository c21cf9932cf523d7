package probe

import (
	"math/rand/v2"
	"time"
)

// pingPlan says when to send each echo, counted from the start: the first at once, the others after constant or, with
// poisson, exponentially distributed intervals.
func pingPlan(count int, interval time.Duration, poisson bool, random *rand.Rand) []time.Duration {
	plan := make([]time.Duration, count)
	for i := 1; i < count; i++ {
		gap := interval
		if poisson {
			gap = time.Duration(random.ExpFloat64() * float64(interval))
		}
		plan[i] = plan[i-1] + gap
	}
	return plan
}

// sequenceIndex finds which echo a reply answers. Echo i (from 0) of those sent so far carries the sequence number i+1
// modulo 65536, so a number means the latest echo that carries it.
func sequenceIndex(sequence uint16, sent int) (index int, ok bool) {
	index = sent - 1 - int(uint16(sent)-sequence)
	return index, index >= 0
}
