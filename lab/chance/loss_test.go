package chance

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/lab/notation"
)

func ratio(v float64) *notation.Ratio { return (*notation.Ratio)(&v) }

func fates(l *Loss, seed uint64) (lost []bool, count int) {
	p := l.New(0, seeded(seed))
	lost = make([]bool, packets)
	for i := range lost {
		lost[i] = p.Lost(int64(i), 1500)
		if lost[i] {
			count++
		}
	}
	return lost, count
}

func TestIndependentLoss(t *testing.T) {
	for i, share := range []float64{0.0001, 0.01, 0.2} {
		lost, count := fates(Independent(share), uint64(i))
		checkShare(t, "loss", count, packets, share, 1)
		if count < 1000 {
			continue // too few for classes
		}
		inRuns, gaps := runs(lost)
		checkChiSquare(t, "runs", inRuns, geometric(1-share))
		checkChiSquare(t, "gaps", gaps, geometric(share))
	}
	for share, want := range map[float64]int{0: 0, 1: packets} {
		if _, count := fates(Independent(share), 9); count != want {
			t.Errorf("loss of %v: %d lost; want %d", share, count, want)
		}
	}
}

// hidden gives the run lengths of a Gilbert-Elliott chain: from each state, the chance of each next state along with a
// loss (hit) or without (miss). A run of k losses after a packet that was not lost has the chance start · hit^(k-1) ·
// miss · 1, where start is the state at the first loss.
type hidden struct{ hit, miss [2][2]float64 }

func newHidden(enter, leave, good, bad float64) hidden {
	change := [2][2]float64{{1 - enter, enter}, {leave, 1 - leave}}
	loss := [2]float64{good, bad}
	var h hidden
	for from := range change {
		for to, p := range change[from] {
			h.hit[from][to] = p * loss[to]
			h.miss[from][to] = p * (1 - loss[to])
		}
	}
	return h
}

func step(v [2]float64, m [2][2]float64) [2]float64 {
	return [2]float64{v[0]*m[0][0] + v[1]*m[1][0], v[0]*m[0][1] + v[1]*m[1][1]}
}

// lengths returns the distribution of runs of stay that go begins and ends.
func lengths(stationary [2]float64, stay, end [2][2]float64) func(int) float64 {
	v := step(step(stationary, end), stay)
	total := v[0] + v[1]
	known := []float64{0}
	return func(k int) float64 {
		for len(known) <= k {
			out := step(v, end)
			known = append(known, (out[0]+out[1])/total)
			v = step(v, stay)
		}
		return known[k]
	}
}

func TestGilbertLoss(t *testing.T) {
	tests := map[string]struct {
		model                   Gilbert
		enter, leave, good, bad float64
	}{
		"all lost in bad":  {Gilbert{Enter: 0.002, Leave: 0.1}, 0.002, 0.1, 0, 1},
		"most lost in bad": {Gilbert{Enter: 0.002, Leave: 0.1, Bad: ratio(0.8)}, 0.002, 0.1, 0, 0.8},
		"some lost in good": {Gilbert{Enter: 0.01, Leave: 0.2, Good: 0.01, Bad: ratio(0.5)},
			0.01, 0.2, 0.01, 0.5},
		"ratio and burst": {Gilbert{Ratio: 0.01, Burst: 5}, 0.2 * 0.01 / 0.99, 0.2, 0, 1},
	}
	seed := uint64(100)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if err := test.model.Validate(); err != nil {
				t.Fatal(err)
			}
			lost, count := fates(&Loss{Gilbert: &test.model}, seed)
			inBad := test.enter / (test.enter + test.leave)
			share := inBad*test.bad + (1-inBad)*test.good
			r := 1 - test.enter - test.leave
			checkShare(t, "loss", count, packets, share, (1+r)/(1-r))

			stationary := [2]float64{1 - inBad, inBad}
			h := newHidden(test.enter, test.leave, test.good, test.bad)
			inRuns, gaps := runs(lost)
			checkChiSquare(t, "runs", inRuns, lengths(stationary, h.hit, h.miss))
			checkChiSquare(t, "gaps", gaps, lengths(stationary, h.miss, h.hit))
			if test.good == 0 && test.bad == 1 { // the plain case is known without matrices
				checkChiSquare(t, "runs", inRuns, geometric(test.leave))
				checkChiSquare(t, "gaps", gaps, geometric(test.enter))
			}
		})
	}
}

// The first packet is lost as often as any other.
func TestGilbertStartsAnywhere(t *testing.T) {
	l := Loss{Gilbert: &Gilbert{Ratio: 0.3, Burst: 50}}
	count := 0
	random := seeded(0)
	for range packets {
		if l.New(0, random).Lost(0, 100) {
			count++
		}
	}
	checkShare(t, "first", count, packets, 0.3, 1)
}

func TestLossByCount(t *testing.T) {
	tests := []struct{ every, offset notation.Count }{{1, 0}, {2, 1}, {100, 0}, {100, 1}, {100, 99}}
	for _, test := range tests {
		lost, _ := fates(&Loss{Every: test.every, Offset: test.offset}, 0)
		for i, got := range lost {
			number := notation.Count(i + 1)
			if want := number%test.every == test.offset%test.every; got != want {
				t.Fatalf("every %d, offset %d: packet %d lost: %v", test.every, test.offset, number, got)
			}
		}
	}
}

