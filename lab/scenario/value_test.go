package scenario

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBound(t *testing.T) {
	for text, want := range map[string]Bound{
		"12":     {"12", 12, true, noUnit},
		"-0.5":   {"-0.5", -0.5, true, noUnit},
		"9mbit":  {"9mbit", 9e6, true, inBits},
		"40ms":   {"40ms", 0.04, true, inSeconds},
		"250kB":  {"250kB", 250000, true, inBytes},
		"1%":     {"1%", 0.01, true, inRatio},
		"150%":   {"150%", 1.5, true, inRatio},
		"policy": {"policy", 0, false, noUnit},
		"true":   {"true", 0, false, noUnit},
	} {
		if diff := cmp.Diff(want, parseBound(text), cmp.AllowUnexported(Bound{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	if parseBound("NaN").isNumber {
		t.Error("NaN is a number")
	}
}

const printed = `{"verdict": "healthy", "metrics": {"rtt_min_seconds": 0.04}, "on": true,
	"list": [{"end": "sender", "v": 1, "at": 1}, {"end": "receiver", "v": 9}, {"end": "sender", "v": 4, "at": 2}]}`

func TestPath(t *testing.T) {
	var doc any
	if err := json.Unmarshal([]byte(printed), &doc); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]any{
		"verdict":                    "healthy",
		"metrics.rtt_min_seconds":    0.04,
		"list.1.v":                   9.0,
		"list.v.max":                 9.0,
		"list.count":                 3.0,
		"list[end=sender].v.sum":     5.0,
		"list[end=sender].v.median":  2.5,
		"list[end=sender].v.mean":    2.5,
		"list[end=sender,v=4].v.min": 4.0,
		"list.at.last":               2.0,
		"list.end.first":             "sender",
		"list.end":                   []any{"sender", "receiver", "sender"},
		"list[end=nobody].count":     0.0,
		"list[end=nobody].v":         []any{},
		"list.w":                     nil,
		"list.w.count":               nil,
		"metrics.loss":               nil,
		"list.7":                     nil,
		"list[end=nobody].v.max":     nil,
		"list.end.max":               nil,
		"verdict.x":                  nil,
		"verdict[a=b]":               nil,
	} {
		way, err := parsePath(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, err := way.in(doc)
		if want == nil {
			if !errors.Is(err, errNoValue) {
				t.Errorf("%s: %v, %v; want no value", text, got, err)
			}
			continue
		}
		if err != nil || !cmp.Equal(want, got) {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", ".", "a.", ".a", "a..b", "a[", "a[b", "a[b]", "a[b=c]d", "[b=c]"} {
		if way, err := parsePath(text); err == nil {
			t.Errorf("%q: read as %v", text, way)
		}
	}
}

// A program that could not be run has nothing to ask for, not even an exit status.
func TestValueOfProgram(t *testing.T) {
	over := make(chan struct{})
	close(over)
	for _, test := range []struct {
		r    *running
		path string
		want any
		err  string
	}{
		{&running{ended: over, status: 2}, "run.status", 2.0, ""},
		{&running{ended: over, document: map[string]any{"v": 1.0}}, "v", 1.0, ""},
		{&running{ended: over}, "v", nil, "printed no JSON document"},
		{&running{ended: make(chan struct{})}, "run.status", nil, "is still running"},
		{&running{ended: over, err: errors.New("not found")}, "run.status", nil, "not found"},
		{&running{ended: over, err: errors.New("not found")}, "v", nil, "not found"},
	} {
		way, err := parsePath(test.path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := test.r.value(way)
		if !cmp.Equal(test.want, got) || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, %v; want %v, error %q", test.path, got, err, test.want, test.err)
		}
	}
}

func FuzzPath(f *testing.F) {
	f.Add("list[end=sender].v.max", printed)
	f.Add("a.0.b.count", `{"a": [{"b": []}]}`)
	f.Fuzz(func(t *testing.T, text, document string) {
		var doc any
		way, err := parsePath(text)
		if err != nil || json.Unmarshal([]byte(document), &doc) != nil {
			return
		}
		if v, err := way.in(doc); err == nil && v == nil && doc != nil {
			return // a null that stands there
		} else if n, ok := v.(float64); ok && err == nil && math.IsNaN(n) {
			t.Errorf("%s in %s is no number", text, document)
		}
	})
}

func bound(text string) *Bound {
	b := parseBound(text)
	return &b
}

func TestCheck(t *testing.T) {
	text := "sen"
	for _, test := range []struct {
		e    Expect
		v    any
		ok   bool
		seen string
	}{
		{Expect{Above: bound("12mbit"), Below: bound("13mbit")}, 12.4e6, true, "12.4 Mbit/s, wanted above 12.0 Mbit/s and below 13.0 Mbit/s"},
		{Expect{Above: bound("12mbit")}, 12e6, false, "12.0 Mbit/s, wanted above 12.0 Mbit/s"},
		{Expect{Near: bound("40ms"), Within: bound("5%")}, 0.0419, true, "41.9 ms, wanted 40.0 ms and to within 5 %"},
		{Expect{Near: bound("40ms"), Within: bound("5%")}, 0.0421, false, "42.1 ms, wanted 40.0 ms and to within 5 %"},
		{Expect{Equal: bound("0")}, 0.0, true, "0, wanted 0"},
		{Expect{Equal: bound("0")}, "0", true, `"0", wanted 0`},
		{Expect{Equal: bound("true")}, true, true, "true, wanted true"},
		{Expect{Equal: bound("true")}, false, false, "false, wanted true"},
		{Expect{Verdict: "healthy"}, "healthy", true, `"healthy", wanted healthy`},
		{Expect{Verdict: "healthy"}, 1.0, false, "1, wanted healthy"},
		{Expect{Contains: &text}, "sender", true, `"sender", wanted "sen" in it`},
		{Expect{Contains: &text}, []any{"sender"}, false, `"[sender]", wanted "sen" in it`},
		{Expect{Lacks: &text}, []any{"sender"}, true, `"[sender]", wanted no "sen" in it`},
		{Expect{Lacks: &text}, "sender", false, `"sender", wanted no "sen" in it`},
		{Expect{Above: bound("1")}, "2", false, `"2", wanted above 1`},
		{Expect{Above: bound("1")}, nil, false, `"<nil>", wanted above 1`},
	} {
		seen, err := test.e.check(test.v)
		if err != nil {
			seen = err.Error()
		}
		if (err == nil) != test.ok || seen != test.seen {
			t.Errorf("%v: ok %v, %q; want %v, %q", test.v, err == nil, seen, test.ok, test.seen)
		}
	}
}
