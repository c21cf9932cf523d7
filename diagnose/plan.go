package diagnose

import (
	"maps"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// Step is one measurement that a diagnosis is made of: a Task that has no target yet, and why it is made.
type Step struct {
	Name       string         `json:"step"` // what it is called in its plan, in which no two are called alike
	Kind       string         `json:"tool"` // of probe
	Parameters map[string]any `json:"parameters"`
	Why        string         `json:"why"`
	Seconds    float64        `json:"seconds"`        // that it takes, about
	Way        measure.Way    `json:"way,omitempty"`  // that its data goes; "": none, or both
	Far        bool           `json:"far,omitempty"`  // the target makes it, of itself
	File       bool           `json:"file,omitempty"` // what it moves is read from a file, or written into one: see WithFile
	// Under is a transfer that runs meanwhile, so that the step leaves two Results; nil: nothing is moved. Both begin once a round trip takes no
	// longer than Calm, in seconds: a queue that the step before has filled is empty then.
	Under *Step   `json:"under,omitempty"`
	Calm  float64 `json:"calm,omitempty"`
	Round Round   `json:"-"` // steps of one round that follow each other may be made at once; "": none may be
}

// Round is what steps are about that disturb neither each other nor what the other measures. Pings and traces have none: on a way of some kbit/s
// they would wait for each other.
type Round string

const (
	aroundTransactions Round = "transactions" // which move some packets at a time
	aroundCapacity     Round = "capacity"     // trains, of which those of one way leave the other way alone
)

const (
	surveyPings    = 20
	surveyInterval = 0.05 // seconds between them
	// surveyWrite is how many bytes the transfers write at once: what programs that move files commonly do, so that the send
	// buffer limits the test where it limits them. The same holds for their event loop.
	surveyWrite = 32 << 10
	// leastTransfer is the shortest transfer that says anything, in seconds: slow start and the first losses take 1 to 2.
	leastTransfer = 2.0

	// What steps take beside the time that they are told, over 50 ms or so: connections, parameters, results.
	capacityTakes = 2.0
	traceTakes    = 1.0
	setUpTakes    = 0.5
)

// Plan lists the steps of a diagnosis, the light ones first so that none disturbs the next. transfer is how long each
// transfer lasts, and directions which way they go: measure.Forward, measure.Reverse.
//
//	ping, trace  ->  capacity each way  ->  each way: transfer  ->  what that asks for: see Extend
func Plan(transfer time.Duration, directions ...string) []Step {
	plan := []Step{
		{Name: "ping", Kind: "ping", Why: "how long round trips take, and how many are lost",
			Parameters: map[string]any{"count": surveyPings, "interval": surveyInterval}, Seconds: surveyPings*surveyInterval + setUpTakes},
		{Name: "trace", Kind: "trace", Why: "which way the packets go", Parameters: map[string]any{}, Seconds: traceTakes},
	}
	for _, d := range directions {
		trains := step("capacity", "capacity", d, "what the narrowest link can carry", capacityTakes, map[string]any{Brief: true})
		trains.Round = aroundCapacity
		plan = append(plan, trains)
	}
	for _, d := range directions {
		plan = append(plan, step("transfer", "throughput", d, "how fast data moves, and what holds it back", transfer.Seconds()+setUpTakes,
			map[string]any{"duration": transfer.Seconds(), "length": surveyWrite, "event-loop": true}))
	}
	return plan
}

// PlanFetch lists the steps of a diagnosis of what comes from a web server, where nothing of ours answers: the file is read for so long.
func PlanFetch(transfer time.Duration, file map[string]any) []Step {
	plan := Plan(transfer)
	parameters := maps.Clone(file)
	parameters["duration"] = transfer.Seconds()
	return append(plan, Step{Name: "fetch", Kind: "fetch", Parameters: parameters, Why: "how fast the file comes, and what holds it back",
		Seconds: transfer.Seconds() + setUpTakes, Way: measure.Reverse})
}

// step makes a step that goes one way.
func step(name, kind, direction, why string, takes float64, parameters map[string]any) Step {
	parameters["reverse"] = direction == measure.Reverse
	if direction == measure.Reverse {
		why += ", on the way back"
	}
	return Step{Name: called(name, direction), Kind: kind, Parameters: parameters, Why: why, Seconds: takes, Way: measure.Way(direction)}
}

// called is the name of a step that goes one way.
func called(name, direction string) string {
	if direction == measure.Reverse {
		return name + "-" + measure.Reverse
	}
	return name
}

// Transfer says whether a step moves data as fast as it goes, without which there is no diagnosis.
func (s Step) Transfer() bool {
	return s.Kind == "fetch" || s.Kind == "throughput" && s.Parameters["proto"] != "udp"
}

// Compares says whether a step moves data in another way than the transfers that ways are judged by: over several connections, both ways at
// once, with another congestion control, or of a file. A diagnosis can do without it.
func (s Step) Compares() bool {
	_, streams := s.Parameters["parallel"]
	_, control := s.Parameters["cc"]
	return s.Transfer() && (streams || control || s.File || s.Parameters["bidir"] == true)
}

// NeedsResponder says whether a step needs a listener at the target: see measure.Responder.
func (s Step) NeedsResponder() bool { return s.Kind == "capacity" || s.Kind == "throughput" }

// Locates says whether a step tells no more than where on the path something is, how large, or which packets meet it, which the target has to help with.
// A diagnosis can do without it.
func (s Step) Locates() bool {
	return s.Kind == "mtu" || s.Kind == "flows" || s.Kind == "trace" && (s.Parameters["both"] == true || s.Parameters["middlebox"] == true)
}

// Shorter returns a step that takes half the time, or false if it would say nothing then.
func (s Step) Shorter() (Step, bool) {
	lasts, _ := s.Parameters["duration"].(float64)
	if lasts <= leastTransfer {
		return s, false
	}
	half := max(lasts/2, leastTransfer)
	s.Parameters = maps.Clone(s.Parameters)
	s.Parameters["duration"] = half
	s.Seconds -= lasts - half
	return s, true
}

// Extend returns a plan, of which so many steps were made, with the step that the Results so far ask for beyond it: one that
// tells a fact which a suspected cause needs, or which tells it from another. It comes behind the other steps of its way, and only
// where the plan has any. One step at a time is enough: the next one is asked for when its Result is there.
//
// What both hosts of a slow way are set to comes after all other steps, and that of the target last: where nothing of ours runs there, the
// Executor leaves it out.
func Extend(plan []Step, made int, results []*measure.Result) []Step {
	subjects := gather(results).subjects()
	insert := func(last int, asked Step) []Step { return slices.Insert(slices.Clone(plan), max(last+1, made), asked) }
	for _, s := range subjects {
		last := lastOf(plan, s)
		if last < 0 {
			continue
		}
		asking := rules
		if explainedByOther(s, subjects) {
			asking = slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return r.Last })
		}
		if asked, ok := ask(asking, s, plan); ok {
			return insert(last, asked)
		}
	}
	for _, s := range subjects {
		for _, asked := range audits(s) {
			if last := lastOf(plan, s); last >= 0 && find(plan, asked.Name) < 0 {
				return insert(last, asked)
			}
		}
	}
	return plan
}

