package schedule

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Slack that a component keeps where tests of several periods share its frames: the number of rounds that fall into a
// frame is not the same in all of them.
const mixedLoad = 0.98

// randomLoad is the most that a component with tests at random times is asked to bear: beyond it what is drawn has to
// wait so long that the times are hardly random any more.
const randomLoad = 0.6

// defaultFrame is the frame of a component without a periodic test: long, so that little is cut at its end.
const defaultFrame = 6 * time.Hour

// fit stretches periods until each component's rounds fit its time and every budget holds, and sets frames and windows.
func (p *Planner) fit() {
	p.stretchLong()
	p.stretchBudgets()
	for _, c := range p.components {
		c.stretchShare(p)
		c.setFrame(p)
	}
	p.offerMore()
}

// stretch makes the period of a test longer, and says so.
func (p *Planner) stretch(test int32, kind Kind, where string, period time.Duration) {
	has := p.period[test]
	if period <= has {
		return
	}
	p.findings = append(p.findings, Finding{
		Kind: kind, Test: p.mesh.Tests[test].Name, Where: where, NeedsSeconds: period.Seconds(), HasSeconds: has.Seconds(),
	})
	p.period[test] = period
}

func (p *Planner) stretchClass(c *class, kind Kind, period time.Duration) {
	for _, t := range c.tests {
		p.stretch(t, kind, "", period)
	}
	c.setPeriod(max(c.period, period))
}

func (c *class) setPeriod(period time.Duration) {
	if c.grid.next != nil && period > c.period {
		c.grid.next = seldom(c.next, period)
	}
	c.period, c.window = period, period
	if c.grid.next == nil {
		c.grid.every = period
	}
}

// seldom leaves out times of next, so that there is one in each period at most: the first.
func seldom(next func(time.Time) time.Time, period time.Duration) func(time.Time) time.Time {
	return func(after time.Time) time.Time {
		bucket := floorDiv(after.UnixNano(), int64(period)) * int64(period)
		first := next(time.Unix(0, bucket-1))
		if first.IsZero() || first.After(after) {
			return first
		}
		return next(time.Unix(0, bucket+int64(period)-1))
	}
}

// stretchLong makes periods at least as long as one run, or as one cycle of exclusive runs.
func (p *Planner) stretchLong() {
	for i := range p.mesh.Tests {
		t := &p.mesh.Tests[i]
		if timing := p.mesh.timing(t); !t.Demand.Exclusive && timing.Next == nil && timing.Sampling == Periodic {
			p.stretch(int32(i), RunTooLong, "", duration(t))
		}
	}
	for _, c := range p.components {
		for _, class := range c.classes {
			switch need := time.Duration(class.least) * class.length; {
			case class.length > class.period:
				p.stretchClass(class, RunTooLong, class.need())
			case need > class.period:
				p.stretchClass(class, CycleTooLong, class.need())
			case class.need() > class.period: // no room for spare positions
				class.rounds = int(class.period / class.length)
			}
		}
	}
}

// stretchBudgets makes the periods of all tests that touch an interface or a site longer, until its budget holds.
func (p *Planner) stretchBudgets() {
	if !p.mesh.budgeted() {
		return
	}
	for _, use := range p.uses() {
		perDay := p.perDay(use.bytes)
		if use.budget <= 0 || perDay <= use.budget*(1+1e-9) {
			continue
		}
		factor := perDay / use.budget
		for test := range use.bytes {
			if use.bytes[test] > 0 {
				p.stretch(int32(test), OverBudget, use.name, scale(p.period[test], factor))
			}
		}
	}
	for _, c := range p.components {
		for _, class := range c.classes {
			for _, t := range class.tests {
				class.setPeriod(max(class.period, p.period[t]))
			}
		}
	}
}

// share is the part of the component's time that its rounds take.
func (c *component) share(p *Planner) float64 {
	share := c.arrivingShare(p)
	for _, class := range c.classes {
		share += float64(class.need()) / float64(class.period)
	}
	return share
}

// arrivingShare returns the share of the time that tests at random times take of the interface that they use most.
func (c *component) arrivingShare(p *Planner) float64 {
	busy := make([]float64, len(p.mesh.Interfaces))
	for _, i := range c.arriving {
		t := &p.mesh.Tests[i]
		for _, pair := range t.Pairs {
			busy[pair.Source] += float64(duration(t)+p.guard) / float64(p.period[i])
			busy[pair.Target] += float64(duration(t)+p.guard) / float64(p.period[i])
		}
	}
	return slices.Max(append(busy, 0))
}

