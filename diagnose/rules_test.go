package diagnose

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// ruleCases has for every rule a path on which it holds, whatever was achieved, and what its formula allows there.
var ruleCases = []struct {
	id     string
	rule   rule
	path   path
	allows float64 // bit/s
}{
	{"no-window-scaling", noWindowScaling, with(func(p *path) { smallWindow(p); p.unscaled, p.window = true, 65535 }), 65535 * 8 / 0.05},
	{"receive-window-limited", receiveWindowLimited, with(smallWindow), 76_000 * 8 / 0.05},
	{"send-buffer-limited", sendBufferLimited, with(smallSendBuffer), 131072 * sendShare * 8 / 0.0505},
	{"application-limited", applicationLimited, with(func(p *path) { idle(p); p.rateParameter = 10e6 }), 10e6},
	{"random-loss", randomLoss, with(lossy), 1448 * 8 / (0.05 * 0.10072)}, // the root of 35 of 3450
	{"path-full", pathFull, with(fullPath), 97.5e6 * 1448 / 1500},
}

// No rule names a limit whose own formula allows twice what was achieved, or that was exceeded by far.
func TestClaims(t *testing.T) {
	for _, c := range ruleCases {
		for factor, holds := range map[float64]bool{0.3: false, 0.7: true, 1: true, 1.9: true, 2.1: false, 10: false, 200: false} {
			if c.id == "path-full" && factor < 1 {
				continue // a capacity that was exceeded is none: see TestVerdicts
			}
			p := c.path
			p.goodput = c.allows / factor
			v := newView(p.results(), measure.Forward)
			if claimed := c.rule(v); claimed == nil || claimed.ID != c.id {
				t.Errorf("%s at %v of what was achieved: the rule itself says %+v", c.id, factor, claimed)
				continue
			}
			f := v.try(c.rule)
			if (f != nil) != holds || (len(v.refuted) == 1) == holds {
				t.Errorf("%s: its formula allows %v of what was achieved: given %v, want %v", c.id, factor, f != nil, holds)
			}
			d := Diagnose(p.results())
			checkFindings(t, d)
			if given := slices.ContainsFunc(d.Findings, func(f measure.Finding) bool { return f.ID == c.id }); given && !holds {
				t.Errorf("%s is given, though its formula allows %v of what was achieved", c.id, factor)
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
		p.window, p.rcvbuf = between(20e3, 1e6), 6<<20
		if p.unscaled = random.IntN(2) == 0; p.unscaled {
			p.window = between(20e3, 65535)
		}
		p.capacity *= float64(random.IntN(2))
		p.loaded = between(p.rtt, 3*p.rtt)
		d := Diagnose(p.results())
		checkFindings(t, d)
		v := newView(p.results(), measure.Forward)
		for _, c := range ruleCases {
			if !slices.ContainsFunc(d.Findings, func(f measure.Finding) bool { return f.ID == c.id }) {
				continue
			}
			given[c.id]++
			if claimed := c.rule(v); claimed == nil || claimed.allows > 2*v.steady {
				t.Fatalf("%s is given at %v bit/s of %+v: %+v", c.id, v.steady, p, claimed)
			}
		}
	}
	for _, c := range ruleCases {
		if given[c.id] < 10 {
			t.Errorf("%s was given for %d paths only", c.id, given[c.id])
		}
	}
}

// Every rule that the executor knows is in the table.
func TestEveryRuleIsTried(t *testing.T) {
	if len(ruleCases) != len(causes)+1 { // path-full; pmtu-blackhole names a limit of nothing
		t.Errorf("%d rules in the table, %d in use", len(ruleCases), len(causes)+1)
	}
	for i, c := range causes {
		v := newView(ruleCases[i].path.results(), measure.Forward)
		if f := c(v); f == nil || f.ID != ruleCases[i].id {
			t.Errorf("rule %d is not %s: %+v", i, ruleCases[i].id, f)
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
