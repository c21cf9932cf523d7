package stat

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestQuantile(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(i + 1)
	}
	rfc := []float64{-5, -2, 4, 7, 7, 18} // the sample of RFC 2330 section 11.3, sorted: F of the least is 1/6
	cases := []struct {
		sorted []float64
		q      float64
		want   float64
	}{
		{hundred, 0, 1}, {hundred, 0.07, 7}, {hundred, 0.5, 50}, {hundred, 0.95, 95}, {hundred, 0.951, 96}, {hundred, 1, 100},
		{rfc, 0.25, -2}, {rfc, 0.5, 4}, {rfc, 0.8, 7}, {rfc, 0.84, 18}, {rfc, 1, 18},
		{[]float64{1, 2}, 0.5, 1},
		{[]float64{90, 100, 110, 500, math.Inf(1)}, 0.5, 110}, // RFC 7679 section 5.1: a lost packet has no finite delay
		{[]float64{90, 100, 110, 500, math.Inf(1)}, 0.99, math.Inf(1)},
		{rfc, 0.15, -5}, // by the RFC's definition, since 15 % is less than F(-5) = 1/6; its text calls that percentile -Inf
		{[]float64{3}, 0.99, 3},
	}
	for _, c := range cases {
		if got := Quantile(c.sorted, c.q); got != c.want {
			t.Errorf("Quantile(%d values, %v) = %v, want %v", len(c.sorted), c.q, got, c.want)
		}
	}
	if got := Median(rfc); got != 5.5 {
		t.Errorf("Median of RFC 2330's sample = %v, want 5.5", got)
	}
	if got := Median([]float64{90, 100, 110, math.Inf(1)}); got != 105 {
		t.Errorf("Median of RFC 7679 section 5.2's sample = %v, want 105", got)
	}
	if got := Quantile(nil, 0.5); !math.IsNaN(got) {
		t.Errorf("Quantile of nothing = %v, want NaN", got)
	}
	if got := Median(nil); !math.IsNaN(got) {
		t.Errorf("Median of nothing = %v, want NaN", got)
	}
}

func TestSummarize(t *testing.T) {
	values := []float64{9, 2, 5, 4, 12, 7, 8, 11, 9, 3, 7, 4, 12, 5, 4, 10, 9, 6, 9, 4}
	cases := map[string]struct {
		values []float64
		want   Summary
	}{
		"nothing": {nil, Summary{}},
		"one":     {[]float64{0.04}, Summary{N: 1, Min: 0.04, Mean: 0.04, Median: 0.04, P95: 0.04, P99: 0.04, Max: 0.04}},
		"twenty":  {values, Summary{N: 20, Min: 2, Mean: 7, Median: 7, P95: 12, P99: 12, Max: 12, Stddev: math.Sqrt(178.0 / 19)}},
		"large mean": {[]float64{1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16},
			Summary{N: 4, Min: 1e9 + 4, Mean: 1e9 + 10, Median: 1e9 + 10, P95: 1e9 + 16, P99: 1e9 + 16, Max: 1e9 + 16, Stddev: math.Sqrt(30)}},
	}
	for name, c := range cases {
		if diff := cmp.Diff(c.want, Summarize(c.values), cmpopts.EquateApprox(1e-12, 0)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if values[0] != 9 {
		t.Error("Summarize sorted its caller's slice")
	}
}
