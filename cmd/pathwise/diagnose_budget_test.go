package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

func TestReadBudget(t *testing.T) {
	for text, want := range map[string]diagnose.Budget{
		"": {}, "20s": {Time: 20 * time.Second}, "50MB": {Bytes: 50e6}, "1m,1MiB": {Time: time.Minute, Bytes: 1 << 20}, "1MB,9s": {Time: 9 * time.Second, Bytes: 1e6},
	} {
		got, err := readBudget(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"20", "s", "20s,30s", "1MB,2MB", "20s,", "-5s", "1s", "1kB", "0s"} {
		if got, err := readBudget(text); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

// A healthy short path is known in some 13 s, since its transfers end when they say no more, and not after the 10 s that each may take: how much sooner
// is a matter of how busy the machine is. Within a budget less is done, and a note says what was not.
func TestDiagnosisEndsEarly(t *testing.T) {
	t.Parallel()
	carrying(t)
	s := setting{rate: "50mbit", rtt: 20 * ms, seed: 9}
	carried(t, s, func(l *lab.Lab) error {
		began := time.Now()
		d := diagnoseIn(t, l, s, "carol")
		took := time.Since(began)
		transfers := slices.DeleteFunc(slices.Clone(d.Results), func(r *measure.Result) bool { return r.Kind != "throughput" })
		beside := took
		for _, r := range transfers {
			lasted := time.Duration(r.DurationSeconds * float64(time.Second))
			if lasted > 8*time.Second {
				return fmt.Errorf("a transfer took %v: %s", lasted, inShort(d))
			}
			beside -= lasted
		}
		if d.Verdict != diagnose.Healthy || beside > 12*time.Second || len(transfers) != 2 {
			return fmt.Errorf("%s after %v, %v of it beside %d transfers: %s", d.Verdict, took, beside, len(transfers), inShort(d))
		}
		t.Logf("healthy after %v; transfers of %.1f and %.1f s", took.Round(100*time.Millisecond), transfers[0].DurationSeconds, transfers[1].DurationSeconds)

		began = time.Now()
		d = diagnoseIn(t, l, s, "carol", "--budget", "6s,4MB")
		moved := 0.0
		for _, r := range d.Results {
			moved += r.Metrics[measure.ReceivedBytes]
		}
		took = time.Since(began)
		if took > 10*time.Second || moved > 4e6 || d.Verdict != diagnose.Healthy || !slices.ContainsFunc(d.Notes, func(n string) bool {
			return strings.HasPrefix(n, "left out, for the budget of 6.00 s and 4.00 MB: ") && strings.Contains(n, "transfer-reverse")
		}) {
			return fmt.Errorf("%s after %v and %.0f bytes: %s", d.Verdict, took, moved, inShort(d))
		}
		return nil
	})
}
