package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/record"
	"github.com/pathwise-net/pathwise/measure"
)

// Round trips under load are what the lab's queue made packets wait: those of a transfer that fills it, and those of one that is slower than the link.
func TestLoadAgainstTruth(t *testing.T) {
	carrying(t)
	for name, c := range map[string]struct {
		arguments []string
		most      float64 // seconds of buffer delay in truth, at the most
	}{
		"a full queue":          {nil, 0.2},
		"slower than the link":  {[]string{"--rate", "4mbit"}, 0.01},
		"a full queue, reverse": {[]string{"-R"}, 0.2},
	} {
		t.Run(name, func(t *testing.T) { loadOver(t, c.arguments, c.most) })
	}
}

// loadOver makes a transfer over a link of 20 Mbit/s behind a queue of 100 packets, 60 ms, and holds its round trips against those of the packets beside it.
func loadOver(t *testing.T, arguments []string, most float64) {
	spec, err := lab.ParseSpec(t.Name(), []byte("hosts: {bob: {}, carol: {}}\nlinks: [{between: [bob, carol], rate: 20mbit, overhead: none, delay: 10ms, queue: 100p}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	l := startLab(t, spec)
	readyOnCarol(t, l, lab.Command{Argv: []string{lab.Self(), "respond"}, Env: append(os.Environ(), actAsPathwise+"=1")})
	var out bytes.Buffer
	onHost(t, l, "bob", &out, append([]string{lab.Self(), "throughput", "carol", "--json", "-t", "4", "--cc", "cubic", "--path-rate", "20mbit"}, arguments...)...)
	var r measure.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v: %s", err, out.Bytes())
	}
	truth, err := l.Truth()
	if err != nil {
		t.Fatal(err)
	}
	queue := 0. // seconds that the transfer's packets took one way beyond 10 ms, the median
	var largest record.FlowTruth
	for _, f := range truth.Flows {
		if f.Protocol == "tcp" && f.Bytes > largest.Bytes {
			largest = f
		}
	}
	queue = largest.DelaySeconds.Median - 0.010
	got := r.Metrics[measure.BufferDelay]
	t.Logf("buffer delay %.1f ms, in truth %.1f ms; %v, idle %.1f ms", 1e3*got, 1e3*queue, r.Parameters["round_trips_by"], 1e3*r.Metrics[measure.IdleRTT])
	seconds, carried := largest.LastDeliveredSeconds-largest.FirstDeliveredSeconds, 8*float64(largest.Bytes)*(1-largest.LossRatio)
	if ratio, want := r.Metrics[measure.TransferTimeRatio], 20e6*seconds/carried; math.Abs(ratio-want) > 0.1*want {
		t.Errorf("the transfer took %.3f times as long as at the path's rate, in truth %.3f", ratio, want)
	}
	if r.Parameters["round_trips_by"] != "stamp" || math.Abs(got-queue) > 0.008+0.15*queue || got > most || math.Abs(r.Metrics[measure.IdleRTT]-0.020) > 0.005 {
		t.Errorf("by %v: %v, in truth %v", r.Parameters["round_trips_by"], r.Metrics, largest.DelaySeconds)
	}
}
