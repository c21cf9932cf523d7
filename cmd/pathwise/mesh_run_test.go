package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// A terminal obeys nothing of what an agent tells on the way of a run.
func TestFollowRunIsReadable(t *testing.T) {
	const odd = `\u001b]0;x\u0007\u009b2J\r\n5 Mbit/s\tto Zürich`
	lines := `{"progress":{"line":"` + odd + `"}}
		{"progress":{"rounds":{"rounds":1,"loss":{"verdict":"` + odd + `"}}}}
		{"progress":{"echo":{"seq":1,"from":"` + odd + `","error":"` + odd + `"}}}
		{"progress":{"result":{"id":"1"}}}`
	var shown []fleet.Progress
	if _, err := followRun(strings.NewReader(lines), func(time.Time) {}, func(p *fleet.Progress) { shown = append(shown, *p) }); err != nil {
		t.Fatal(err)
	}
	const plain = "]0;x2J5 Mbit/s\tto Zürich"
	want := []fleet.Progress{
		{Line: plain}, {Rounds: &measure.RoundsSample{Rounds: 1, Loss: measure.PathLoss{Verdict: plain}}}, {Echo: &measure.Echo{Seq: 1, From: plain, Error: plain}},
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
