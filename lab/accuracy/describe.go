package accuracy

import (
	"fmt"

	"github.com/pathwise-net/pathwise/quantity"
)

// Describe is a sample in one line.
func (s *Sample) Describe() string {
	return fmt.Sprintf("%-46s %s; %s", s.Name, s.Path.describe(), s.Says)
}

func (p *Path) describe() string {
	return fmt.Sprintf("%s, %s, queue %s, %s", quantity.FormatRate(p.Rate), quantity.FormatSeconds(p.RTT), quantity.FormatSize(int64(p.Queue)),
		p.Control)
}

// Describe is what came of a sample in one line, by the rules with which it was diagnosed.
func (r *Record) Describe() string {
	switch {
	case r.Failed != "":
		return fmt.Sprintf("%-46s failed: %s", r.Sample.Name, r.Failed)
	case r.Emulator.Bottleneck:
		return fmt.Sprintf("%-46s %s, but the emulator was the bottleneck: %s", r.Sample.Name, r.Verdict, r.Emulator.Why)
	}
	binds := "binds"
	if !r.Bound() {
		binds = "-"
	}
	return fmt.Sprintf("%-46s %-24s %-6s %4.1f s, busy %.0f %%", r.Sample.Name, r.Verdict, binds, r.Seconds, 100*r.Load.Busy)
}
