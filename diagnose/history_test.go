package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/measure"
)

// Each event of a history is found by its rule, what is over after what holds on, and says what it is in whole sentences.
func TestHistory(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 4, 0, 0, time.UTC)
	level := func(v float64) analysis.Estimate { return analysis.Estimate{Value: v, Low: v, High: v, Runs: 50} }
	of := func(m measure.Metric, shape analysis.Shape, before, now float64) Changed {
		return Changed{Metric: m, Shape: shape, Before: level(before), Now: level(now), Confidence: 0.99, Last: "L", First: "F"}
	}
	event := func(changed ...Changed) Event {
		return Event{After: at.Add(-30 * time.Hour), Until: at, Changed: changed}
	}
	moved := func(e Event) Event {
		e.Route = &Moved{Text: "hop 2: x is now y", Before: 4, Now: 5, Last: "L", First: "F"}
		return e
	}
	least := of(measure.RTTMin, analysis.Step, 0.04, 0.06)
	for name, c := range map[string]struct {
		event     Event
		verdict   string
		ids       string
		says      string
		predicted float64
	}{
		"path change": {moved(event(least, of(measure.Throughput, analysis.Step, 9e6, 6e6))), "path-change", "path-change throughput-drop",
			"Since 2026-11-20 10:04 UTC traffic from a to b takes another route: hop 2: x is now y. The round trip is 60.0 ms, before 40.0 ms.", 9e6},
		"path change, and throughput fell for another reason": {moved(event(least, of(measure.Throughput, analysis.Step, 9e6, 1e6))), "path-change",
			"path-change throughput-drop", "", 0},
		"shorter":          {moved(event(of(measure.RTTMin, analysis.Step, 0.06, 0.04))), Unchanged, "path-change", "the way is shorter.", 0},
		"route alone":      {moved(event()), Unchanged, "path-change", "As far as is known the round trip is as before.", 0},
		"delay":            {event(least), "delay-step", "delay-step", "a round trip from a to b takes 60.0 ms, before 40.0 ms. The least one rose", 0},
		"queue":            {event(of(measure.RTTMedian, analysis.Step, 0.04, 0.06)), "delay-step", "delay-step", "packets wait in a queue.", 0},
		"creep":            {event(of(measure.RTTMedian, analysis.Creep, 0.04, 0.06)), "delay-creep", "delay-creep", "bit by bit from 40.0 ms, over 30.0 h", 0},
		"loss":             {event(of(measure.LossRatio, analysis.Step, 0, 0.02)), "loss-began", "loss-began", "2 % of all packets from a to b are lost, before 0 %.", 0},
		"throughput":       {event(of(measure.Throughput, analysis.Step, 9e8, 1e8)), "throughput-drop", "throughput-drop", "get 100 Mbit/s, before 900 Mbit/s.", 0},
		"all of it better": {event(of(measure.LossRatio, analysis.Step, 0.02, 0), of(measure.Throughput, analysis.Step, 1e8, 9e8)), Unchanged, "recovered", "the share of lost packets is 0 %, before 2 %; transfers get 900 Mbit/s", 0},
	} {
		h := &History{Source: "a", Target: "b", Series: []Looked{{Metric: measure.RTTMin}}, Events: []Event{c.event}}
		d := DiagnoseHistory(h)
		checkFindings(t, d)
		e := h.Events[0]
		if d.Verdict != c.verdict || strings.Join(e.Findings, " ") != c.ids || !strings.Contains(e.Sentence, c.says) {
			t.Errorf("%s: %s of %v: %q", name, d.Verdict, e.Findings, e.Sentence)
			continue
		}
		if p := d.Findings[0].Predicted; (p == nil) != (c.predicted == 0) || p != nil && p.BitsPerSecond != c.predicted {
			t.Errorf("%s: predicted %+v", name, p)
		}
	}
}

// An episode that is over is told as over.
func TestHistoryOfWhatIsOver(t *testing.T) {
	at := time.Date(2026, 11, 25, 17, 10, 0, 0, time.UTC)
	ended := at.Add(110 * time.Minute)
	level := func(v float64) analysis.Estimate { return analysis.Estimate{Value: v, Low: v, High: v, Runs: 50} }
	const when = "From 2026-11-25 17:10 to 2026-11-25 19:00 UTC "
	for want, c := range map[string]Changed{
		when + "9.1 % of all packets from a to b were lost, before 0 %. None of 131 other pairs changed at that time.":                   {Metric: measure.LossRatio, Now: level(0.091)},
		when + "transfers from a to b got 2.00 Mbit/s, before 18.0 Mbit/s. None of 131 other pairs changed at that time.":                {Metric: measure.Throughput, Before: level(18e6), Now: level(2e6)},
		when + "it was better from a to b: transfers got 18.0 Mbit/s, before 2.00 Mbit/s. None of 131 other pairs changed at that time.": {Metric: measure.Throughput, Before: level(2e6), Now: level(18e6)},
		when + "a round trip from a to b took 60.0 ms, before 40.0 ms. The least one was as before, so that the way was the same and packets waited in a queue. " +
			"None of 131 other pairs changed at that time.": {Metric: measure.RTTMedian, Before: level(0.04), Now: level(0.06)},
	} {
		c.Shape, c.Confidence = analysis.Step, 0.9
		h := &History{Source: "a", Target: "b", Series: []Looked{{}}, Events: []Event{{After: at, Until: at, Ended: &ended, Changed: []Changed{c}, Looked: 131}}}
		checkFindings(t, DiagnoseHistory(h))
		if got := h.Events[0].Sentence; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What is over is no verdict, and what holds on comes first. A history of nothing is unknown, one without a change says so.
func TestHistoryInOrder(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	level := func(v float64) analysis.Estimate { return analysis.Estimate{Value: v, Low: v, High: v, Runs: 50} }
	rose := []Changed{{Metric: measure.RTTMin, Shape: analysis.Step, Before: level(0.04), Now: level(0.06), Confidence: 0.9}}
	ended := at.Add(time.Hour)
	over, holds := Event{Until: at, Changed: rose, Ended: &ended}, Event{Until: at.Add(-time.Hour), Changed: rose,
		Pairs: []Together{{"a", "c"}}, Looked: 7, With: []string{"another configuration"},
		Shared: []analysis.Shared{{Part: analysis.Part{Kind: analysis.OnLink, Name: "x - y"}, Changed: 2, All: 2}}}
	d := DiagnoseHistory(&History{Series: []Looked{{}}, Events: []Event{over, holds}})
	if d.Verdict != "delay-step" || d.History.Events[1].Severity != "info" || !strings.HasPrefix(d.History.Events[1].Sentence, "From 2026-11-20 10:00 to 2026-11-20 11:00 UTC") {
		t.Errorf("%+v", d.History.Events)
	}
	checkFindings(t, d)
	const together = "About then: another configuration. 1 of 7 other pairs changed with it, and have in common the link x - y (2 of its 2 pairs)."
	if s := d.History.Events[0].Sentence; !strings.HasSuffix(s, together) {
		t.Errorf("%q", s)
	}
	if d := DiagnoseHistory(&History{Series: []Looked{{}}, Events: []Event{over}}); d.Verdict != Unchanged {
		t.Errorf("of what is over: %s", d.Verdict)
	}
	if d := DiagnoseHistory(&History{}); d.Verdict != Unknown {
		t.Errorf("of nothing: %s", d.Verdict)
	}
}
