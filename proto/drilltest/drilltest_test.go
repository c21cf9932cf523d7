package drilltest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCuts(t *testing.T) {
	for total, want := range map[int64][]int64{
		40:   {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38},
		3000: {0, 83, 166, 250, 333, 416, 500, 583, 666, 750, 833, 916, 1958, 2479, 2739, 2869, 2934, 2967, 2983, 2991},
	} {
		if diff := cmp.Diff(want, cuts(total)); diff != "" {
			t.Errorf("of %d bytes (-want +got):\n%s", total, diff)
		}
	}
}
