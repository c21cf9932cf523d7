package measure

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a value grew by counts from the first reading that has it; one reading alone tells neither growth nor share.
func TestGrowth(t *testing.T) {
	readings := func(values ...float64) (all []Reading) {
		for i, v := range values {
			r := Reading{ElapsedSeconds: float64(i) / 2, Values: map[string]float64{"other_bytes": 1}}
			if v >= 0 {
				r.Values["a"] = v
			}
			all = append(all, r)
		}
		return all
	}
	type growth struct {
		By, Seconds, Share, Rate float64
		Told                     bool
	}
	for name, c := range map[string]struct {
		all  []Reading
		want growth
	}{
		"none":           {nil, growth{}},
		"one":            {readings(3), growth{}},
		"three":          {readings(3, 4, 5), growth{2, 1, 2, 16, true}},
		"told late":      {readings(-1, 4, 5), growth{1, 0.5, 2, 16, true}},
		"not told later": {readings(3, 4, -1), growth{1, 0.5, 2, 16, true}},
	} {
		var got growth
		got.By, got.Seconds = Growth(c.all, "a")
		got.Share, got.Told = Share(c.all, "a")
		got.Rate = Rate(c.all, "a")
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if Last(nil) != nil || Last(readings(1, 2))["a"] != 2 {
		t.Errorf("last: %v, %v", Last(nil), Last(readings(1, 2)))
	}
}
