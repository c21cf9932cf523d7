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
		// Loss distances 3, 2, 2, 1, and loss periods of 1, 1, 1 and 2.
		{"RFC 3357, sections 5.4.3 and 6.5", ".x..x.x.xx", []int{1, 1, 1, 2}, []int{3, 2, 2, 1}, 5. / 4 * 0.5},
		{"RFC 3357, section 4: four loss periods", "...x..xxx.x..xxx", []int{1, 3, 1, 3}, []int{3, 1, 1, 2, 3, 1, 1}, 2. / 2},
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

// Between loss periods lie the Inter-Loss-Period-Lengths of RFC 3357 section 6.4, of its example in section 6.5 3, 2 and 2.
func TestBetweenPeriods(t *testing.T) {
	between := slices.DeleteFunc(LossDistances(fate(".x..x.x.xx")), func(d int) bool { return d == 1 })
	if diff := cmp.Diff([]int{3, 2, 2}, between); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The examples of RFC 3357 for noticeable loss.
func TestNoticeableLoss(t *testing.T) {
	lostOf := func(n int, numbers ...int) []bool { // packets are counted from 1
		lost := make([]bool, n)
		for _, i := range numbers {
			lost[i-1] = true
		}
		return lost
	}
	for _, c := range []struct {
		name       string
		lost       []bool
		constraint int
		want       float64
	}{
		{"no packet", nil, 99, 0},
		{"no loss", lostOf(10), 99, 0},
		{"one loss", lostOf(10, 5), 99, 0},
		{"section 6.5", fate(".x..x.x.xx"), 2, 3. / 5},
		{"section 6.1, a burst of three from 125 on", lostOf(200, 50, 125, 126, 127), 99, 3. / 4},
		{"section 6.1, 100 apart", lostOf(500, 100, 200, 300, 400, 500), 99, 0},
		{"section 6.1, two too near", lostOf(500, 100, 175, 275, 290, 400), 99, 2. / 5},
		{"section 4, packets 20 and 50: 30 apart", lostOf(60, 20, 50), 30, 1. / 2},
		{"one less is too few", lostOf(60, 20, 50), 29, 0},
	} {
		if got := NoticeableLoss(c.lost, c.constraint); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
