package traffic

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/notation"
)

type file struct {
	Traffic []*Config `yaml:"traffic"`
}

func TestReadAndPrint(t *testing.T) {
	for text, want := range map[string]Config{
		"{name: background, from: ucl, to: cern, kind: constant, rate: 10mbit, size: 1000B, dscp: CS1, start: 5s, stop: 60s}": {
			Name: "background", From: "ucl", To: "cern", Kind: Constant, Rate: 10e6, Size: 1000, DSCP: 8,
			Start: notation.Span(5 * time.Second), Stop: notation.Span(time.Minute)},
		"{from: a, to: b, kind: poisson, rate: 1gbit, sizes: {40B: 50%, 576B: 25%, 1500B: 25%}}": {
			From: "a", To: "b", Kind: Poisson, Rate: 1e9, Sizes: imix()},
		"{from: a, to: b, kind: poisson, rate: 1gbit, sizes: {40B: 0.333, 576B: 0.333, 1500B: 0.333}}": {
			From: "a", To: "b", Kind: Poisson, Rate: 1e9, Sizes: Sizes{{40, 0.333}, {576, 0.333}, {1500, 0.333}}},
		"{from: a, to: b, kind: poisson, rate: 1mbit, broadcast: true}": {From: "a", To: "b", Kind: Poisson, Rate: 1e6, Broadcast: true},
		"{from: a, to: b, kind: poisson, rate: 1gbit, sizes: [{size: 576B, share: 1}]}": {
			From: "a", To: "b", Kind: Poisson, Rate: 1e9, Sizes: Sizes{{576, 1}}},
		"{from: a, to: b, kind: pareto, rate: 20mbit, on: 500ms, off: 1s, shape: 1.5, sources: 10}": {
			From: "a", To: "b", Kind: Pareto, Rate: 20e6, On: 500e6, Off: 1e9, Shape: 1.5, Sources: 10},
		"{from: a, to: b, kind: pareto, peak: 5.5mbit}": {From: "a", To: "b", Kind: Pareto, Peak: 5.5e6},
		"{from: a, to: b, kind: tcp, flows: 2, cc: cubic, bytes: 10MB, every: 2s}": {
			From: "a", To: "b", Kind: TCP, Flows: 2, CC: "cubic", Bytes: 10e6, Every: 2e9},
		`{name: "it's: 7, no", from: "1", to: "true", kind: tcp}`: {Name: "it's: 7, no", From: "1", To: "true", Kind: TCP},
	} {
		got := read(t, text)
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		if diff := cmp.Diff(&want, read(t, want.String())); diff != "" {
			t.Errorf("%s, printed as %s (-want +got):\n%s", text, want.String(), diff)
		}
		encoded, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var decoded Config
		if err := json.Unmarshal(encoded, &decoded); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, decoded); diff != "" {
			t.Errorf("%s, as JSON %s (-want +got):\n%s", text, encoded, diff)
		}
	}
}

func read(t *testing.T, text string) *Config {
	t.Helper()
	var f file
	if err := notation.Unmarshal([]byte("traffic:\n  - "+text+"\n"), &f); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return f.Traffic[0]
}

