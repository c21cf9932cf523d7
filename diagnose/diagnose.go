// Package diagnose says why a path is slow: Results in, findings out.
//
// It sends nothing itself. Rules are pure functions of Results: the same Results give the same Diagnosis. What they cannot know from them they
// leave out; a prediction names what it rests on. Executor alone runs steps, by a function that its caller gives.
//
// Results become facts (facts.go, gather.go, derive.go), each about a Subject: one way of the path, the path, the transactions or a connection of
// a program, a host, or what changed. Rules, a
// file each, look for one cause each in the facts of one subject (rule.go); what a finding says stands in the knowledge base.
// Facts that would tell causes apart ask for further steps (plan.go), which one executor makes. The first finding
// that is a warning or a problem is the verdict.
package diagnose

import (
	"fmt"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
)

// Schema names the JSON layout of a Diagnosis.
const Schema = "pathwise.diagnosis/1"

// Verdicts that are no finding's ID.
const (
	Healthy = "healthy" // no finding is a warning or a problem, and the path is known to carry what it can, or nearly
	Unknown = "unknown" // nothing that was found makes the path slow, and it cannot be said that it is not
)

// Diagnosis is what Results say about a path. Expected and achieved are goodput from the caller to the target, in
// bit/s; Expected is what the narrowest link can carry of TCP payload, nil where its capacity is not known.
type Diagnosis struct {
	Schema                string            `json:"schema"`
	Verdict               string            `json:"verdict"`
	Findings              []measure.Finding `json:"findings"`
	Results               []*measure.Result `json:"results"`
	ExpectedBitsPerSecond *float64          `json:"expected_bits_per_second"`
	AchievedBitsPerSecond float64           `json:"achieved_bits_per_second"`
	Notes                 []string          `json:"notes"`                // what limits how far all this can be trusted
	Section               *Section          `json:"section,omitempty"`    // of a longer path; nil: that was not asked
	Acceptance            *Acceptance       `json:"acceptance,omitempty"` // of a rate; nil: that was not asked
	Segments              *Parts            `json:"segments,omitempty"`   // of the path; nil: that was not asked
	Before                []*measure.Result `json:"before,omitempty"`     // earlier ones, which it is compared with
	History               *History          `json:"history,omitempty"`    // of what an archive holds; nil: it is of Results of now

	Considered []Considered `json:"-"` // what came of every rule
}

// Diagnose draws findings from Results. Those of kinds that no reader or rule names are kept and not used. Forward findings come first,
// worst first within a way. A path of which one way could not be measured is not called healthy for the other.
func Diagnose(results []*measure.Result) *Diagnosis {
	return diagnoseBy(rules, gather(results), results)
}

func diagnoseBy(rules []Rule, g *gathering, results []*measure.Result) *Diagnosis {
	d := &Diagnosis{Schema: Schema, Verdict: Unknown, Findings: []measure.Finding{}, Results: results, Notes: []string{}}
	for _, s := range g.subjects() {
		d.add(s, g)
		j := judge(rules, s)
		d.Findings = append(d.Findings, j.findings()...)
		d.Considered = append(d.Considered, j.considered...)
	}
	d.settingsCured(g.hosts)
	failed := g.failed()
	d.Notes = append(d.Notes, append(failed, fileFailed(results)...)...)
	switch f := d.First(); {
	case f != nil:
		d.Verdict = f.ID
	case g.measured() && len(failed) == 0 && !slices.ContainsFunc(d.Findings, func(f measure.Finding) bool { return f.ID == capacityUnknown.ID }):
		d.Verdict = Healthy
	}
	return d
}

