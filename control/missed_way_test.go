package control

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// A run that did not take place is missed the way that its data would have gone.
func TestMissesHaveAWay(t *testing.T) {
	for parameters, want := range map[string]measure.Way{"duration: 2s": measure.Forward, "duration: 2s, reverse: true": measure.Reverse,
		"duration: 2s, bidir: true": measure.Both} {
		b := newBench(t, twoHosts+strings.Replace(someTests, "duration: 2s", parameters, 1))
		b.plan()
		b.now = b.now.Add(time.Hour)
		if err := b.fileMisses(t.Context(), b.now); err != nil {
			t.Fatal(err)
		}
		misses, err := b.archive.Misses(t.Context(), archive.MissQuery{})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]measure.Way{}
		for _, m := range misses {
			got[m.Tool] = m.Way
		}
		if diff := cmp.Diff(map[string]measure.Way{"rtt": "", "bulk": want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", parameters, diff)
		}
	}
}
