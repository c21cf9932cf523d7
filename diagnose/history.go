package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/measure"
)

// Unchanged is the verdict on a history in which nothing changed. It does not say that the path is healthy.
const Unchanged = "unchanged"

// History is what is known of the past of a pair: what changed in it, and what changed at the same times.
type History struct {
	Source string    `json:"source"`
	Target string    `json:"target"`
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
	Series []Looked  `json:"series" doc:"What was looked at"`
	Events []Event   `json:"events" doc:"What holds on first, then the newest first"`
	// Via is nil where no other host is known by which a round trip is possible.
	Via *Via `json:"via,omitempty" doc:"The other host by which a round trip would be the shortest, as measured of late"`
}

// Looked is a series that was looked at for changes.
type Looked struct {
	Metric      measure.Metric `json:"metric"`
	Tool        string         `json:"tool"`
	Runs        int            `json:"runs"`
	StepSeconds float64        `json:"step_seconds" doc:"Runs of so long a time stand together"`
}

// Event is what changed at one time.
type Event struct {
	After time.Time `json:"after" doc:"The last run that was as before"`
	Until time.Time `json:"until" doc:"The first run that was not; of a creep, when it ended"`
	// Ended is when what is measured was as before, nil: it is so until now.
	Ended    *time.Time `json:"ended"`
	Findings []string   `json:"findings" doc:"IDs of what it was"`
	Severity string     `json:"severity" enum:"info,warning,problem"`
	Sentence string     `json:"sentence" doc:"All of it, for people; times are UTC"`
	Together string     `json:"together" doc:"The part of it that says what else changed then; empty: nothing did, as far as is known"`
	Changed  []Changed  `json:"changed"`
	Route    *Moved     `json:"route,omitempty"`
	With     []string   `json:"with" doc:"What else happened about then: configurations, findings of diagnoses"`
	Pairs    []Together `json:"pairs" doc:"Other pairs that changed the same way then"`
	Looked   int        `json:"looked" doc:"Of how many other pairs it is known"`
	// Shared are what explains this pair and the others, the fewest.
	Shared []analysis.Shared `json:"shared" doc:"What the pairs that changed have in common and the others do not"`
}

// Together is another pair that changed with this one.
type Together struct {
	Source string `json:"source"`
	Target string `json:"target"`
}

// Changed is a metric that has another level.
type Changed struct {
	Metric     measure.Metric    `json:"metric"`
	Shape      analysis.Shape    `json:"shape" enum:"step,creep"`
	Before     analysis.Estimate `json:"before"`
	Now        analysis.Estimate `json:"now"`
	Confidence float64           `json:"confidence"`
	Last       string            `json:"last,omitempty" doc:"ID of the last Result before"`
	First      string            `json:"first,omitempty" doc:"ID of the first Result after"`
}

// Moved is another route.
type Moved struct {
	Text   string `json:"text" doc:"What differs"`
	Before int    `json:"before" doc:"Hops"`
	Now    int    `json:"now"`
	Last   string `json:"last"`
	First  string `json:"first"`
}

