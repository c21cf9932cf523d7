package diagnose

import (
	"fmt"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
)

// Fields of SYNs by which both ends agree on what their connection has, as samples.middleboxes names them.
const (
	synScale = "window scale"
	synSACK  = "SACK permitted"
	synTimes = "time stamps"
	synMSS   = "MSS"
	synFlags = "flags" // two of them ask for ECN
)

// synOption is one that a connection has where both ends offer it in their first packets.
type synOption struct {
	field   string
	agreed  Name                // the fact that the connection has it
	hop     Name                // the first that SYNs reach without it
	offered func(*Subject) bool // both ends are set to offer it
}

// lost says that both ends offer an option, and their connection does not have it: something on the way takes it out, or an end does not do as it is set to.
func (o synOption) lost(s *Subject) bool { return s.Known(o.agreed) && !s.Is(o.agreed) && o.offered(s) }

// definition defines the fact which hop is the first that an option does not come to.
func (o synOption) definition(what string) definition {
	return definition{Name: o.hop, Metric: "hop", Unit: "hop", Means: "the first that SYNs reach without " + what + ", as they left with it",
		Step: quotedSYNs, From: ofSYNs, Read: changedAt(o.field)}
}

// tell adds to a claim that both ends offer an option, and who takes it out.
func (o synOption) tell(s *Subject, c *Claim) {
	if o.lost(s) {
		c.Says, c.Advice = []string{"main", "both"}, []string{"between"}
		s.tellWho(c, o.field, o.hop)
	}
}

// bothSet reports whether both ends are known to have a setting on.
func bothSet(setting func(*measure.TCPSettings) *int) func(*Subject) bool {
	on := func(e *measure.TCPEnd) bool {
		if e == nil || e.Settings == nil {
			return false
		}
		value := setting(e.Settings)
		return value != nil && *value != 0
	}
	return func(s *Subject) bool { return on(s.From) && on(s.To) }
}

// quotedSYNs sends SYNs that routers quote as they came, and that the far end tells of. It takes raw sockets, and is one step whatever it is asked for.
func quotedSYNs(s *Subject) (Step, bool) {
	return Step{Name: "middlebox", Kind: "trace", Way: measure.Way(s.Name), Why: "between which hops the first packets of connections are changed",
		Parameters: map[string]any{"middlebox": true}, Seconds: 2 * traceTakes}, s.Responder && s.Name == measure.Forward
}

// changedAt reads the first hop that SYNs reach with another value of a field than they left with, or without it.
func changedAt(field string) func(*Subject, *measure.Result) (float64, bool) {
	return func(s *Subject, r *measure.Result) (float64, bool) {
		change, found := synChange(r, field)
		return float64(change.By), found && s.Name == measure.Forward
	}
}

// readSYNs keeps what became of SYNs.
func (s *Subject) readSYNs(r *measure.Result) {
	if r.Samples.Middleboxes != nil {
		s.syns = r
	}
}

// tellWho adds to a claim between which hops a field of SYNs is changed, or that they come to the target as they left. It adds nothing where none were sent, or
// routers' quotes do not tell.
func (s *Subject) tellWho(c *Claim, field string, hop Name) {
	if c.Words == nil {
		c.Words = map[string]string{}
	}
	change, found := measure.PacketChange{}, false
	if s.syns != nil {
		change, found = synChange(s.syns, field)
	}
	switch {
	case found:
		after, by := "this host", hopOf(s.syns.Samples.Hops, change.By)
		if change.After > 0 {
			after = hopOf(s.syns.Samples.Hops, change.After)
		}
		if change.Far {
			by = s.syns.Target.Name
		}
		c.Says, c.Evidence = append(c.Says, "box"), append(slices.Clone(c.Evidence), hop)
		c.Words["box"], c.Words["sent"], c.Words["became"] = fmt.Sprintf("between %s and %s", after, by), change.From, change.To
	case s.syns != nil && arrivesAsSent(s.syns.Samples.Middleboxes, field):
		c.Says = append(c.Says, "arrives")
	}
}

// synChange is where SYNs had another value of a field for the first time, or lost it; false: nothing tells.
func synChange(r *measure.Result, field string) (measure.PacketChange, bool) {
	if r.Samples.Middleboxes == nil {
		return measure.PacketChange{}, false
	}
	changes := r.Samples.Middleboxes.Changes
	at := slices.IndexFunc(changes, func(c measure.PacketChange) bool { return c.Field == field && (c.After > 0 || !c.Far) })
	if at < 0 {
		return measure.PacketChange{}, false
	}
	return changes[at], true
}

// arrivesAsSent reports whether the far end told what arrived, and a field of it was as it had left.
func arrivesAsSent(m *measure.Middleboxes, field string) bool {
	return slices.ContainsFunc(m.Points, func(p measure.MiddleboxPoint) bool { return p.Far }) &&
		slices.ContainsFunc(m.Sent, func(f measure.PacketField) bool { return f.Name == field }) &&
		!slices.ContainsFunc(m.Changes, func(c measure.PacketChange) bool { return c.Field == field })
}
