package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/record"
	"github.com/pathwise-net/pathwise/measure"
)

// The shares of two flows that compete for a link of 20 Mbit/s, over a round trip of 20 ms, are those that the lab saw, within 5 %; so is what each sent again, and the
// queue that both fill.
func TestBesideAgainstTruth(t *testing.T) {
	carrying(t)
	spec, err := lab.ParseSpec(t.Name(), []byte("hosts: {bob: {}, carol: {}}\nlinks: [{between: [bob, carol], rate: 20mbit, overhead: none, delay: 10ms, queue: 100p}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	l := startLab(t, spec)
	readyOnCarol(t, l, lab.Command{Argv: []string{lab.Self(), "respond", "--max-tests", "2"}, Env: append(os.Environ(), actAsPathwise+"=1")})
	var out bytes.Buffer
	onHost(t, l, "bob", &out, lab.Self(), "throughput", "carol", "--json", "-t", "4", "--cc", "cubic", "--beside", "reno")
	var r measure.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || len(r.Samples.Beside) != 2 || r.Samples.Beside[1].Competing == nil {
		t.Fatalf("%v: %s", err, out.Bytes())
	}
	truth, err := l.Truth()
	if err != nil {
		t.Fatal(err)
	}
	both := r.Samples.Beside[1]
	got := [2]measure.BesideFlow{both.Tested, *both.Competing}
	seen := besideFlows(t, truth.Flows)
	if got[0].ReceivedBytes > got[1].ReceivedBytes != (seen[0].Delivered > seen[1].Delivered) {
		seen[0], seen[1] = seen[1], seen[0] // which began first nobody planned
	}
	all := float64(seen[0].Delivered + seen[1].Delivered)
	for i, f := range got {
		share, queue := float64(seen[i].Delivered)/all, seen[i].DelaySeconds.Median-0.010
		t.Logf("%s: %.3g bit/s, share %.3f, in truth %.3f; resent %.4f, lost %.4f; queue %.1f ms, in truth %.1f ms", f.CongestionControl, f.BitsPerSecond, f.ShareRatio, share,
			*f.RetransmittedRatio, seen[i].LossRatio, 1e3*both.Metrics[measure.BufferDelay], 1e3*queue)
		if math.Abs(f.ShareRatio-share) > 0.05 {
			t.Errorf("%s: a share of %.3f, in truth %.3f", f.CongestionControl, f.ShareRatio, share)
		}
		if math.Abs(*f.RetransmittedRatio-seen[i].LossRatio) > 0.005+0.25*seen[i].LossRatio {
			t.Errorf("%s: %.4f was sent again, and in truth %.4f lost", f.CongestionControl, *f.RetransmittedRatio, seen[i].LossRatio)
		}
	}
	queue := (seen[0].DelaySeconds.Median+seen[1].DelaySeconds.Median)/2 - 0.010
	if math.Abs(both.Metrics[measure.BufferDelay]-queue) > 0.010+0.2*queue || both.Metrics[measure.FairnessRatio] < 0.5 || r.Metrics[measure.FairnessRatio] != both.Metrics[measure.FairnessRatio] {
		t.Errorf("%v; in truth a queue of %.4f s", both.Metrics, queue)
	}
}

// besideFlows are the last two large flows by TCP, of those that a transfer alone and one beside another leave.
func besideFlows(t *testing.T, all []record.FlowTruth) []record.FlowTruth {
	t.Helper()
	const large = 300 // packets: a control connection has some 40
	flows := slices.DeleteFunc(slices.Clone(all), func(f record.FlowTruth) bool { return f.Protocol != "tcp" || f.TargetPort != 5201 || f.Packets < large })
	slices.SortFunc(flows, func(a, b record.FlowTruth) int { return int(1e6 * (a.FirstSentSeconds - b.FirstSentSeconds)) })
	if len(flows) != 3 {
		t.Fatalf("%d large flows: %+v", len(flows), flows)
	}
	return flows[1:]
}