// lastOf is where the plan's last step of a way is, or of transactions, or of all for the path; -1: there is none.
func lastOf(plan []Step, s *Subject) int {
	for i := len(plan) - 1; i >= 0; i-- {
		if s.Kind == OfPath || s.Kind == OfWay && plan[i].Way == measure.Way(s.Name) || s.Kind == OfExchange && plan[i].Kind == string(ofExchange) {
			return i
		}
	}
	return -1
}

// explainedByOther reports whether what was found on the other way slows this one, too, so that the last rules need not ask why it is slow.
func explainedByOther(s *Subject, subjects []*Subject) bool {
	return s.Kind == OfWay && slices.ContainsFunc(subjects, func(other *Subject) bool {
		return other.Kind == OfWay && other != s && judge(rules, other).explainsBack()
	})
}

// ask returns a step that is worth its time and not in the plan.
func ask(rules []Rule, s *Subject, plan []Step) (Step, bool) {
	now := state(s)
	for _, r := range rules {
		if !r.about(s.Kind) || !r.fits(now) || r.Suspect == nil || !r.Suspect(s) || r.Last && judge(rules, s).explained() {
			continue
		}
		for _, n := range r.asks() {
			d, _ := define(n)
			if d.Step == nil {
				continue
			}
			if asked, ok := d.Step(s); ok && find(plan, asked.Name) < 0 {
				return asked, true
			}
		}
	}
	return Step{}, false
}

// asks are the facts that a suspected rule would know: what it needs, what tells it apart, and what it uses.
func (r *Rule) asks() []Name {
	apart := slices.Sorted(maps.Values(r.Apart))
	return slices.Concat(r.Needs, apart, r.Reads)
}

// find is where in a plan a step is; -1: it is not there.
func find(plan []Step, name string) int {
	return slices.IndexFunc(plan, func(s Step) bool { return s.Name == name })
}

// EndEarly returns a plan whose transfers end as soon as their goodput is known narrowly enough for a diagnosis. That of the way back is shorter at
// the most, where the way there has one, too.
func EndEarly(plan []Step) []Step {
	plan = slices.Clone(plan)
	there := slices.ContainsFunc(plan, func(s Step) bool { return s.Transfer() && s.Way == measure.Forward })
	for i := range plan {
		s := &plan[i]
		if !s.Transfer() {
			continue
		}
		s.Parameters = maps.Clone(s.Parameters)
		s.Parameters[Narrow] = narrowEnough
		if lasts, _ := s.Parameters["duration"].(float64); there && s.Way == measure.Reverse && lasts > backLasts {
			s.Parameters["duration"] = backLasts
			s.Seconds -= lasts - backLasts
		}
	}
	return plan
}

// backLasts is the longest transfer of the way back, in seconds: 20 round trips of 200 ms. Of 360 recorded diagnoses no verdict is another one where
// those of 5 s are cut to that.
const backLasts = 4.0

// Parameters of throughput, and of capacity, that an agent of an earlier build does not know, and may do without.
const (
	Narrow   = "narrow"    // see EndEarly
	Brief    = "brief"     // of capacity: as few trains as agree
	PathRate = "path-rate" // see Executor
)

// narrowEnough is within what a goodput may be off where a transfer ends early, as a share of it. A prediction is held to 0.15, and a path is
// healthy from 0.8 on of what it can carry.
const narrowEnough = 0.05
