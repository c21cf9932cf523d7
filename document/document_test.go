package document

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const most = 2 << 20

// Whatever the text, reading it takes little. In the first column is what one that is twice as long would only repeat.
func TestCostOfYAML(t *testing.T) {
	repeated := func(part, end string) string { return strings.Repeat(part, (most-64)/len(part)) + end }
	for part, text := range map[string]string{
		"[":        repeated("[", ""),
		"[]":       strings.Repeat("[", most/2) + strings.Repeat("]", most/2),
		"few [":    strings.Repeat("[", MaxDepth+1),
		"{a: ":     repeated("{a: ", ""),
		"- ":       repeated("- ", "x"),
		"few - ":   strings.Repeat("- ", 10_000) + "x",
		"? ":       repeated("? ", "x"),
		"a: ":      repeated("a: ", "x"),
		"&a ":      repeated("&a ", "x"),
		"!a ":      repeated("!a ", "x"),
		"few !a ":  strings.Repeat("!a ", 10_000) + "x",
		"#":        repeated("#\n", ""),
		"a,":       "[" + repeated("a,", "a]"),
		"few a,":   "[" + strings.Repeat("a,", maxNodes/4) + "a]",
		"*a,":      "- &a b\n- [" + repeated("*a,", "x]"),
		"---":      repeated("---\n", ""),
		"\"":       "\"" + repeated("\\n", "\""),
		"| ":       "a: |\n" + repeated(" x\n", ""),
		"\n":       repeated("\n", ""),
		"laughs":   laughs(9),
		"indented": indented(1500),
		"itself":   "a: &a [*a, *a]",
		"renamed":  "a: &a [1]\nb: &b [*a, *a]\nc: &a [*b, *b]",
	} {
		var into any
		bytes := allocated(func() { _ = StrictYAML([]byte(text), most, &into) })
		if bytes > 300<<20 {
			t.Errorf("%s: %d MB taken", part, bytes>>20)
		}
	}
}

// laughs is the text of a few lines of which each stands for ten times the one before.
func laughs(lines int) string {
	text := "a0: &a0 [x]\n"
	for i := range lines {
		from, to := string(rune('0'+i)), string(rune('1'+i))
		text += "a" + to + ": &a" + to + " [" + strings.Repeat("*a"+from+", ", 9) + "*a" + from + "]\n"
	}
	return text
}

func indented(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// allocated is how many bytes a function takes in all.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestYAMLBounds(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for text, want := range map[string]string{
		deep(MaxDepth):                              "",
		deep(MaxDepth + 1):                          "1:65: nested too deep: want at most 64 lists and mappings in each other",
		strings.Repeat("- ", MaxDepth) + "a":        "",
		strings.Repeat("- ", MaxDepth+1) + "a":      "1:129: nested too deep: want at most 64 lists and mappings in each other",
		indented(MaxDepth):                          "",
		indented(MaxDepth + 1):                      "65:66: nested too deep: want at most 64 lists and mappings in each other",
		strings.Repeat("- [a]\n", 1000):             "",
		strings.Repeat("a: {b: c}\n---\n", 2):       "3:2: want one document, not several",
		`{a: "` + strings.Repeat("[", 100) + `"}`:   "",
		"a: &a [1, 2]\nb: *a":                       "",
		laughs(3):                                   "",
		laughs(9):                                   "too many values: want at most 524288, with those that aliases stand for",
		"a: &a [*a]":                                `1:8: alias "a": want the name of an anchor before it`,
		"a: &a 1\nb: &a 2":                          `2:4: anchor "a": want each anchor once`,
		"a: *b":                                     `1:4: alias "b": want the name of an anchor before it`,
		strings.Repeat("x", most+1):                 "too large: want at most 2097152 bytes",
		"[" + strings.Repeat("a,", maxNodes) + "a]": "too many values: want at most 524288, with those that aliases stand for",
		"": "", "null": "", "# nothing\n": "", "---\n": "",
	} {
		var into any
		got := ""
		if err := StrictYAML([]byte(text), most, &into); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%.40q: got %q, want %q", text, got, want)
		}
	}
}

