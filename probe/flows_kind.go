package probe

import (
	"fmt"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/flows"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/sock"
	"github.com/pathwise-net/pathwise/traffic"
)

// flowsKind has a command of its own, `pathwise flows SCRIPT --to HOST`: its first argument is no host.
func flowsKind() Kind {
	return newKind(declaration[Flows]{
		kind:   Kind{Name: "flows", Meaning: "flows of datagrams by a script, to a Pathwise responder", Text: flowsText},
		target: func(p *Flows) *string { return &p.Target },
		fields: flowsFields(),
	})
}

func flowsFields() []field[Flows] {
	return []field[Flows]{
		{Name: "script", Default: flowsScript, Meaning: "flows to send, as `docs/flows.md` has them; a semicolon ends a statement as a line does",
			binding: only(word(func(p *Flows) *string { return &p.Script }), isScript, "give flows such as: "+flowsScript)},
		{Name: "reverse", Short: "R", Default: "false", Meaning: "each flow of the script goes the other way", binding: ifYes(func(p *Flows) *bool { return &p.Reverse })},
		{Name: "linger", Default: "1s", Meaning: "how long to wait for late packets, after the last was sent",
			binding: span(func(p *Flows) *time.Duration { return &p.Linger })},
		{Name: "port", Short: "p", Outward: true, Default: "5214", Meaning: "the responder's; a host of a mesh opens one of its own",
			binding: whole(func(p *Flows) *int { return &p.Port }, 1, 65535)},
		familyField(func(p *Flows) *sock.Family { return &p.Family }),
	}
}

// isScript reports whether a text is a script that a Task can have: it has no more packets than a script may, and replays no capture, which would be a
// file of the host.
func isScript(text string) bool {
	script, err := traffic.Parse(text, nil)
	if err == nil {
		_, err = script.Load()
	}
	return err == nil
}

func (p *Flows) equip(o Options) {
	if o.Say != nil {
		p.Progress = func(s *traffic.Script, soFar []flows.SoFar) { o.Say(FlowsLine(s, soFar)) }
	}
	if r := o.Responder; r != nil && r.Kind == measure.ResponderFlows {
		p.Port, p.Secret = r.Port, r.Secret
	}
}

// FlowsLine is what has arrived of each flow, as it is told on the way.
func FlowsLine(s *traffic.Script, soFar []flows.SoFar) string {
	var parts []string
	for i := range min(len(soFar), len(s.Flows)) {
		parts = append(parts, fmt.Sprintf("%s %s", s.Flows[i].Name, quantity.FormatCount(soFar[i].Packets, "packet")))
	}
	return "arrived: " + strings.Join(parts, ", ")
}

func (p *Flows) demand() measure.Demand {
	all := p.withDefaults()
	d := measure.Demand{Responder: measure.ResponderFlows}
	script, err := all.parse()
	if err != nil {
		return d
	}
	terms, err := flows.TermsOf(script, all.Script, all.Reverse, all.Linger, flowsSetup)
	if err != nil {
		return d
	}
	header := wire(p.Target, p.Family, 0)
	d.DurationSeconds = terms.Longest.Seconds()
	for _, f := range terms.Flows {
		d.Bytes += float64(f.Bytes) + header*float64(f.Packets)
	}
	d.BitsPerSecond = terms.Rate
	d.Exclusive = d.BitsPerSecond > LightRate
	return d
}

// resultBytes are those of a Result with a distribution, and of each flow a sample with its intervals, of which most scripts have 40 or so.
func (p *Flows) resultBytes() float64 {
	return 700 + 1500*float64(strings.Count(p.withDefaults().Script, "flow "))
}
