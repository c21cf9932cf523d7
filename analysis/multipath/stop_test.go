package multipath

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The numbers are those that tracers with tables have, but for two: they miss eight and nine next hops with a chance of just over 0.05, when the chance
// to have stopped early is counted, too.
func TestStoppingPoints(t *testing.T) {
	for fail, want := range map[float64][]int{
		0.05: {6, 11, 16, 21, 27, 33, 39, 45, 51, 57, 63, 70, 76, 83, 90},
		0.01: {8, 15, 21, 28, 36, 43, 51, 58, 66, 74, 82, 90, 98, 106, 115},
	} {
		var got []int
		for k := 1; k <= len(want); k++ {
			got = append(got, newStops(fail).after(k))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("chance to fail %v (-want +got):\n%s", fail, d)
		}
	}
}
