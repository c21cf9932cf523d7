package diagnose

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/diagnose/knowledge"
	"github.com/pathwise-net/pathwise/measure"
)

// ruleCases has for rules that name a limit a path on which each holds, whatever was achieved, and what its formula allows there.
var ruleCases = []struct {
	rule   *Rule
	path   path
	allows float64 // bit/s
}{
	{&noWindowScaling, with(func(p *path) { smallWindow(p); p.unscaled, p.window = true, 65535 }), 65535 * 8 / 0.05},
	{&receiveWindowLimited, with(smallWindow), 76_000 * 8 / 0.05},
	{&receiveBufferFixed, with(func(p *path) { smallWindow(p); p.fixed = true }), 76_000 * 8 / 0.05},
	{&sendBufferFixed, with(func(p *path) { smallSendBuffer(p); p.fixed = true }), 131072 * sendShare * 8 / 0.0505},
	{&sendBufferLimited, with(smallSendBuffer), 131072 * sendShare * 8 / 0.0505},
	{&applicationLimited, with(func(p *path) { idle(p); p.rateParameter = 10e6 }), 10e6},
	{&randomLoss, with(lossy), 1448 * 8 / (0.05 * 0.10072)}, // the root of 35 of 3450
	{&pathFull, with(fullPath), 97.5e6 * 1448 / 1500},
}

func (p path) forward() *Subject { return gather(p.results()).ways[measure.Forward] }

func gives(d *Diagnosis, id string) bool {
	return slices.ContainsFunc(d.Findings, func(f measure.Finding) bool { return f.ID == id })
}

// outcome is what came of a rule on the way forward.
func outcome(d *Diagnosis, id string) Outcome {
	for _, c := range d.Considered {
		if c.ID == id && c.Subject.Name == measure.Forward {
			return c.Outcome
		}
	}
	return ""
}

// No rule names a limit whose own formula allows twice what was achieved, or that was exceeded by far.
func TestClaims(t *testing.T) {
	for _, c := range ruleCases {
		for factor, holds := range map[float64]bool{0.3: false, 0.7: true, 1: true, 1.9: true, 2.1: false, 10: false, 200: false} {
			p, id := c.path, c.rule.ID
			p.goodput = c.allows / factor
			if claimed := c.rule.Look(p.forward()); claimed == nil || id == pathFull.ID && factor < 1 {
				if id != pathFull.ID { // a capacity that was exceeded is none: see TestVerdicts
					t.Errorf("%s at %v of what was achieved: the rule itself says nothing", id, factor)
				}
				continue
			}
			if got := possible(p.forward(), c.rule.Look(p.forward())); got != holds {
				t.Errorf("%s: its formula allows %v of what was achieved: possible %v, want %v", id, factor, got, holds)
			}
			d := Diagnose(p.results())
			checkFindings(t, d)
			if gives(d, id) && !holds {
				t.Errorf("%s is given, though its formula allows %v of what was achieved", id, factor)
			}
			if o := outcome(d, id); !holds && o != Refuted && o != "" || o == Holds != gives(d, id) && o != Replaced {
				t.Errorf("%s at %v: outcome %s, given %v", id, factor, o, gives(d, id))
			}
		}
	}
}

// Whatever the path, what a rule says of it is given only if the rule's own formula agrees, and what is given names its way.
func TestClaimsOfAnyPath(t *testing.T) {
	random := rand.New(rand.NewPCG(12, 5))
	between := func(low, high float64) float64 { return low + (high-low)*random.Float64() }
	given := map[string]int{}
	for range 800 {
		p := with([]func(*path){smallWindow, smallSendBuffer, lossy, idle, fullPath}[random.IntN(5)])
		p.goodput = math.Exp(between(math.Log(0.5e6), math.Log(120e6)))
		p.fixed = random.IntN(2) == 0
		p.window, p.rcvbuf = between(20e3, 1e6), 6<<20
		if p.unscaled = random.IntN(2) == 0; p.unscaled {
			p.window = between(20e3, 65535)
		}
		p.capacity *= float64(random.IntN(2))
		p.loaded = between(p.rtt, 3*p.rtt)
		d := Diagnose(p.results())
		checkFindings(t, d)
		s := p.forward()
		for _, c := range ruleCases {
			if !gives(d, c.rule.ID) {
				continue
			}
			given[c.rule.ID]++
			if claimed := c.rule.Look(s); claimed == nil || claimed.Allows > 2*s.Value(Steady) {
				t.Fatalf("%s is given at %v bit/s of %+v: %+v", c.rule.ID, s.Value(Steady), p, claimed)
			}
		}
	}
	for _, c := range ruleCases {
		if given[c.rule.ID] < 10 {
			t.Errorf("%s was given for %d paths only", c.rule.ID, given[c.rule.ID])
		}
	}
}

