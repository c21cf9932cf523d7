package policy

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/quantity"
)

// Request is what the mesh asks a host to do: a run of its own, or something to be opened for another's.
type Request struct {
	Host    string     // name of the other host in the mesh
	Address netip.Addr // its address; the zero value if that is not known
	At      time.Time  // in local time

	Open string // kind of listener to open; "": a run of its own
	Port int    // to open; 0: a program that needs none
	Kind string // of the task; for a run of its own

	Program   string        // that it starts, as an absolute path; "": none
	Exclusive bool          // it fills a link
	Duration  time.Duration // that it takes
	Rate      float64       // bit/s, at most; 0: not known
	Bytes     float64       // that it moves; 0: not known
}

// setUp is what a run may take beyond the duration that is allowed: whoever writes 30s means a test that sends for 30 s.
const setUp = 2 * time.Second

// Decide says whether a request is within the owner's limits, and if not, which one it is beyond. today has the bytes of
// the day so far, by class.
func (p *Policy) Decide(r Request, today map[string]float64) (allowed bool, why string) {
	listens := r.Open != "" && (r.Port != 0 || r.Program == "") // a program may do without
	if listens && !p.Ports.hold(r.Port) {
		return false, fmt.Sprintf("ports: %v may be opened, not %d", p.Ports.withDefault(), r.Port)
	}
	chain := p.Chain(p.ClassOf(r.Host, r.Address))
	for _, name := range chain {
		if why := p.Classes[name].refuses(r, today[name]); why != "" {
			return false, fmt.Sprintf("class %s: %s", name, why)
		}
	}
	if r.Program != "" && !slices.ContainsFunc(chain, func(name string) bool { return p.Classes[name].Programs != nil }) {
		return false, fmt.Sprintf("class %s: no external programs, so not %s", chain[0], r.Program)
	}
	return true, ""
}

// Room says whether one more run of a class may fill a link, and if not, which limit it has to wait for. filling is
// how many fill one now, by class.
func (p *Policy) Room(class string, filling map[string]int) (room bool, why string) {
	limited := false
	for _, name := range p.Chain(class) {
		most := int(p.Classes[name].Parallel)
		limited = limited || most > 0
		if most > 0 && filling[name] >= most {
			return false, fmt.Sprintf("class %s: parallel: at most %d runs that fill a link", name, most)
		}
	}
	if !limited && filling[class] > 0 {
		return false, fmt.Sprintf("class %s: parallel: one run that fills a link at a time", class)
	}
	return true, ""
}

// refuses returns why a class does not allow a request, or "".
func (c Class) refuses(r Request, bytes float64) string {
	switch {
	case r.Open != "" && c.Opens != nil && !slices.Contains(*c.Opens, r.Open):
		return "opens: " + c.Opens.only(r.Open)
	case r.Open == "" && c.Kinds != nil && !slices.Contains(*c.Kinds, r.Kind):
		return "kinds: " + c.Kinds.only(r.Kind)
	case r.Program != "" && c.Programs != nil && !slices.Contains(c.Programs, r.Program):
		return "programs: " + c.Programs.only(r.Program)
	case c.Duration > 0 && r.Duration > time.Duration(c.Duration)+setUp:
		return fmt.Sprintf("duration: at most %v, not %v", time.Duration(c.Duration), r.Duration.Round(time.Millisecond))
	case c.Rate > 0 && r.Rate > float64(c.Rate):
		return fmt.Sprintf("rate: at most %s, not %s", quantity.FormatRate(float64(c.Rate)), quantity.FormatRate(r.Rate))
	case c.Rate > 0 && r.Rate == 0 && r.Exclusive:
		return fmt.Sprintf("rate: at most %s, not as fast as the path carries", quantity.FormatRate(float64(c.Rate)))
	case c.Daily > 0 && bytes+r.Bytes > float64(c.Daily):
		return fmt.Sprintf("daily_bytes: %s a day, of which %s are taken, so not %s",
			quantity.FormatSize(int64(c.Daily)), quantity.FormatSize(int64(bytes)), moreBytes(r.Bytes))
	case c.Daily > 0 && bytes >= float64(c.Daily):
		return fmt.Sprintf("daily_bytes: all %s of today are taken", quantity.FormatSize(int64(c.Daily)))
	case len(c.Hours) > 0 && !slices.ContainsFunc(c.Hours, func(h Hours) bool { return h.Hold(r.At) }):
		return fmt.Sprintf("hours: not at %s", r.At.Format("Mon 15:04"))
	}
	return ""
}

func moreBytes(n float64) string {
	if n < 1 {
		return "more"
	}
	return quantity.FormatSize(int64(n)) + " more"
}

// only returns what names allow, and that something else is not among it, for the refusal of a request.
func (n Names) only(not string) string {
	if len(n) == 0 {
		return fmt.Sprintf("none, so not %s", not)
	}
	return fmt.Sprintf("only %s, not %s", strings.Join(n, ", "), not)
}

// Caps returns the least of a class's and its parents' durations and rates (bit/s); 0: not limited.
func (p *Policy) Caps(class string) (duration time.Duration, rate float64) {
	for _, name := range p.Chain(class) {
		if d := time.Duration(p.Classes[name].Duration); d > 0 && (duration == 0 || d < duration) {
			duration = d
		}
		if r := float64(p.Classes[name].Rate); r > 0 && (rate == 0 || r < rate) {
			rate = r
		}
	}
	return duration, rate
}
