package ndt7

import (
	"slices"
	"testing"
	"time"
)

// What follows the last whole second is an interval if it is a tenth as long, and else is left out.
func TestLastInterval(t *testing.T) {
	before := []Interval{{0, time.Second, 700}, {time.Second, 2 * time.Second, 500}}
	for elapsed, more := range map[time.Duration]bool{2 * time.Second: false, 2500 * time.Millisecond: true} {
		var told []Interval
		r := &running{Client: &Client{OnInterval: func(i Interval) { told = append(told, i) }}, report: &Report{Intervals: slices.Clone(before)},
			moved: 1250, began: time.Now().Add(-elapsed)}
		r.interval()
		if kept := r.report.Intervals[len(before):]; !slices.Equal(told, kept) || len(kept) > 0 != more {
			t.Errorf("%v: told of %+v, keeps %+v", elapsed, told, kept)
		}
		if more && (told[0].Start != 2*time.Second || told[0].End < elapsed || told[0].Bytes != 50) {
			t.Errorf("%v: %+v", elapsed, told[0])
		}
	}
}