// stretchShare makes all periods longer by one factor if together they need more time than there is.
func (c *component) stretchShare(p *Planner) {
	limit := 1.0
	for _, class := range c.classes[min(1, len(c.classes)):] {
		if class.period != c.classes[0].period {
			limit = mixedLoad
		}
	}
	if len(c.arriving) > 0 {
		limit = randomLoad
	}
	share := c.share(p)
	if share <= limit {
		return
	}
	for _, class := range c.classes {
		p.stretchClass(class, Overloaded, scale(class.period, share/limit))
	}
	for _, t := range c.arriving {
		p.stretch(t, Overloaded, "", scale(p.period[t], share/limit))
	}
}

// scale rounds up to a whole second, which people can read.
func scale(d time.Duration, factor float64) time.Duration {
	return time.Duration(math.Ceil(d.Seconds()*factor-1e-6)) * time.Second
}

// setFrame makes frames as long as the shortest period, and both longer until the fullest frame fits.
func (c *component) setFrame(p *Planner) {
	c.frame = 0
	for _, class := range c.classes {
		if class.grid.next == nil && (c.frame == 0 || class.period < c.frame) {
			c.frame = class.period
		}
	}
	c.frame = cmp.Or(c.frame, defaultFrame)
	for c.setWindows(p); c.fullest() > c.frame; c.setWindows(p) {
		longer := max(c.frame+c.frame/50, c.frame+time.Second).Truncate(time.Second)
		for _, class := range c.classes {
			if class.period < longer {
				p.stretchClass(class, Overloaded, longer)
			}
		}
		c.frame = longer
	}
	p.findings = lastOfEach(p.findings)
}

// fullest is the time that the rounds of the fullest frame take.
func (c *component) fullest() (sum time.Duration) {
	for _, class := range c.classes {
		n := class.rounds
		if class.period != c.frame || class.packed {
			n = min(n, int(float64(c.frame)/class.stratum())+1)
		}
		sum += time.Duration(n) * class.length
	}
	return sum
}

// packedPart is the part that packed rounds take of the time that others leave: all of it would let no frame be fuller
// than another.
const packedPart = 0.8

// setWindows lets packed rounds take most of the time that the others leave.
func (c *component) setWindows(p *Planner) {
	spread := c.arrivingShare(p)
	var packed time.Duration
	for _, class := range c.classes {
		if class.packed {
			packed += class.need()
		} else {
			spread += float64(class.need()) / float64(class.period)
		}
	}
	for _, class := range c.classes {
		if !class.packed {
			continue
		}
		window := packed // of all phases and cron tests together, if they begin at one time
		if spread > 0 {
			window = time.Duration(float64(packed) / max(0.01, packedPart*(1-spread)))
		}
		class.window = max(class.need(), min(class.period, window))
	}
}

// offerMore gives classes that closed hours concern more positions than rounds, as far as there is room.
func (p *Planner) offerMore() {
	for _, c := range p.components {
		for _, class := range c.classes {
			if !slices.ContainsFunc(class.graph.edges, p.closures.concern) {
				continue
			}
			if class.packed { // rounds wait until their hosts open
				class.window = min(class.period, max(closedRounds*class.window, 24*time.Hour))
			}
			least := class.rounds
			for factor := min(closedRounds, mixedLoad/c.share(p)); factor > 1; factor -= 0.1 {
				class.rounds = max(least, min(int(float64(least)*factor), int(class.window/class.length)))
				if c.fullest() <= c.frame {
					break
				}
				class.rounds = least
			}
		}
	}
}

// lastOfEach keeps the first has and the last needs of findings of a kind for a test.
func lastOfEach(all []Finding) []Finding {
	var kept []Finding
	for _, f := range all {
		same := func(k Finding) bool { return k.Kind == f.Kind && k.Test == f.Test && k.Where == f.Where }
		if i := slices.IndexFunc(kept, same); i >= 0 {
			kept[i].NeedsSeconds = f.NeedsSeconds
		} else {
			kept = append(kept, f)
		}
	}
	return kept
}
