package probe

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/stat"
)

// back are answers that came back: pairs of a packet's index and the far end's count.
func back(pairs ...int) (all []arrivalBack) {
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, arrivalBack{index: pairs[i], count: uint32(pairs[i+1])})
	}
	return all
}

func TestWaysOf(t *testing.T) {
	const x, o = true, false
	for name, c := range map[string]struct {
		sent     int
		arrivals []arrivalBack
		want     owdWays
	}{
		"nothing came back": {3, nil, owdWays{open: 3}},
		"all came back": {3, back(0, 0, 1, 1, 2, 2), owdWays{forward: []bool{o, o, o}, reverse: []bool{o, o, o}, there: []uint64{0, 1, 2},
			back: []uint64{0, 1, 2}, counted: true}},
		"as drawn": {6, back(0, 0, 1, 1, 4, 3, 5, 4), owdWays{forward: []bool{o, o, o, x, o, o}, reverse: []bool{o, o, x, o, o},
			there: []uint64{0, 1, 4, 5}, back: []uint64{0, 1, 3, 4}, counted: true}},
		"the end is open": {5, back(0, 0, 2, 1), owdWays{forward: []bool{o, x, o}, reverse: []bool{o, o}, there: []uint64{0, 2},
			back: []uint64{0, 1}, open: 2, counted: true}},
		"a reflector that does not count": {4, back(0, 0, 1, 1, 3, 3), owdWays{there: []uint64{0, 1, 3}, back: []uint64{0, 1, 3}}},
		"one that says that it counts": {4, []arrivalBack{{0, 0, true}, {1, 1, true}, {3, 3, true}}, owdWays{forward: []bool{o, o, o, o},
			reverse: []bool{o, o, x, o}, there: []uint64{0, 1, 3}, back: []uint64{0, 1, 3}, counted: true}},
		"reordered on the way there": {3, back(1, 0, 0, 1, 2, 2), owdWays{forward: []bool{o, o, o}, reverse: []bool{o, o, o},
			there: []uint64{1, 0, 2}, back: []uint64{0, 1, 2}, counted: true}},
		"reordered on the way back": {3, back(1, 1, 0, 0, 2, 2), owdWays{forward: []bool{o, o, o}, reverse: []bool{o, o, o},
			there: []uint64{0, 1, 2}, back: []uint64{1, 0, 2}, counted: true}},
		"a copy made on the way there": {2, back(0, 0, 0, 1, 1, 2), owdWays{forward: []bool{o, o}, reverse: []bool{o, o},
			there: []uint64{0, 0, 1}, back: []uint64{0, 1, 2}, counted: true}},
		"a copy made on the way back": {2, back(0, 0, 0, 0, 1, 1), owdWays{forward: []bool{o, o}, reverse: []bool{o, o},
			there: []uint64{0, 1}, back: []uint64{0, 0, 1}, counted: true}},
		"counts that began before": {3, back(0, 70, 2, 71), owdWays{there: []uint64{0, 2}, back: []uint64{70, 71}}},
	} {
		got := waysOf(c.sent, c.arrivals)
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(owdWays{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Of random losses both ways the counts are exact, up to the last packet that was answered, and order and copies are those that there were.
func TestWaysAgainstTruth(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 5))
	for range 500 {
		const sent = 60
		var arrivals []arrivalBack
		var reached []uint64
		truth := map[string]int{}
		lastThere, lastBack := 0, 0
		pending := []int{} // what a queue holds back, so that it comes out of order
		count := uint32(0)
		answer := func(i int) {
			reached = append(reached, uint64(i))
			if random.IntN(10) > 0 {
				arrivals = append(arrivals, arrivalBack{index: i, count: count, counts: true})
				lastThere, lastBack = max(lastThere, i), int(count)
			}
			count++
		}
		lostThere := []int{}
		for i := range sent {
			if random.IntN(8) == 0 {
				lostThere = append(lostThere, i)
				continue
			}
			if random.IntN(12) == 0 {
				pending = append(pending, i)
				continue
			}
			answer(i)
			if len(pending) > 0 && random.IntN(2) == 0 {
				answer(pending[0])
				pending = pending[1:]
			}
		}
		for _, i := range pending {
			answer(i)
		}
		if len(arrivals) == 0 || len(pending) > 0 {
			continue // the order at the end is open
		}
		for _, i := range lostThere {
			if i < lastThere {
				truth["forward"]++
			}
		}
		got := waysOf(sent, arrivals)
		if !got.counted {
			t.Fatalf("not counted: %v", arrivals)
		}
		gaps := lastBack + 1 - len(arrivals)
		lost := func(all []bool) (n int) {
			for _, l := range all {
				if l {
					n++
				}
			}
			return n
		}
		if lost(got.reverse) != gaps || lost(got.forward)+lost(got.reverse) != sent-got.open-len(arrivals) || len(got.forward) != sent-got.open {
			t.Fatalf("forward %d, reverse %d lost, want %d back of %d missing", lost(got.forward), lost(got.reverse), gaps, sent-got.open-len(arrivals))
		}
		if stat.Ordering(got.there).Reordered > stat.Ordering(reached).Reordered {
			t.Fatalf("%v there, in truth %v", got.there, reached)
		}
		if slices.IsSorted(reached) && lost(got.forward) != truth["forward"] {
			t.Fatalf("%d lost on the way there, in truth %d", lost(got.forward), truth["forward"])
		}
	}
}
