package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/diagnose/knowledge"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// view is the report in the order in which it is read; the page and Markdown are made of it.
type view struct {
	Problem
	Title    string
	Outcome  string // one sentence
	Facts    [][2]string
	Findings []finding
	Routes   []route
	Ends     []end
	Measured []measured
	Checks   [][4]string // of the path as a part of a longer one: outcome, what, value, needed
	Parts    *parts      // of the path; nil: it was not divided
}

type finding struct {
	measure.Finding
	Title string
	Sure  string // confidence, in percent
	Shown []shown
	Then  string // the predicted rate; "": none
}

type shown struct{ Name, Value, Means string }

// route is one that a trace found.
type route struct {
	From, To string
	Hops     []hop
}

type hop struct {
	TTL       int
	Addresses string
	RTTs      string
	Reply     string
}

// end is what is known of the system at one end.
type end struct {
	Name, Address string
	Facts         [][2]string
}

// measured is one Result.
type measured struct {
	*measure.Result
	What    string
	Values  [][2]string
	Given   [][2]string
	Drawing []drawing
}

func (p Problem) view() view {
	v := view{Problem: p, Title: "Problem report"}
	if from, to := ends(p.Diagnosis.Results); to != (measure.Endpoint{}) {
		v.Title = fmt.Sprintf("Problem report: %s to %s", from.NameOrAddress(), to.NameOrAddress())
		v.Facts = append(v.Facts, [2]string{"From", both(from)}, [2]string{"To", both(to)})
	}
	v.Outcome = outcome(p.Diagnosis)
	v.Facts = append(v.Facts, facts(p.Diagnosis)...)
	for _, f := range p.Diagnosis.Findings {
		v.Findings = append(v.Findings, findingOf(f))
	}
	for _, r := range p.Diagnosis.Results {
		if len(r.Samples.Hops) > 0 {
			v.Routes = append(v.Routes, routeOf(r))
		}
		v.Measured = append(v.Measured, measuredOf(r))
	}
	v.Ends = endsOf(p)
	if v.Parts = partsOf(p.Diagnosis.Segments); v.Parts != nil {
		for _, r := range v.Parts.Results {
			one := measuredOf(r)
			one.What += ", " + r.Source.NameOrAddress() + " to " + r.Target.NameOrAddress()
			v.Measured = append(v.Measured, one)
		}
	}
	if s := p.Diagnosis.Section; s != nil {
		for _, c := range s.Checks {
			v.Checks = append(v.Checks, [4]string{string(c.Outcome), c.Name + ", " + string(c.Way),
				quantity.Format(c.Value, c.Unit), quantity.Format(c.Needed, c.Unit)})
		}
	}
	return v
}

// ends are those of the first Result that has two.
func ends(results []*measure.Result) (from, to measure.Endpoint) {
	for _, r := range results {
		if r.Target != (measure.Endpoint{}) && r.Kind != audit {
			return r.Source, r.Target
		}
	}
	return
}

func both(e measure.Endpoint) string {
	if e.Name == "" || e.Address == "" || e.Name == e.Address {
		return e.NameOrAddress()
	}
	return e.Name + " (" + e.Address + ")"
}

// outcome says in a sentence what the diagnosis is.
func outcome(d *diagnose.Diagnosis) string {
	switch d.Verdict {
	case diagnose.Healthy:
		return "Nothing that was measured makes this path slow."
	case diagnose.Unknown:
		return "No cause shows, and it cannot be said whether this path is slow."
	}
	title := d.Verdict
	if e, err := knowledge.Find(knowledge.Entries(), d.Verdict); err == nil {
		title = e.Title
	}
	return strings.TrimSuffix(title, ".") + "."
}

// facts are what the diagnosis says in numbers, and over what it was made.
func facts(d *diagnose.Diagnosis) (all [][2]string) {
	all = append(all, [2]string{"Verdict", d.Verdict})
	if d.AchievedBitsPerSecond > 0 {
		all = append(all, [2]string{"Achieved", quantity.FormatRate(d.AchievedBitsPerSecond)})
	}
	if d.ExpectedBitsPerSecond != nil {
		all = append(all, [2]string{"The narrowest link carries", quantity.FormatRate(*d.ExpectedBitsPerSecond)})
	}
	if len(d.Results) > 0 {
		first, last := d.Results[0].Started, d.Results[0].Started
		for _, r := range d.Results {
			if r.Started.Before(first) {
				first = r.Started
			}
			if r.Started.After(last) {
				last = r.Started
			}
		}
		all = append(all, [2]string{"Measured", first.UTC().Format(moment) + " to " + last.UTC().Format(moment)})
	}
	return all
}

// moment is how times are written: in UTC, for readers in any place.
const moment = "2006-01-02 15:04:05 UTC"

func findingOf(f measure.Finding) finding {
	v := finding{Finding: f, Title: f.ID, Sure: fmt.Sprintf("%.0f %%", 100*f.Confidence)}
	if e, err := knowledge.Find(knowledge.Entries(), f.ID); err == nil {
		v.Title = e.Title
	}
	for _, e := range f.Evidence {
		v.Shown = append(v.Shown, shown{e.Metric, quantity.Format(e.Value, e.Unit), e.Means})
	}
	if f.Predicted != nil {
		v.Then = quantity.FormatRate(f.Predicted.BitsPerSecond)
	}
	return v
}

func routeOf(r *measure.Result) route {
	v := route{From: both(r.Source), To: both(r.Target)}
	if r.Way == measure.Reverse {
		v.From, v.To = v.To, v.From
	}
	for _, h := range r.Samples.Hops {
		var times []string
		for _, rtt := range h.RTTSeconds {
			if rtt == nil {
				times = append(times, "no answer")
			} else {
				times = append(times, quantity.FormatSeconds(*rtt))
			}
		}
		v.Hops = append(v.Hops, hop{h.TTL, strings.Join(h.Addresses, ", "), strings.Join(times, ", "), h.Reply})
	}
	return v
}

func measuredOf(r *measure.Result) measured {
	v := measured{Result: r, What: r.Kind, Drawing: drawings(r)}
	if r.Way != "" {
		v.What += ", " + string(r.Way)
	}
	for _, m := range slices.SortedFunc(maps.Keys(r.Metrics), measure.Metric.Compare) {
		label := string(m)
		if d, known := m.Definition(); known {
			label = d.Label
		}
		v.Values = append(v.Values, [2]string{label, quantity.Format(r.Metrics[m], m.Unit())})
	}
	for _, k := range sortedKeys(r.Parameters) {
		if text, plain := given(r.Parameters[k]); plain {
			v.Given = append(v.Given, [2]string{k, text})
		}
	}
	return v
}

// given prints a parameter that is one value.
func given(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, v != ""
	case bool, float64, int, int64:
		return fmt.Sprint(v), true
	}
	return "", false
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