// Every rule has its entry of the knowledge base, every entry its rule, and every text of an entry is one that some rule calls.
func TestEveryRuleIsExplained(t *testing.T) {
	ids, about := map[string]bool{}, map[string]bool{}
	for _, r := range rules {
		for _, kind := range append(r.Also, r.Of) {
			for _, state := range []State{Slow, Full, Dead, Other} { // two rules may be of one cause, where a way cannot be in the states of both
				key := fmt.Sprintf("%s of a %s that is %q", r.ID, kind, state)
				if r.fits(state) && about[key] {
					t.Errorf("%s stands twice", key)
				}
				about[key] = about[key] || r.fits(state)
			}
		}
		ids[r.ID] = true
		if knowledge.OfFinding(r.ID).ID == "" {
			t.Errorf("%s has no entry in the knowledge base", r.ID)
		}
	}
	for _, e := range knowledge.Entries() {
		if e.Kind == knowledge.Finding && !ids[e.ID] {
			t.Errorf("%s is an entry of no rule", e.ID)
		}
		if e.Kind == knowledge.Finding && e.Says["main"] == "" {
			t.Errorf("%s says nothing", e.ID)
		}
	}
}

// A rule reads no fact but those that it says it does, so that what it needs, and what would tell, can be seen from outside. What
// limits, capacities and predictions rest on is read for all.
func TestRulesSayWhatTheyRead(t *testing.T) {
	paths := []path{with(fullPath), with(smallWindow), with(smallSendBuffer), with(lossy), with(idle), hundred(),
		with(func(p *path) { fullPath(p); p.capacity = 0 }), with(func(p *path) { lossy(p); p.pacedSent = 0 })}
	var subjects []*Subject
	for _, p := range paths {
		subjects = append(subjects, p.forward())
	}
	collides := with(func(p *path) { bursty(p); p.sent, p.resent, p.halfLost = 10_000, 1_500, 0 })
	subjects = append(subjects, gather(append(collides.results(), colliding(0.1))).ways[measure.Forward])
	for i := range rules {
		r := &rules[i]
		declared := slices.Concat(r.Needs, r.Reads)
		for _, n := range declared {
			if _, known := define(n); !known && r.Of != OfHost {
				t.Errorf("%s reads %s, which is no fact", r.ID, n)
			}
		}
		for id, by := range r.Apart {
			if !slices.Contains(declared, by) || !slices.ContainsFunc(rules, func(r Rule) bool { return r.ID == id }) {
				t.Errorf("%s is told from %s by %s: no rule, or no fact that it reads", r.ID, id, by)
			}
		}
		for _, s := range subjects {
			s.heard = nil // of the rule before
			if r.Of != OfWay || slices.ContainsFunc(r.Needs, func(n Name) bool { return !s.Known(n) }) {
				continue
			}
			s.heard = func(n Name) {
				if !slices.Contains(declared, n) {
					t.Errorf("%s reads %s and does not say so", r.ID, n)
				}
			}
			r.Look(s)
		}
	}
}

// What was found out to be no cause is evidence where none is found.
func TestRuledOutIsEvidence(t *testing.T) {
	d := Diagnose(with(func(p *path) { smallWindow(p); p.window, p.goodput = 1.3e6, 1.5e6 }).results())
	if d.Verdict != "unexplained" {
		t.Fatalf("verdict %s", d.Verdict)
	}
	e := d.Findings[0].Evidence
	last := e[len(e)-1]
	if last.Metric != "allowed_bits_per_second" || last.Value < 200e6 {
		t.Errorf("evidence %+v, want what the window allows", last)
	}
}

// Of two causes that hold, the problem is the one whose end gains the most: a limit that another one hides gains nothing.
func TestLargestShare(t *testing.T) {
	both := with(func(p *path) { // a window of 3.9 Mbit/s, and a loss that leaves 4.7
		lossy(p)
		p.pacedSent, p.pacedLost = 10_000, 24
		p.window, p.rcvbuf, p.rmem = 24_000, 48_000, [3]int{4096, 48_000, 48_000}
		p.rwnd, p.goodput = 0.8, 3.8e6
	})
	d := Diagnose(both.results())
	if len(d.Findings) < 2 || d.Verdict != "receive-window-limited" || d.Findings[1].ID != "random-loss" || d.Findings[1].Severity != measure.Warning {
		t.Errorf("verdict %s of %+v", d.Verdict, d.Findings)
	}
	both.pacedLost, both.resent = 600, 100 // now it is the loss that leaves less
	both.goodput = 1.9e6
	if d = Diagnose(both.results()); d.Verdict != "random-loss" {
		t.Errorf("verdict %s of %+v", d.Verdict, d.Findings)
	}
}