func TestLossByCondition(t *testing.T) {
	const ms = int64(time.Millisecond)
	window := Loss{Period: notation.Span(10 * time.Second), For: notation.Span(200 * time.Millisecond),
		Start: notation.Span(time.Second)}
	tests := map[string]struct {
		loss Loss
		set  int64
		t    int64
		size int
		want bool
	}{
		"nothing set":            {Loss{}, 0, 0, 1500, false},
		"at larger_than":         {Loss{LargerThan: 1300}, 0, 0, 1300, false},
		"above larger_than":      {Loss{LargerThan: 1300}, 0, 0, 1301, true},
		"at smaller_than":        {Loss{SmallerThan: 100}, 0, 0, 100, false},
		"below smaller_than":     {Loss{SmallerThan: 100}, 0, 0, 99, true},
		"between":                {Loss{LargerThan: 100, SmallerThan: 200}, 0, 0, 150, true},
		"not between":            {Loss{LargerThan: 100, SmallerThan: 200}, 0, 0, 200, false},
		"ratio of none":          {Loss{LargerThan: 100, Ratio: ratio(0)}, 0, 0, 200, false},
		"before the window":      {window, 0, 999 * ms, 100, false},
		"window opens":           {window, 0, 1000 * ms, 100, true},
		"window's last":          {window, 0, 1200*ms - 1, 100, true},
		"window closed":          {window, 0, 1200 * ms, 100, false},
		"next window":            {window, 0, 11_100 * ms, 100, true},
		"counts from when set":   {window, 5000 * ms, 6100 * ms, 100, true},
		"not from zero":          {window, 5000 * ms, 1100 * ms, 100, false},
		"list: first":            {Loss{Any: []Loss{{LargerThan: 1000}, {SmallerThan: 100}}}, 0, 0, 1001, true},
		"list: second":           {Loss{Any: []Loss{{LargerThan: 1000}, {SmallerThan: 100}}}, 0, 0, 99, true},
		"list: none":             {Loss{Any: []Loss{{LargerThan: 1000}, {SmallerThan: 100}}}, 0, 0, 500, false},
		"both conditions needed": {Loss{LargerThan: 1000, Period: 10, For: 1}, 0, 5, 1500, false},
	}
	for name, test := range tests {
		if err := test.loss.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := test.loss.New(test.set, seeded(0)).Lost(test.t, test.size); got != test.want {
			t.Errorf("%s: lost: %v; want %v", name, got, test.want)
		}
	}
}

// A count goes on among the packets that meet the conditions only.
func TestLossByCountAndSize(t *testing.T) {
	p := (&Loss{Every: 3, LargerThan: 1000}).New(0, seeded(0))
	var lost []int
	for i := range 12 {
		if p.Lost(0, 500+1000*(i%2)) {
			lost = append(lost, i)
		}
	}
	if len(lost) != 2 || lost[0] != 5 || lost[1] != 11 {
		t.Errorf("lost %v; want [5 11]", lost)
	}
}

// Each packet takes the same number of words, whatever its size, time and fate.
func TestLossDraws(t *testing.T) {
	tests := map[string]struct {
		loss Loss
		want int
	}{
		"ratio":   {Loss{Ratio: ratio(0.5)}, 1},
		"gilbert": {Loss{Gilbert: &Gilbert{Ratio: 0.5, Burst: 3}}, 2},
		"every":   {Loss{Every: 3}, 0},
		"size":    {Loss{LargerThan: 1000, Ratio: ratio(0.5)}, 1},
		"window":  {Loss{Period: 10, For: 5}, 1},
		"list":    {Loss{Any: []Loss{{Ratio: ratio(0.5)}, {Gilbert: &Gilbert{Ratio: 0.5, Burst: 3}}, {Every: 2}}}, 3},
	}
	for name, test := range tests {
		source := &words{from: rand.NewPCG(1, 2)}
		p := test.loss.New(0, rand.New(source))
		for i := range 1000 {
			source.n = 0
			p.Lost(int64(i), 10*i)
			if source.n != test.want {
				t.Fatalf("%s: packet %d took %d words; want %d", name, i, source.n, test.want)
			}
		}
	}
}

// What one model says of a packet changes nothing for the packets behind it, nor for the other models.
func TestLossKeepsPacketsApart(t *testing.T) {
	small := (&Loss{LargerThan: 1000, Gilbert: &Gilbert{Ratio: 0.3, Burst: 3}}).New(0, seeded(5))
	large := (&Loss{LargerThan: 1000, Gilbert: &Gilbert{Ratio: 0.3, Burst: 3}}).New(0, seeded(5))
	seen := 0
	for i := range 10_000 {
		size := 500 + 1000*(i%2)
		got, want := small.Lost(0, size), large.Lost(0, 1500)
		if got != (want && size > 1000) {
			t.Fatalf("packet %d of %d bytes: lost %v; the same packet, large: %v", i, size, got, want)
		}
		if got {
			seen++
		}
	}
	if math.Abs(float64(seen)-1500) > 300 {
		t.Errorf("%d lost; want about 1500", seen)
	}
}
