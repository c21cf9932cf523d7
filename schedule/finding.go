package schedule

import (
	"fmt"
	"time"
)

// String is the finding in one sentence.
func (f Finding) String() string {
	if f.PairsLeftOut > 0 {
		return fmt.Sprintf("test %s: %d of its pairs are left out: %s", f.Test, f.PairsLeftOut, f.excess())
	}
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)).Round(time.Second) }
	why := map[Kind]string{
		CycleTooLong: "one run of each of its pairs takes longer than its period",
		Overloaded:   "it shares interfaces with tests that need more time together than there is",
		RunTooLong:   "one run takes longer than its period",
		OverBudget:   "it moves more bytes a day than the budget of " + f.Where + " allows",
	}[f.Kind]
	return fmt.Sprintf("test %s: %s: needs a period of %v, has %v; %.4g runs a day are left out", f.Test, why,
		seconds(f.NeedsSeconds), seconds(f.HasSeconds), f.RunsLeftOutPerDay)
}

// excess says what of one run is too much.
func (f Finding) excess() string {
	if f.Kind == OverRate {
		return fmt.Sprintf("a run takes %.4g Mbit/s, and the budget of %s allows %.4g; a tool that says its rate in needs, or a slower one, fits",
			f.NeedsBitsPerSecond/1e6, f.Where, f.HasBitsPerSecond/1e6)
	}
	return fmt.Sprintf("a run moves %.4g MB, and the budget of %s allows %.4g in a day; "+
		"a tool that says its bytes in needs, or a shorter one, fits",
		f.NeedsBytes/1e6, f.Where, f.HasBytes/1e6)
}

// leftOut adds what is not run: of periods that were stretched, and of pairs of which one run is too much.
func (p *Planner) leftOut() {
	pairs := map[string]int{}
	for i := range p.mesh.Tests {
		t := &p.mesh.Tests[i]
		pairs[t.Name] = len(t.Pairs)
		for _, b := range t.Beyond {
			f := Finding{Kind: b.What, Test: t.Name, Where: b.Where, PairsLeftOut: b.Pairs, RunsLeftOutPerDay: b.PerDay}
			if b.What == OverRate {
				f.NeedsBitsPerSecond, f.HasBitsPerSecond = b.Needs, b.Has
			} else {
				f.NeedsBytes, f.HasBytes = b.Needs, b.Has
			}
			p.findings = append(p.findings, f)
		}
	}
	for i := range p.findings {
		if f := &p.findings[i]; f.HasSeconds > 0 && f.NeedsSeconds > 0 {
			f.RunsLeftOutPerDay = float64(pairs[f.Test]) * day.Seconds() * (1/f.HasSeconds - 1/f.NeedsSeconds)
		}
	}
}