// What a connection does after the time that the transfer was given says nothing of the program: it waits for the other end, such as
// where a firewall forgot the connection that the ends talk over.
func TestWaitForTheOtherEndIsNoApplicationLimit(t *testing.T) {
	results := hundred().results()
	const asked = 3.0
	for _, r := range results {
		r.Parameters["duration"] = asked
		for _, one := range r.Samples.TCPInfo {
			if one.ElapsedSeconds > asked {
				one.Values["delivery_rate_app_limited"], one.Values["notsent_bytes"] = 1, 0
			}
		}
	}
	if d := Diagnose(results); d.Verdict != "unexplained" {
		t.Errorf("verdict %s", d.Verdict)
	}
}

// An overload by UDP is no paced probe: its losses are not taken for those of a nearly empty path.
func TestOverloadIsNoPacedProbe(t *testing.T) {
	results := with(lossy).results()
	for _, r := range results {
		if r.Parameters["proto"] == "udp" {
			r.Metrics[measure.SentRate] = 90e6
		}
	}
	s := gather(results).ways[measure.Forward]
	if s.Known(PacedLoss) || !strings.Contains(s.Fact(PacedLoss).Unknown, "full queue") {
		t.Errorf("%+v", s.Fact(PacedLoss))
	}
}

// A transfer that said nothing does not take the place of one that did, and one that did takes it whole.
func TestNewestTransferCounts(t *testing.T) {
	window := with(smallWindow).results()
	nothing := measure.NewResult("throughput", window[0].Started)
	if d := Diagnose(append(window, nothing)); d.Verdict != "receive-window-limited" {
		t.Errorf("verdict %s", d.Verdict)
	}
	p := hundred()
	p.noSamples = true
	newer := p.results()[2]
	if s := gather(append(with(smallWindow).results(), newer)).ways[measure.Forward]; s.Known(ReceiveWindow) || s.Value(Goodput) != p.goodput {
		t.Errorf("facts of two transfers are mixed: %+v", s.facts)
	}
}

// Evidence names the Result that measured it: a later ping that is slower, or that nobody answered, is not where the least round trip
// comes from.
func TestEvidenceNamesItsResult(t *testing.T) {
	ping := func(id string, second int, metrics map[measure.Metric]float64) *measure.Result {
		r := measure.NewResult("ping", testStart.Add(time.Duration(second)*time.Second))
		r.ID, r.Metrics = id, metrics
		return r
	}
	results := []*measure.Result{
		ping("quick", 0, map[measure.Metric]float64{measure.SentPackets: 10, measure.ReceivedPackets: 10, measure.RTTMin: 0.02}),
		ping("slow", 1, map[measure.Metric]float64{measure.SentPackets: 5, measure.ReceivedPackets: 5, measure.RTTMin: 0.03}),
		ping("lost", 2, map[measure.Metric]float64{measure.SentPackets: 5}),
	}
	want := Fact{Value: 0.02, Low: 0.02, High: 0.02, Result: "quick"}
	if got := gather(results).ways[measure.Forward].Fact(EmptyRoundTrip); got != want {
		t.Errorf("the round trip of the empty path is %+v, want %+v", got, want)
	}
}

// A rule for another kind of subject is one entry: here of a host by itself.
func TestRuleOfHost(t *testing.T) {
	r := measure.NewResult("host", testStart)
	r.Source.Name, r.ID = "carol", "01J"
	r.Metrics["host_memory_available_bytes"] = 5e6
	full := Rule{ID: "unexplained", Of: OfHost, Needs: []Name{"host_memory_available_bytes"}, Look: func(s *Subject) *Claim {
		if s.Value("host_memory_available_bytes") > 1e7 {
			return nil
		}
		return &Claim{Where: "host {host}", Confidence: 1, Evidence: []Name{"host_memory_available_bytes"}, Unpredicted: true}
	}}
	d := diagnoseBy([]Rule{full}, gather([]*measure.Result{r}), []*measure.Result{r})
	if len(d.Findings) != 1 || d.Findings[0].Where != "host carol" || d.Findings[0].Evidence[0].Result != "01J" || d.Findings[0].Evidence[0].Unit != "bytes" {
		t.Errorf("%+v", d.Findings)
	}
}

// What makes nothing slow is said of a healthy path.
func TestSaidOfHealthyPaths(t *testing.T) {
	for id, p := range map[string]path{
		"bufferbloat":       with(func(p *path) { fullPath(p); p.loaded = 0.2 }),
		"reordering-benign": with(func(p *path) { fullPath(p); p.reordered = 300 }),
		"small-mss":         with(func(p *path) { fullPath(p); p.mss, p.goodput = 548, 85e6 }),
	} {
		d := Diagnose(p.results())
		if d.Verdict != Healthy || !gives(d, id) {
			t.Errorf("%s: verdict %s, %+v", id, d.Verdict, d.Findings)
		}
	}
	if d := Diagnose(with(fullPath).results()); gives(d, "bufferbloat") || gives(d, "small-mss") || gives(d, "reordering-benign") {
		t.Errorf("a plain path: %+v", d.Findings)
	}
}