// Keys are known at every level: in what is inlined, in lists and mappings, behind pointers and anchors.
func TestUnknownKeys(t *testing.T) {
	type leaf struct {
		Delay string `yaml:"delay"`
		Reach string
	}
	type Inlined struct {
		Queue string `yaml:"queue"`
	}
	type whole struct {
		Inlined `yaml:",inline"`
		Leaf    *leaf            `yaml:"leaf"`
		Leaves  []leaf           `yaml:"leaves"`
		Named   map[string]*leaf `yaml:"named"`
		At      time.Time        `yaml:"at"`
		Hidden  string           `yaml:"-"`
	}
	for text, want := range map[string]string{
		"{queue: a, leaf: {delay: b, reach: c}, leaves: [{delay: d}], named: {x: {delay: e}}}": "",
		"quueue: a":                       `1:1: unknown field "quueue"; did you mean queue?`,
		"leaf: {dealy: a}":                `1:8: unknown field "dealy"; did you mean delay?`,
		"leaves:\n- {raech: a}":           `2:4: unknown field "raech"; did you mean reach?`,
		"named: {y: {delay: a, dely: b}}": `1:23: unknown field "dely"; did you mean delay?`,
		"leaf: &a {dealy: a}":             `1:11: unknown field "dealy"; did you mean delay?`,
		"colour: a":                       `1:1: unknown field "colour"`,
		"hidden: a":                       `1:1: unknown field "hidden"`,
		"zzz: 1\nyyy: 2":                  `1:1: unknown field "zzz"`,
	} {
		got := ""
		if err := StrictYAML([]byte(text), most, new(whole)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"address", "interfaces", "online", "reach", "a", "b", "loss", "rate", "mtu", "limits", "asn", "json"}
	for written, want := range map[string]string{
		"adress": "address", "raech": "reach", "Reach": "reach", "interface": "interfaces", "c": "",
		"zzz": "", "": "", "reachable": "", "onlin": "online",
		"hosts": "", "tare": "rate", "raet": "rate", "rated": "rate", "date": "rate", "most": "", "umt": "mtu", "limit": "limits", "links": "", "jsno": "json",
	} {
		if got := Nearest(written, names); got != want {
			t.Errorf("%q: got %q, want %q", written, got, want)
		}
	}
}

func TestJSONBounds(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for text, want := range map[string]string{
		deep(MaxDepth):     "",
		deep(MaxDepth + 1): "nested too deep: want at most 64 lists and mappings in each other",
		strings.Repeat(`{"a":`, 1000) + "1" + strings.Repeat("}", 1000): "nested too deep: want at most 64 lists and mappings in each other",
		`["` + strings.Repeat(`[\"`, 100) + `"]`:                        "",
		`"` + strings.Repeat("x", 1000) + `"`:                           "too large: want at most 1000 bytes",
	} {
		var into any
		limit := len(text)
		if strings.Contains(want, "large") {
			limit = 1000
		}
		for name, read := range map[string]func() error{
			"JSON":     func() error { return JSON([]byte(text), limit, &into) },
			"ReadJSON": func() error { return ReadJSON(strings.NewReader(text), limit, &into) },
		} {
			got := ""
			if err := read(); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("%s of %.40q: got %q, want %q", name, text, got, want)
			}
		}
	}
}

// A Stream has a bound for each document, not for all.
func TestStream(t *testing.T) {
	s := NewStream(strings.NewReader(strings.Repeat(`{"a": 12345678}`+"\n", 1000)), 20)
	n := 0
	for ; ; n++ {
		got := map[string]int{}
		err := s.Next(&got)
		if errors.Is(err, io.EOF) {
			break
		}
		if diff := cmp.Diff(map[string]int{"a": 12345678}, got); err != nil || diff != "" {
			t.Fatalf("document %d: %v\n%s", n, err, diff)
		}
	}
	if n != 1000 {
		t.Errorf("%d documents, want 1000", n)
	}
	endless := io.MultiReader(strings.NewReader(`[1] ["`), endless{})
	s = NewStream(endless, 1<<20)
	var into any
	if err := s.Next(&into); err != nil {
		t.Fatal(err)
	}
	var bad *Error
	taken := allocated(func() {
		if err := s.Next(&into); !errors.As(err, &bad) {
			t.Errorf("a document without end: %v, want an *Error", err)
		}
	})
	if taken > 16<<20 {
		t.Errorf("a document without end took %d MB", taken>>20)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return copy(b, bytes.Repeat([]byte("x"), len(b))), nil }

func FuzzYAML(f *testing.F) {
	for _, text := range []string{"a: [b, {c: d}]", laughs(3), "- &a b\n- *a", "? a\n: b", "!x {<<: *y}", "[" + indented(5)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var into map[string]any
		if len(text) < 10_000 && allocated(func() { _ = StrictYAML(text, 10_000, &into) }) > 300<<20 {
			t.Errorf("%d bytes took more than 300 MB", len(text))
		}
	})
}

func TestLocate(t *testing.T) {
	text := []byte("hosts:\n  a: {}\nlinks:\n  - {between: [a]}\n  - {between: [b]}\n")
	for _, c := range []struct{ path, want string }{
		{"links[1]", "5:5: x"},
		{"links[1].rate", "5:5: x"}, // not there: the nearest around it
		{"links[7]", "4:3: x"},
		{"hosts.a", "2:6: x"},
		{"nowhere", "1:1: x"},
		{"", "1:1: x"},
	} {
		if got := Locate(text, 1<<10, About(c.path, "x")).Error(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.path, got, c.want)
		}
	}
	placed := &Error{Line: 3, Column: 4, Problem: "x"}
	if got := Locate(text, 1<<10, placed); got != placed {
		t.Errorf("a placed error was placed anew: %v", got)
	}
}
