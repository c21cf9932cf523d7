package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/diagnose/knowledge"
	"github.com/pathwise-net/pathwise/measure"
)

// findings are the claims of a judgement in the words of the knowledge base, worst first.
func (j *judgement) findings() []measure.Finding {
	all := make([]measure.Finding, 0, len(j.held))
	for _, f := range j.held {
		all = append(all, f.finding(j.subject))
	}
	return all
}

// finding returns a claim as a Finding, with the texts and the advice of the knowledge base.
func (f found) finding(s *Subject) measure.Finding {
	if !math.IsInf(f.Allows, 0) {
		s = s.with(map[Name]float64{Allowed: f.Allows})
	}
	entry := knowledge.OfFinding(f.rule.ID)
	out := measure.Finding{ID: f.rule.ID, Severity: f.Severity, Confidence: f.Confidence, Where: f.write(s, string(f.Where)),
		Evidence: []measure.Evidence{}, Advice: []measure.Advice{}, Predicted: f.predicted}
	if out.Way = s.way; s.Kind == OfWay {
		out.Way = measure.Way(s.Name)
	}
	says := f.Says
	if says == nil {
		says = []string{"main"}
	}
	var texts []string
	for _, key := range says {
		texts = append(texts, f.write(s, entry.Says[key]))
	}
	shared := f.shared(s)
	if shared {
		out.Where = s.common.place()
		texts = append(texts, s.common.text(s))
	} else if s.common != nil && f.Severity != measure.Info {
		texts = append(texts, s.common.atEnd(s, f.Where))
	}
	out.Explanation = strings.TrimSpace(strings.Join(texts, " "))
	for _, n := range f.Evidence {
		if s.Known(n) {
			out.Evidence = append(out.Evidence, f.evidence(s, n))
		}
	}
	if f.rule.Last {
		for _, r := range s.refuted {
			out.Evidence = append(out.Evidence, measure.Evidence{Metric: "allowed_bits_per_second", Value: r.allows, Unit: "bit/s",
				Means: "what " + r.id + " would leave: it is not the cause"})
		}
	}
	for _, key := range f.Advice {
		a := entry.Advice[key]
		if shared && a.Host == string(OnPath) {
			a.Host, a.Why = s.common.place(), cmp.Or(a.Common, a.Why)
		}
		out.Advice = append(out.Advice, measure.Advice{Host: f.write(s, a.Host), Command: f.write(s, a.Command), Why: f.write(s, a.Why)})
	}
	if len(out.Advice) > 1 && f.predicted != nil { // as lab/accuracy holds it to
		out.Predicted = &measure.Predicted{BitsPerSecond: f.predicted.BitsPerSecond, Basis: "after the first of these cures; " + f.predicted.Basis}
	}
	return out
}

// shared reports whether what is found on the way is at the part that it has in common with others of the mesh which are worse.
func (f found) shared(s *Subject) bool {
	return s.common != nil && f.Where == OnPath && f.Severity != measure.Info
}

// refuted is a cause that its own formula rules out.
type refuted struct {
	id     string
	allows float64 // goodput in bit/s
}

// evidence is a fact as evidence, with the Result that says so.
func (f found) evidence(s *Subject, n Name) measure.Evidence {
	fact := s.Fact(n)
	e := measure.Evidence{Metric: string(n), Value: fact.Value, Result: fact.Result}
	if d, ours := define(n); ours {
		e.Metric, e.Unit, e.Means = d.Metric, d.Unit, f.write(s, d.Means)
	} else if m, ours := measure.Metric(n).Definition(); ours {
		e.Unit, e.Means = m.Metric.Unit(), m.Label
	}
	if n == Allowed && f.Calc != "" {
		e.Means += ": " + f.Calc
	}
	return e
}

// write fills facts and words into a text of the knowledge base: each name between braces.
func (f found) write(s *Subject, text string) string {
	return named.ReplaceAllStringFunc(text, func(braced string) string {
		name := strings.Trim(braced, "{}")
		if word, given := f.Words[name]; given {
			return word
		}
		switch name {
		case "sender":
			return s.Sender
		case "receiver":
			return s.Receiver
		case "target":
			return s.Target
		case "address":
			return s.Address
		case "host":
			return s.Name
		case "common":
			return s.common.Name // only what is said where there is one names it
		}
		n := Name(name)
		switch d, ours := define(n); {
		case !ours:
			return braced
		case !s.Known(n):
			return "an unknown number"
		default:
			return inText(s.Value(n), d.Unit)
		}
	})
}

// named is a name between braces.
var named = regexp.MustCompile(`\{[a-z_]+\}`)

// told lists facts for people: each with its value, or, where a fact is yes or no, its name with or without "not".
func (s *Subject) told(names []Name) string {
	var all []string
	for _, n := range names {
		d, ours := define(n)
		switch value := s.Value(n); {
		case !ours:
			all = append(all, fmt.Sprintf("%s %g", n, value))
		case d.Unit == "" && value == 0:
			all = append(all, "not "+string(n))
		case d.Unit == "":
			all = append(all, string(n))
		default:
			all = append(all, string(n)+" "+inText(value, d.Unit))
		}
	}
	return strings.ReplaceAll(strings.Join(all, ", "), "_", " ")
}

// inText prints a value for people: sizes of packets to the byte, shares to three digits.
func inText(value float64, unit string) string {
	switch {
	case unit == "bytes" && value < tenThousand:
		return strconv.FormatFloat(value, 'f', 0, 64) + " bytes"
	case unit == "ratio":
		return strconv.FormatFloat(100*value, 'g', 3, 64) + " %"
	}
	return format(value, unit)
}

// tenThousand is the size in bytes from which on no packet of a network is: that of jumbo frames is 9,000.
const tenThousand = 10_000

// sentence returns a text with a full stop at its end, unless it has one there, or a question mark.
func sentence(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}
