package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
)

func TestReadTraces(t *testing.T) {
	want := []string{"10.0.0.2", "", "10.0.2.2"}
	for name, c := range map[string]struct {
		read    func(string) ([]string, error)
		printed string
	}{
		"traceroute": {readTraceLines, "traceroute to 10.0.2.2 (10.0.2.2), 30 hops max, 60 byte packets\n 1  10.0.0.2  2.030 ms  2.021 ms  2.015 ms\n 2  * * *\n 3  10.0.2.2  6.0 ms  6.0 ms *\n"},
		"mtr":        {readTraceLines, "Start: 2026-11-28T09:56:02+0000\nHOST: a   Loss%   Snt\n  1.|-- 10.0.0.2   0.0%     3\n  2.|-- ???   100.0     3\n  3.|-- 10.0.2.2   0.0%     3\n"},
		"scamper":    {readTraceLines, "traceroute from 10.0.0.1 to 10.0.2.2\n 1  10.0.0.2  2.043 ms\n 2  * * *\n 3  10.0.2.2  6.007 ms\n"},
		"pathwise": {readPathwiseTrace, `{"schema":"pathwise.result/2","samples":{"hops":[{"ttl":1,"addresses":["10.0.0.2"],"rtt_seconds":[]},
			{"ttl":2,"addresses":[],"rtt_seconds":[]},{"ttl":3,"addresses":["10.0.2.2"],"rtt_seconds":[]}]}}`},
	} {
		got, err := c.read(c.printed)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
		if _, err := c.read("{}"); err == nil {
			t.Errorf("%s: hops of nothing", name)
		}
	}
	if _, err := readTraceLines(" 1  10.0.0.2 1 ms\n 3  10.0.2.2  6.0 ms\n"); err == nil {
		t.Error("a hop is missing, and nothing is said")
	}
}

func TestTraceSpec(t *testing.T) {
	for _, p := range tracePaths {
		spec, err := lab.ParseSpec("trace", []byte(p.spec()))
		if err != nil || len(spec.Routers) != p.hops-1 || len(spec.Links) != p.hops || p.silent > 0 && !spec.Routers[p.silent-1].Silent {
			t.Errorf("%v: %v, %d routers, %d links", p, err, len(spec.Routers), len(spec.Links))
		}
	}
}
