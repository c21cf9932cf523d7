package notation

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pathwise-net/pathwise/document"
)

type sample struct {
	Rate  *Rate  `yaml:"rate"`
	Delay *Delay `yaml:"delay"`
	Span  *Span  `yaml:"span"`
	Ratio *Ratio `yaml:"ratio"`
	Size  *Size  `yaml:"size"`
	Inner *struct {
		Rate *Rate `yaml:"rate"`
	} `yaml:"inner"`
}

func ptr[T any](v T) *T { return &v }

func TestUnmarshal(t *testing.T) {
	var got sample
	err := Unmarshal([]byte("rate: 1.5gbit\ndelay: 12ms\nspan: 2h\nratio: 0.1%\nsize: 250kB\n"), &got)
	want := sample{Rate: ptr(Rate(1.5e9)), Delay: ptr(Delay(12 * time.Millisecond)), Span: ptr(Span(2 * time.Hour)),
		Ratio: ptr(Ratio(0.001)), Size: ptr(Size(250_000))}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// Faults say where, which key, which value, and what would be right.
func TestUnmarshalFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"rate: 0mbit", `1:7: rate: "0mbit": want a positive rate such as 100mbit or 1.5gbit`},
		{"span: 1h\ndelay: 2h", `2:8: delay: "2h": want at most 1h`},
		{"inner:\n  rate: fast", `2:9: rate: "fast": want a positive rate such as 100mbit or 1.5gbit`},
		{"ratio: [1%]", `1:8: ratio: want one value, not a list`},
		{"size: {a: 1}", `1:7: size: want one value, not a mapping; quote one with a colon`},
		{"colour: red", `1:1: unknown field "colour"`},
	} {
		var d sample
		err := Unmarshal([]byte(c.text), &d)
		var bad *document.Error
		if !errors.As(err, &bad) || bad.Error() != c.want {
			t.Errorf("%q: got  %v\nwant %s", c.text, err, c.want)
		}
	}
}

// Values print what they read.
func TestString(t *testing.T) {
	for _, text := range []string{"rate: 1.544mbit", "rate: 100mbit", "rate: 960bit", "rate: 622mbit", "delay: 1.5ms", "span: 1h30m0s",
		"ratio: 0.1%", "ratio: 100%", "ratio: 33.3333%", "size: 1500B"} {
		var d sample
		if err := Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		var got string
		switch {
		case d.Rate != nil:
			got = "rate: " + d.Rate.String()
		case d.Delay != nil:
			got = "delay: " + d.Delay.String()
		case d.Span != nil:
			got = "span: " + d.Span.String()
		case d.Ratio != nil:
			got = "ratio: " + d.Ratio.String()
		case d.Size != nil:
			got = "size: " + d.Size.String()
		}
		if got != text {
			t.Errorf("%q prints as %q", text, got)
		}
	}
	for _, r := range []Ratio{1.0 / 3, 1e-7, 0.123456789012345} {
		var d sample
		if err := Unmarshal([]byte("ratio: "+r.String()), &d); err != nil || *d.Ratio != r {
			t.Errorf("%v reads back as %v (%v)", float64(r), d.Ratio, err)
		}
	}
}
