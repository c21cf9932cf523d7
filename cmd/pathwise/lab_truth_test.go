package main

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/middlebox"
	"github.com/pathwise-net/pathwise/lab/record"
)

// All that a truth can have, in text.
func TestPrintTruth(t *testing.T) {
	truth := &lab.Truth{FlowsFrom: 2, FlowsTo: 9.5, RecordsFrom: 4.25,
		Links: []lab.LinkTruth{
			{Between: [2]string{"bob", "nat"}, Direction: "forward", Packets: 1000, Delivered: 985,
				Dropped:   map[string]uint64{"loss": 10, "queue": 0, "policed": 3, "frame_error": 2},
				Reordered: 4, Marked: 1, DelaySeconds: lab.DelayTruth{Min: 0.001, Median: 0.0015, P99: 0.0023}},
			{Between: [2]string{"bob", "nat"}, Direction: "reverse", Dropped: map[string]uint64{"loss": 0, "queue": 7},
				Adapter: &link.Adapter{LateCollisions: 3, Runts: 1}, EmulatorLateSeconds: 42e-6},
		},
		Routers: []lab.RouterTruth{{Name: "nat", Counts: middlebox.Counts{Translated: 12, Mappings: 2}}, {Name: "idle"}},
		Flows: []record.FlowTruth{
			{Name: "tcp 10.0.0.1:4000 > 10.0.9.9:80", Protocol: "tcp", Source: "10.0.0.1", SourcePort: 4000, Target: "10.0.9.9", TargetPort: 80,
				Packets: 90, LossRatio: 0.1, LossRunMax: 3, Reordered: 5, RateBitsPerSecond: 1e6,
				DelaySeconds: record.DelayTruth{Min: 0.001, Median: 0.002, P95: 0.003, P99: 0.004, Max: 0.005}},
			{Name: "others", Packets: 7},
		},
		Emulator: lab.EmulatorTruth{Bottleneck: true, Why: "it did not read 7 packets in time"},
	}
	var out bytes.Buffer
	(&session{out: &out}).printTruth(&out, truth, map[string]string{"10.0.0.1": "bob"}, lab.Window{From: 2})
	want := `link       packets  delivered  loss  queue      min   median      p99  late p99  also
bob > nat     1000        985    10      0  1.00 ms  1.50 ms  2.30 ms       0 s  2 frame error, 3 policed, 4 reordered, 1 marked
nat > bob        0          0     0      7      0 s      0 s      0 s     42 µs
adapter of nat: 3 late collisions, 1 runts
router nat: 2 mappings, 12 translated

flow                        packets    loss  run  reord      min   median      p95      p99      max         rate
tcp bob:4000 > 10.0.9.9:80       90  10.0 %    3      5  1.00 ms  2.00 ms  3.00 ms  4.00 ms  5.00 ms  1.00 Mbit/s
others                            7  0.00 %    0      0      0 s      0 s      0 s      0 s      0 s            -
flows: packets sent from 2.000 s to 9.500 s after the lab came up
Packets sent before 4.250 s are no longer known one by one, and are missing here.
The emulator was the bottleneck: it did not read 7 packets in time.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("truth (-want +got):\n%s", diff)
	}
}

func TestSplitSettings(t *testing.T) {
	for line, want := range map[string][]string{
		"":                                       nil,
		"  ":                                     nil,
		"loss=1%":                                {"loss=1%"},
		" loss=1%  delay=3ms":                    {"loss=1%", "delay=3ms"},
		"loss={every: 2, a: [1, 2]} delay=3ms\t": {"loss={every: 2, a: [1, 2]}", "delay=3ms"},
		"loss={every: 2":                         {"loss={every: 2"},
		"µ=ü ö":                                  {"µ=ü", "ö"},
	} {
		if diff := cmp.Diff(want, splitSettings(line)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", line, diff)
		}
	}
}