// DiagnoseHistory draws findings from what changed, and fills in what each event comes to. The verdict is the first finding that makes
// the path worse, of what holds on before what is over; Unchanged where nothing did, and Unknown where nothing could be looked at.
func DiagnoseHistory(h *History) *Diagnosis {
	d := &Diagnosis{Schema: Schema, Verdict: Unknown, Findings: []measure.Finding{}, Results: []*measure.Result{}, Notes: []string{},
		History: h}
	if len(h.Series) > 0 {
		d.Verdict = Unchanged
	}
	slices.SortStableFunc(h.Events, func(a, b Event) int {
		over := func(e Event) int {
			if e.Ended != nil {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(over(a), over(b)), b.Until.Compare(a.Until))
	})
	for i := range h.Events {
		d.addEvent(h, &h.Events[i])
	}
	if j := h.detourOf(); j != nil {
		d.Considered = append(d.Considered, j.considered...)
		d.Findings = append(d.Findings, j.findings()...)
	}
	if f := d.First(); f != nil {
		d.Verdict = f.ID
	}
	return d
}

// addEvent adds the findings of an event. What is over makes nothing slow now.
func (d *Diagnosis) addEvent(h *History, e *Event) {
	j := judge(rules, e.subject(h.Source, h.Target))
	d.Considered = append(d.Considered, j.considered...)
	e.Findings, e.Severity = []string{}, string(measure.Info)
	for i, f := range j.findings() {
		if e.Ended != nil {
			f.Severity, f.Predicted = measure.Info, nil
		}
		if i == 0 {
			e.Severity = string(f.Severity)
		}
		e.Findings = append(e.Findings, f.ID)
		e.Sentence += f.Explanation + " "
		d.Findings = append(d.Findings, f)
	}
	e.Together = e.together()
	e.Sentence = strings.TrimSpace(e.Sentence + e.Together)
}

// OfEvent is of what changed between two hosts at one time.
const OfEvent Kind = "event"

// Facts about an event.
const (
	LeastDelayBefore Name = "least_delay_before"
	LeastDelayAfter  Name = "least_delay_after"
	UsualDelayBefore Name = "usual_delay_before"
	UsualDelayAfter  Name = "usual_delay_after"
	LossBefore       Name = "loss_before"
	LossAfter        Name = "loss_after"
	RateBefore       Name = "rate_before"
	RateAfter        Name = "rate_after"
	HopsBefore       Name = "hops_before"
	HopsAfter        Name = "hops_after"
	CreepTakes       Name = "creep_takes" // s; known of a creep alone
)

var eventDefinitions = []definition{
	{Name: LeastDelayBefore, Metric: "rtt_min_seconds", Unit: "s", Means: "least round trip before"},
	{Name: LeastDelayAfter, Metric: "rtt_min_seconds", Unit: "s", Means: "least round trip since"},
	{Name: UsualDelayBefore, Metric: "rtt_median_seconds", Unit: "s", Means: "usual round trip before"},
	{Name: UsualDelayAfter, Metric: "rtt_median_seconds", Unit: "s", Means: "usual round trip since"},
	{Name: LossBefore, Metric: "loss_ratio", Unit: "ratio", Means: "lost of all packets before"},
	{Name: LossAfter, Metric: "loss_ratio", Unit: "ratio", Means: "lost of all packets since"},
	{Name: RateBefore, Metric: "throughput_bits_per_second", Unit: "bit/s", Means: "usual throughput before"},
	{Name: RateAfter, Metric: "throughput_bits_per_second", Unit: "bit/s", Means: "usual throughput since"},
	{Name: HopsBefore, Metric: "hop_count", Unit: "hops", Means: "length of the route before"},
	{Name: HopsAfter, Metric: "hop_count", Unit: "hops", Means: "length of the route since"},
	{Name: CreepTakes, Metric: "creep_seconds", Unit: "s", Means: "how long the change took"},
}

// eventFacts are the facts of a metric: before and after.
var eventFacts = map[measure.Metric][2]Name{
	measure.RTTMin: {LeastDelayBefore, LeastDelayAfter}, measure.RTTMedian: {UsualDelayBefore, UsualDelayAfter},
	measure.LossRatio: {LossBefore, LossAfter}, measure.Throughput: {RateBefore, RateAfter},
}

// subject is an event as rules see it.
func (e *Event) subject(source, target string) *Subject {
	s := &Subject{Kind: OfEvent, Sender: source, Receiver: target, Target: target, event: e}
	for _, c := range e.Changed {
		names := eventFacts[c.Metric]
		s.set(names[0], Fact{Value: c.Before.Value, Low: c.Before.Low, High: c.Before.High, Result: c.Last})
		s.set(names[1], Fact{Value: c.Now.Value, Low: c.Now.Low, High: c.Now.High, Result: c.First})
		if c.Shape == analysis.Creep {
			takes := e.Until.Sub(e.After).Seconds()
			s.set(CreepTakes, Fact{Value: takes, Low: takes, High: takes})
		}
	}
	if r := e.Route; r != nil {
		s.set(HopsBefore, Fact{Value: float64(r.Before), Low: float64(r.Before), High: float64(r.Before), Result: r.Last})
		s.set(HopsAfter, Fact{Value: float64(r.Now), Low: float64(r.Now), High: float64(r.Now), Result: r.First})
	}
	return s
}

// sure is how sure the changes of some metrics are, the surest.
func (e *Event) sure(metrics ...measure.Metric) (confidence float64) {
	for _, c := range e.Changed {
		if slices.Contains(metrics, c.Metric) {
			confidence = max(confidence, c.Confidence)
		}
	}
	return confidence
}

// words are what texts about an event name beside facts. What is over is told as over.
func (e *Event) words() map[string]string {
	words := map[string]string{"since": e.when(), "are": "are", "is": "is", "takes": "takes", "get": "get", "wait": "wait"}
	if e.Ended != nil {
		maps.Copy(words, map[string]string{"are": "were", "is": "was", "takes": "took", "get": "got", "wait": "waited"})
	}
	if e.Route != nil {
		words["route"] = e.Route.Text
	}
	return words
}

// toMinute is how times are told.
const toMinute = "2006-01-02 15:04"

// when says since when, or from when until when, an event holds.
func (e *Event) when() string {
	at := e.Until.UTC()
	if slices.ContainsFunc(e.Changed, func(c Changed) bool { return c.Shape == analysis.Creep }) {
		at = e.After.UTC() // when it began
	}
	if e.Ended != nil {
		return fmt.Sprintf("From %s to %s UTC", at.Format(toMinute), e.Ended.UTC().Format(toMinute))
	}
	return fmt.Sprintf("Since %s UTC", at.Format(toMinute))
}
