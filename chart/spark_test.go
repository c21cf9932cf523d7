package chart

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSparkline(t *testing.T) {
	none := math.NaN()
	for _, c := range []struct {
		values []float64
		from   float64
		width  int
		ascii  bool
		want   string
	}{
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, 0, 80, false, "▁▂▃▄▅▆▇█"},
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, 0, 80, true, "_.-=+*#@"},
		{[]float64{10, none, 17}, 10, 80, false, "▁x█"},
		{[]float64{5, 5}, 5, 80, false, "▁▁"},
		{[]float64{1, 3, 7, none, none, none, 0, 0}, 0, 4, false, "▃█x▁"}, // means 2, 7, none, 0
		{nil, 0, 80, false, ""},
	} {
		if got := Sparkline(c.values, c.from, c.width, c.ascii); got != c.want {
			t.Errorf("%v in %d letters from %g: %q, want %q", c.values, c.width, c.from, got, c.want)
		}
	}
}

func TestHistogram(t *testing.T) {
	var values []float64
	for i := range 20 {
		values = append(values, 10+float64(i%4)) // 10, 11, 12, 13: five each
	}
	values = append(values, 100)
	for _, c := range []struct {
		values      []float64
		width, rows int
		want        []string
	}{
		{values, 24, 5, []string{
			"  10 to 11  ########## 5", "  11 to 12  ########## 5", "  12 to 13  ########## 5", "  13 to 14  ########## 5", "14 or more  ## 1"}},
		{[]float64{0.2, 0.4, 0.4}, 20, 5, []string{"0.2 to 0.3  ### 1", "0.3 to 0.4   0", "0.4 to 0.5  ###### 2"}},
		{[]float64{3, 3}, 24, 5, []string{"3.000000 to 3.000001  # 2"}}, // a millionth wide
		{nil, 24, 5, nil},
		{values, 24, 1, nil},
	} {
		got := Histogram{Values: c.values, Text: inDigitsOf, ASCII: true}.Draw(c.width, c.rows)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.values, diff)
		}
	}
}

// inDigitsOf is a number with as many decimals as the step has.
func inDigitsOf(v, step float64) string {
	return fmt.Sprintf("%.*f", max(0, int(math.Ceil(-math.Log10(step)-1e-9))), v)
}