// add adds what was achieved on a way, and what could be: of the way to the target, or of the way back where that alone was measured.
func (d *Diagnosis) add(s *Subject, g *gathering) {
	if s.Kind == OfWay && (s.Name == measure.Forward || !g.ways[measure.Forward].Known(Stuck)) {
		d.AchievedBitsPerSecond = s.Value(Goodput)
		if s.Known(PayloadCapacity) {
			expected := max(s.Value(PayloadCapacity), s.Value(Goodput)) // a goodput may be above the capacity by what that may be off
			d.ExpectedBitsPerSecond = &expected
		}
	}
	if s.shaped != "" && s.Kind == OfWay {
		d.Notes = append(d.Notes, fmt.Sprintf("capacity, %s: %s", s.Name, s.shaped))
	}
	if s.exceeded {
		d.Notes = append(d.Notes, fmt.Sprintf("capacity, %s: left out, for %s", s.Name, s.Fact(Capacity).Unknown))
	}
}

// Measured reports whether the Results hold a transfer, without which nothing can be said about the path: one that moved data,
// or one whose connection opened and on which nothing came through.
func Measured(results []*measure.Result) bool { return gather(results).measured() }

// IsStuck reports whether a connection opened and nothing came through on it. What such a transfer fails for is the path.
func IsStuck(results []*measure.Result) bool {
	g := gather(results)
	return g.ways[measure.Forward].Is(Stuck) || g.ways[measure.Reverse].Is(Stuck)
}

// First returns the finding that is the verdict, nil if no finding makes the path slow: the first that is a warning or a problem. An unexplained
// one of the way back is the verdict only if no later finding is a problem.
func (d *Diagnosis) First() *measure.Finding {
	var first *measure.Finding
	for i := range d.Findings {
		f := &d.Findings[i]
		switch {
		case f.Severity == measure.Info:
		case first == nil && !(f.ID == unexplained.ID && f.Way == measure.Way(measure.Reverse)):
			return f
		case first == nil:
			first = f
		case f.Severity == measure.Problem:
			return f
		}
	}
	return first
}

// state says how a way does as a whole.
func state(s *Subject) State {
	switch {
	case s.Kind != OfWay:
		return Other
	case s.Is(Stuck):
		return Dead
	case full(s):
		return Full
	}
	return Slow
}

// full reports whether a way carries what it can: what it delivers is close to what its narrowest link allows, or,
// where that is not known, a queue stands in it because TCP fills it, and nobody else did before, or the hosts send no more.
func full(s *Subject) bool {
	if s.Known(PayloadCapacity) {
		return s.Value(Steady) >= fullShare*s.Value(PayloadCapacity)
	}
	if hostsLimit(s) {
		return true
	}
	return queues(s) && !shared(s) &&
		s.Value(ReceiveWindowShare) < binding && s.Value(SendBufferShare) < sendBinding && s.Value(RoomShare) < mostlyIdle
}

// queues reports whether a queue stands in the way while a transfer runs.
func queues(s *Subject) bool {
	return tripsGrow(s) && s.Value(LoadedRoundTrip)-s.Value(EmptyRoundTrip) > leastQueue
}

// tripsGrow reports whether round trips take longer while a transfer runs, by more than its packets take, however short that is.
func tripsGrow(s *Subject) bool {
	loaded, empty := s.Value(LoadedRoundTrip), s.Value(EmptyRoundTrip)
	return loaded > max(queueStands*empty, empty+packetsTake(s))
}

const (
	// fullShare is the share of what a path can carry above which nothing is wrong: cubic and reno on a queue of half
	// a bandwidth-delay product keep 90 % and more.
	fullShare = 0.8
	// queueStands is the ratio of loaded to empty RTT above which a queue stands in the path, and leastQueue, in seconds,
	// what it must hold: within a room the hosts' own delays vary by a quarter and more.
	queueStands = 1.25
	leastQueue  = 0.001

	// Shares of a test's time, by the kernel's own account, from which on a limit binds. A limit that binds shows 0.7 to
	// 1 in the lab; one that does not, under 0.1.
	binding     = 0.5
	sendBinding = 0.2 // the kernel books time to the receive window and the network while the send buffer refills

	mostlyIdle = 0.9  // share of samples: a program slower than the path finds room whenever it looks
	unlimited  = 0.05 // of the time: the kernel's jiffies and the first round trips book up to this much
)

// MostBytes is what a diagnosis is at most as JSON: ten times the longest of the lab's library.
const MostBytes = 32 << 20
