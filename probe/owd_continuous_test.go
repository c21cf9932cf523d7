package probe

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A packet belongs to the window in which it was due, whenever it left, and a window that no packet was due in is none.
func TestOWDWindows(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		due  []time.Duration
		want [][2]int // of each window its number and its first packet
	}{
		"at the interval":           {[]time.Duration{0, 250 * ms, 500 * ms, 750 * ms, 1000 * ms, 1250 * ms}, [][2]int{{0, 0}, {1, 4}}},
		"just before the next one":  {[]time.Duration{0, 1000*ms - 1, 1000 * ms}, [][2]int{{0, 0}, {1, 2}}},
		"at uneven intervals":       {[]time.Duration{0, 10 * ms, 990 * ms, 1700 * ms, 3100 * ms}, [][2]int{{0, 0}, {1, 3}, {3, 4}}},
		"after the machine slept":   {[]time.Duration{0, 3600 * 1000 * ms}, [][2]int{{0, 0}, {3600, 1}}},
		"the first comes afterward": {[]time.Duration{1500 * ms, 1900 * ms, 2000 * ms}, [][2]int{{1, 0}, {2, 2}}},
	} {
		w := owdWindows{every: time.Second}
		for packet, due := range c.due {
			w.begin(due, packet)
		}
		var got [][2]int
		for i := range w.begun {
			got = append(got, [2]int{w.begun[i].number, w.begun[i].first})
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for i := range c.want[1:] {
			at, end, ok := w.end()
			if want := time.Duration(c.want[i][0]+1) * time.Second; !ok || at != want || end != c.want[i+1][1] {
				t.Errorf("%s: window %d ends at %v with packet %d, %v; want %v with %d", name, i, at, end, ok, want, c.want[i+1][1])
			}
			w.take()
		}
		if _, _, ok := w.end(); ok {
			t.Errorf("%s: the last window has an end", name)
		}
	}
}

// What windows cannot be is refused by name.
func TestContinuousValidate(t *testing.T) {
	for _, c := range []struct {
		p    OWD
		want string // "": it can be
	}{
		{OWD{Continuous: true}, ""},
		{OWD{Continuous: true, Interval: 7 * time.Second, Poisson: true}, ""},
		{OWD{Continuous: true, Proto: protoTWAMP, Count: 5, Time: time.Minute, Every: time.Second}, ""},
		{OWD{Continuous: true, Proto: protoOWAMP}, `proto "owamp": a server of owamp tells what it received only when a session is over; for continuous give stamp or twamp`},
		{OWD{Continuous: true, Every: time.Millisecond}, `every "1ms": give a time from 1s`},
		{OWD{Continuous: true, Interval: 2 * time.Minute}, `every "1m0s": give at least the interval`},
		{OWD{Continuous: true, Interval: 7 * time.Second}, `every "1m0s": give a multiple of the interval`},
		{OWD{Continuous: true, Interval: time.Millisecond, Every: time.Hour}, `every "1h0m0s": at this interval give at most 16m40s`},
		{OWD{Every: time.Minute}, `every "1m0s": it is of continuous measurements`},
		{OWD{Time: time.Minute}, `time "1m0s": it is of continuous measurements`},
	} {
		c.p.Target = "bob"
		err := c.p.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.p, err, c.want)
		}
	}
}
