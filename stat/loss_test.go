package stat

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fate is what became of packets: an x is lost.
func fate(s string) (lost []bool) {
	for _, c := range s {
		lost = append(lost, c == 'x')
	}
	return lost
}

func TestLossPattern(t *testing.T) {
	cases := []struct {
		name            string
		fate            string
		runs, distances []int
		burst           float64
	}{
		{"nothing", "", nil, nil, 1},
		{"no loss", "...", nil, nil, 1},
		{"nothing arrived", "xx", []int{2}, []int{1}, 1},
		// The example of RFC 3357: loss distances 3, 2, 2, 1, and four loss periods.
		{"RFC 3357", ".x..x.x.xx", []int{1, 1, 1, 2}, []int{3, 2, 2, 1}, 5. / 4 * 0.5},
		{"one run of three in twelve", "....xxx.....", []int{3}, []int{1, 1}, 3 * 0.75},
		{"runs of 1, 3 and 2", ".x.xxx.xx", []int{1, 3, 2}, []int{2, 1, 1, 2, 1}, 2. / 3},
		{"at the start", "xx.", []int{2}, []int{1}, 2. / 3},
	}
	for _, c := range cases {
		lost := fate(c.fate)
		if diff := cmp.Diff([][]int{c.runs, c.distances}, [][]int{LossRuns(lost), LossDistances(lost)}); diff != "" {
			t.Errorf("%s: runs and distances (-want +got):\n%s", c.name, diff)
		}
		if got := BurstRatio(lost); math.Abs(got-c.burst) > 1e-12 {
			t.Errorf("%s: burst ratio %v, want %v", c.name, got, c.burst)
		}
	}
}

// Between loss periods lie the Inter-Loss-Period-Lengths of RFC 3357, of its example 3, 2 and 2.
func TestBetweenPeriods(t *testing.T) {
	between := slices.DeleteFunc(LossDistances(fate(".x..x.x.xx")), func(d int) bool { return d == 1 })
	if diff := cmp.Diff([]int{3, 2, 2}, between); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
