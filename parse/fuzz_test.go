package parse

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Whatever a program prints, and whatever rule is given: no panic, numbers are numbers, and what cannot be read is an error.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*")
	if err != nil || len(files) == 0 {
		f.Fatal("no testdata", err)
	}
	for _, name := range files {
		if text, err := os.ReadFile(name); err == nil {
			f.Add(string(text), `([\d.]+ \w+/sec)`, "$.end.sum_received.bits_per_second", "throughput", "Mbit/s")
		}
	}
	f.Add("a: 1 ms\n{\"a\":1}", "(?P<unit>a)(?P<value>b)?", "$[?(@.a == 1)]..b[*]", "a", "%")
	f.Fuzz(func(t *testing.T, text, regex, path, key, unit string) {
		for _, r := range []Rule{
			{Metric: "x_bits_per_second", Regex: regex}, {Metric: "x_seconds", JSON: path}, {Metric: "x_bytes", Key: key},
			{Metric: "x_ratio", Key: key, Unit: unit}, {Metric: "x_packets", Regex: regex, Binary: true},
		} {
			p, err := Compile([]Rule{r})
			if err != nil {
				continue
			}
			got, err := p.Read(text)
			if v, found := got[r.Metric]; found != (err == nil) || math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%+v: got %v, error %v", r, got, err)
			}
		}
	})
}

// Outputs and rules that make a careless reader take minutes, or all memory.
func TestReadIsBounded(t *testing.T) {
	fill := func(s string) string {
		out := make([]byte, 0, 2*MaxInput)
		for len(out) < 2*MaxInput {
			out = append(out, s...)
		}
		return string(out)
	}
	nested, wide, some := Rule{JSON: "$..a"}, Rule{JSON: "$[*][*][*]"}, Rule{JSON: "$[*][?(@.b == 1)]"}
	cases := []struct {
		name, text string
		rule       Rule
	}{
		{"lists that begin and never end", fill("[\n"), nested},
		{"objects in objects", fill("{\"a\":\n"), nested},
		{"texts that never end", fill("[\"a\n"), nested},
		{"documents", fill("{\"a\":[1]}\n"), nested},
		{"a list of lists", "[" + fill("[],")[:MaxInput-8] + "0]", wide},
		{"a filtered list", "[[" + fill("{},")[:MaxInput-8] + "0]]", some},
		{"digits", fill("1"), Rule{Regex: `(\d)`}},
		{"loops in loops", fill("1"), Rule{Regex: `((\d*)*)*x`}},
		{"a long number", fill("1,000"), Rule{Regex: `(.*)`}},
		{"keys", fill("a=1\n"), Rule{Key: "b"}},
		{"one line", fill("a = "), Rule{Key: "a"}},
	}
	for _, c := range cases {
		c.rule.Metric = "x_seconds"
		p := compile(t, c.rule)
		began := time.Now()
		_, err := p.Read(c.text)
		if took := time.Since(began); took > 15*time.Second { // 0.2 s at most on an idle machine
			t.Errorf("%s: took %v: %v", c.name, took, err)
		} else {
			t.Logf("%s: %v", c.name, took)
		}
	}
}
