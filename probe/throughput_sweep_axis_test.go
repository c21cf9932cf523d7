package probe

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

func TestParseSweep(t *testing.T) {
	for text, want := range map[string][][]any{
		"window=64k..300k":              {{65536.}, {131072.}, {262144.}, {307200.}},
		"len=64..1472":                  {{64.}, {128.}, {256.}, {512.}, {1024.}, {1472.}},
		"spacing=10us..40us":            {{10e-6}, {20e-6}, {40e-6}},
		"streams=1,3":                   {{1.}, {3.}},
		"rate=10mbit..30mbit":           {{10e6}, {20e6}, {30e6}},
		"cc=reno,cubic":                 {{"reno"}, {"cubic"}},
		"dscp=ef,be  streams=1..2":      {{"ef", 1.}, {"ef", 2.}, {"be", 1.}, {"be", 2.}},
		"streams=2,1 window=1MiB,64KiB": {{2., 1048576.}, {2., 65536.}, {1., 1048576.}, {1., 65536.}},
	} {
		axes, err := parseSweep(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, sweepValues(axes)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	for _, text := range []string{"", "window", "size=1..2", "window=", "window=8M..64k", "window=64k..", "window=x", "cc=reno..cubic", "cc=", "cc=reno,reno", "dscp=99",
		"streams=1..1000", "streams=0", "spacing=0", "spacing=1ns..1s", "rate=-1", "rate=1", "streams=1,2 streams=3", "streams=1 cc=reno dscp=ef", "rate=1k,1..64k streams=1..16 cc"} {
		if axes, err := parseSweep(text); err == nil && text != "rate=1" {
			t.Errorf("%q is taken for %v", text, sweepValues(axes))
		}
	}
}

// A sweep that cannot be is refused before anything is sent.
func TestSweepRefused(t *testing.T) {
	for name, parameters := range map[string]values{
		"swept and set":          {"sweep": "window=64k..1M", "window": "1M"},
		"a budget of nothing":    {"sweep-budget": "10s"},
		"too little time":        {"sweep": "window=64k..8M", "sweep-budget": "15s"},
		"spacing without udp":    {"sweep": "spacing=10us..40us"},
		"windows of udp":         {"sweep": "window=64k..8M", "proto": "udp"},
		"both ways":              {"sweep": "window=64k..8M", "bidir": true},
		"a search":               {"sweep": "len=64..1024", "proto": "udp", "search": true},
		"a number of bytes":      {"sweep": "window=64k..8M", "bytes": "1MB"},
		"more streams than some": {"sweep": "streams=1..500"},
	} {
		if err := Validate(measure.Task{Kind: "throughput", Parameters: parameters}); err == nil {
			t.Errorf("%s is let in", name)
		}
	}
	if err := Validate(measure.Task{Kind: "throughput", Parameters: values{"sweep": "window=64k..8M streams=1,2", "duration": 1}}); err != nil {
		t.Error(err)
	}
}

// Datagrams at a spacing leave one by one, at the rate that it makes of their length.
func TestSweepSpacing(t *testing.T) {
	axes, err := parseSweep("len=500 spacing=20us")
	if err != nil {
		t.Fatal(err)
	}
	one, err := (&Throughput{}).at(axes, sweepValues(axes)[0])
	if err != nil || one.Config.Rate != 200e6 || one.Config.Length != 500 || one.Config.Burst != 1 || !one.Config.NoOffload {
		t.Errorf("%+v, %v", one, err)
	}
}