func TestBlockForm(t *testing.T) {
	var f file
	text := "traffic:\n- from: a\n  to: b\n  kind: poisson\n  rate: 1mbit\n  sizes:\n    100B: 100%\n"
	if err := notation.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	want := []*Config{{From: "a", To: "b", Kind: Poisson, Rate: 1e6, Sizes: Sizes{{100, 1}}}}
	if diff := cmp.Diff(want, f.Traffic); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFaults(t *testing.T) {
	for text, want := range map[string]string{
		"kind: udp, rate: 1mbit":                                  `kind: "udp": want constant, poisson, pareto or tcp`,
		"kind: constant":                                          "rate: missing",
		"kind: constant, rate: 10bps":                             `rate: "10bps": want a positive rate`,
		"kind: constant, rate: 1mbit, size: 10B":                  "size: 10B: want 28 to 65535 bytes",
		"kind: constant, rate: 1mbit, size: 90B, sizes: {50B: 1}": "want size or sizes, not both",
		"kind: constant, rate: 1mbit, flows: 3":                   "flows: not a key of kind constant",
		"kind: tcp, rate: 1mbit":                                  "rate: not a key of kind tcp",
		"kind: tcp, broadcast: true":                              "broadcast: not a key of kind tcp",
		"kind: tcp, cc: 'Cubic; rm'":                              `cc: "Cubic; rm": want`,
		"kind: tcp, every: 1us":                                   "every: 1µs: want at least 1ms",
		"kind: tcp, flows: 2.7":                                   `flows: "2.7": want a whole number`,
		"kind: pareto, rate: 1mbit, sources: 2.5":                 `sources: "2.5": want a whole number`,
		"kind: poisson, rate: 1mbit, sizes: {40B: 99.7%}":         "shares add up to 99.7 %",
		"kind: tcp, flows: 100000":                                "flows: 100000: want 1 to 1000",
		"kind: poisson, rate: 1mbit, sizes: {40B: 50%}":           "shares add up to 50 %",
		"kind: poisson, rate: 1mbit, sizes: {40B: 0, 50B: 1}":     "want above 0, and at most 1",
		"kind: poisson, rate: 1mbit, sizes: {40B: 1, x: 1}":       `"x": want a size`,
		"kind: poisson, rate: 1mbit, sizes: {}":                   "sizes: 0 of them",
		"kind: poisson, rate: 1mbit, sizes: 40B":                  "want sizes and shares",
		"kind: poisson, rate: 1mbit, start: 5s, stop: 5s":         "stop: 5s: want a time after start",
		"kind: pareto, rate: 1mbit, shape: 1":                     "shape: 1: want above 1",
		"kind: pareto, rate: 1mbit, peak: 1mbit":                  "want rate or peak, not both",
		"kind: pareto, rate: 1mbit, sources: 20000":               "sources: 20000: want 1 to 10000",
		"kind: pareto, rate: 1bit, on: 1ns":                       "too short for the rate",
		"kind: pareto, rate: 1mbit, dscp: gold":                   "dscp",
		"kind: pareto, rate: 1mbit, colour: red":                  "colour",
	} {
		var f file
		err := notation.Unmarshal([]byte("traffic:\n  - {from: a, to: b, "+text+"}\n"), &f)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "2:") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; want one line with line and column and %q", text, err, want)
		}
	}
	if err := (&Config{From: "a", To: "a", Kind: TCP}).Validate(); err == nil {
		t.Error("from a to a: no error")
	}
}

func FuzzRead(f *testing.F) {
	f.Add("{from: a, to: b, kind: constant, rate: 10mbit, size: 1000B, dscp: CS1, start: 5s}")
	f.Add("{from: a, to: b, kind: poisson, rate: 1gbit, sizes: {40B: 50%, 576B: 50%}}")
	f.Add("{from: a, to: b, kind: pareto, rate: 1gbit, sizes: [{size: 40B, share: 100%}]}")
	f.Add("{from: a, to: b, kind: tcp, every: 1s}")
	f.Fuzz(func(t *testing.T, text string) {
		var first, second file
		if notation.Unmarshal([]byte("traffic:\n  - "+text+"\n"), &first) != nil || len(first.Traffic) != 1 || first.Traffic[0] == nil {
			return
		}
		c := first.Traffic[0]
		if err := notation.Unmarshal([]byte("traffic:\n  - "+c.String()+"\n"), &second); err != nil {
			t.Fatalf("%q is printed as %s: %v", text, c, err)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("%q is printed as %s (-first +second):\n%s", text, c, diff)
		}
		g, last := New(c, 1, 0), int64(0)
		for range 100 {
			at, _, ok := g.Next()
			if ok && at < last {
				t.Fatalf("%q: time goes from %d to %d", text, last, at)
			}
			last = at
		}
	})
}
