package link

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/pathwise-net/pathwise/document"
)

// Trace is a rate that varies, in mahimahi's form (R. Netravali et al., "Mahimahi: Accurate Record-and-Replay for
// HTTP", USENIX ATC 2015; mm-link(1)): the times at which a link could send 1500 bytes. After the last it begins anew,
// with the last as time 0. An opportunity that finds nothing to send is lost; a small packet leaves room for the next,
// and a large one takes several. Sizes are those of IP packets, unless an overhead is set.
//
//	trace: cell.trace                         or {file: cell.trace}: one time in milliseconds a line
//	trace: {opportunities: [1, 5, 9]}
//	trace: none                               no longer
//
// The zero value is none. Whoever reads a lab file fills in the opportunities of a trace that names a file, by
// Shape.ReadFiles.
type Trace struct {
	File          string  `yaml:"file" json:"file,omitempty"`
	Opportunities []int64 `yaml:"opportunities" json:"opportunities,omitempty"` // milliseconds, in order
}

// Bounds of a trace: a day at 1 Gbit/s is far below the first, and the second keeps nanoseconds in an int64.
const (
	maxOpportunities = 1 << 26
	maxMilliseconds  = 1_000_000_000
	opportunityBytes = 1500
)

func (t Trace) none() bool { return t.File == "" && len(t.Opportunities) == 0 }

func (t Trace) String() string {
	switch {
	case t.none():
		return "none"
	case t.File != "":
		return fmt.Sprintf("{file: %s}", strconv.QuoteToASCII(t.File))
	}
	text := fmt.Appendf(nil, "{opportunities: [%d", t.Opportunities[0])
	for _, o := range t.Opportunities[1:] {
		text = fmt.Appendf(text, ", %d", o)
	}
	return string(text) + "]}"
}

// Validate returns what is wrong, as a *document.Error.
func (t *Trace) Validate() error {
	n := len(t.Opportunities)
	if n == 0 {
		return nil
	}
	if n > maxOpportunities {
		return document.Errorf("opportunities: %d; want at most %d", n, maxOpportunities)
	}
	before := int64(0)
	for i, o := range t.Opportunities {
		if o < before || o > maxMilliseconds {
			return document.Errorf("opportunities: number %d: %d: want milliseconds from %d, the one before, to %d",
				i+1, o, before, maxMilliseconds)
		}
		before = o
	}
	if before == 0 {
		return document.Errorf("opportunities: the last is 0; want 1 or more, the milliseconds after which the trace begins anew")
	}
	return nil
}

// UnmarshalYAML reads a file's name, "none" or a mapping.
func (t *Trace) UnmarshalYAML(node ast.Node) error {
	const want = "want {file: cell.trace}, {opportunities: [1, 5, 9]} or none"
	if text, ok := document.Scalar(node); ok {
		if text == "" {
			return document.At(node, document.Errorf("%q: %s", text, want))
		}
		*t = Trace{File: text}
		if text == "none" {
			*t = Trace{}
		}
		return nil
	}
	var full struct {
		File          string         `yaml:"file"`
		Opportunities []milliseconds `yaml:"opportunities"`
	}
	if err := document.Decode(node, &full); err != nil {
		return err
	}
	if (full.File == "") == (len(full.Opportunities) == 0) {
		return document.At(node, document.Errorf(want))
	}
	v := Trace{File: full.File}
	for _, o := range full.Opportunities {
		v.Opportunities = append(v.Opportunities, int64(o))
	}
	if err := v.Validate(); err != nil {
		return document.At(node, err)
	}
	*t = v
	return nil
}

// milliseconds is an opportunity while it is read: the decoder would take 1.5 for 1.
type milliseconds int64

func (m *milliseconds) UnmarshalYAML(node ast.Node) error {
	text, _ := document.Scalar(node)
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return document.At(node, document.Errorf("%q: want whole milliseconds", clip(text)))
	}
	*m = milliseconds(v)
	return nil
}

// ReadTrace reads a packet-delivery trace: one time in milliseconds a line, none before the one above it. Blank lines
// are skipped. Errors are *document.Error with the line; the caller adds the file's name.
func ReadTrace(r io.Reader) (*Trace, error) {
	var t Trace
	lines := bufio.NewScanner(r)
	for line := 1; lines.Scan(); line++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		v, err := strconv.ParseInt(text, 10, 64)
		before := int64(0)
		if n := len(t.Opportunities); n > 0 {
			before = t.Opportunities[n-1]
		}
		switch {
		case err != nil || v < 0 || v > maxMilliseconds:
			return nil, traceFault(line, fmt.Sprintf("%q: want milliseconds, 0 to %d", clip(text), maxMilliseconds))
		case v < before:
			return nil, traceFault(line, fmt.Sprintf("%q: want %d or more, the time of the line before", text, before))
		case len(t.Opportunities) == maxOpportunities:
			return nil, traceFault(line, fmt.Sprintf("want at most %d opportunities", maxOpportunities))
		}
		t.Opportunities = append(t.Opportunities, v)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read trace: %w", err)
	}
	if len(t.Opportunities) == 0 {
		return nil, document.Errorf("no opportunity; want one time in milliseconds a line")
	}
	if err := t.Validate(); err != nil {
		return nil, err
	}
	return &t, nil
}

func traceFault(line int, problem string) error {
	return &document.Error{Line: line, Column: 1, Problem: problem}
}

// clip keeps a message to one short line whatever the file holds.
func clip(text string) string {
	const most = 40
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}

// rate returns the mean in bit/s.
func (t *Trace) rate() float64 {
	last := t.Opportunities[len(t.Opportunities)-1]
	return float64(len(t.Opportunities)*opportunityBytes*8) / (float64(last) / 1000)
}

// opportunities is a Trace at work: where in it the link is.
type opportunities struct {
	times []int64 // milliseconds
	base  int64   // when the current round began
	index int     // the next one in it
}

func (t *Trace) start(now int64) *opportunities {
	if t == nil || len(t.Opportunities) == 0 {
		return nil
	}
	return &opportunities{times: t.Opportunities, base: now}
}

const nanosecondsPerMillisecond = 1_000_000

func (o *opportunities) next() int64 { return o.base + o.times[o.index]*nanosecondsPerMillisecond }

func (o *opportunities) use() {
	o.index++
	if o.index == len(o.times) {
		o.base += o.times[o.index-1] * nanosecondsPerMillisecond
		o.index = 0
	}
}

// skip passes over what lies before t.
func (o *opportunities) skip(t int64) {
	if o.next() >= t {
		return
	}
	round := o.times[len(o.times)-1] * nanosecondsPerMillisecond
	if t > o.base+round {
		// To the round whose last opportunity is at t or later.
		o.base += (t - o.base - 1) / round * round
		o.index = 0
	}
	after := (t - o.base + nanosecondsPerMillisecond - 1) / nanosecondsPerMillisecond
	found, _ := slices.BinarySearch(o.times[o.index:], after)
	o.index += found
}
