package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// A queue is held against half of the window of a target, by transfers that the lab recorded: of healthy-50mbit it holds 250 kB, and overflowed;
// of shallow-buffer 15 kB. Packets at the rate of the target get lost, or do not.
func TestCheckQueue(t *testing.T) {
	const enough = 6e6 // packets: a window of 900 takes them
	clean, lossy := lostAt(40e6, enough, 0, 0, false), lostAt(40e6, enough, 5000, 1, false)
	for _, c := range []struct {
		name, fault string
		rtt         time.Duration
		lost        *measure.Result
		want        Outcome
		needed      float64
		says        string
	}{
		{"long enough", "healthy-50mbit", 80 * milli, clean, Passes, 200e3, ""},
		{"long enough, on a lossy path", "healthy-50mbit", 80 * milli, lossy, Passes, 200e3, ""},
		{"too short", "healthy-50mbit", 200 * milli, clean, Fails, 500e3, "all of it, 1.00 MB, keeps a link"},
		{"about as long", "healthy-50mbit", 108 * milli, clean, Untold, 270e3, "about as much"},
		{"too short, or lossy", "healthy-50mbit", 200 * milli, lossy, Untold, 500e3, "not known whether for a full queue"},
		{"too short, and it is not known whether packets get lost", "healthy-50mbit", 200 * milli, nil, Untold, 500e3, "not known whether for a full queue"},
		{"very short", "shallow-buffer", 80 * milli, clean, Fails, 200e3, "it overflowed with no more than"},
		{"long enough for little", "shallow-buffer", milli, clean, Passes, 2.5e3, ""},
		{"a window keeps it empty", "receive-window-limited", 80 * milli, clean, Untold, 200e3, "it did not overflow"},
		{"packets overtake each other", "reordering-harmful", 80 * milli, clean, Untold, 200e3, "it did not overflow"},
		{"nothing came through", "pmtu-blackhole", 80 * milli, clean, Untold, 200e3, "is not known"},
	} {
		results := readRecording(t, "testdata/faults/"+c.fault+".json.gz").Results
		if c.lost != nil {
			results = append(results, c.lost)
		}
		target := Target{40e6, c.rtt}
		checks := JudgeSection(target, results).Checks
		at := slices.IndexFunc(checks, func(one Check) bool { return one.Name == "queue" && one.Way == measure.Forward })
		if at < 0 {
			t.Fatalf("%s: %+v", c.name, checks)
		}
		got := checks[at]
		if got.Outcome != c.want || got.Needed != c.needed || !strings.Contains(got.Means, c.says) || (len(got.Advice) > 0) != (c.want == Fails) {
			t.Errorf("%s: %+v, want %s, needed %v, %q", c.name, got, c.want, c.needed, c.says)
		}
	}
}
