package probe

import (
	"math"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

func traceKind() Kind {
	return newKind(declaration[Trace]{
		kind: Kind{Name: "trace", Meaning: "the route, by UDP packets that die at each hop", Text: traceText, Usage: Usage{
			Hosts: "HOST[:PORT]", Short: "The route to HOST",
			Long:     "Send UDP packets that die at each hop in turn, and report who says so. Needs no root.",
			Examples: []string{"trace 127.0.0.1", "trace carol --json", "trace carol -6"},
			Doing:    "tracing", Detail: true,
		}},
		target: func(t *Trace) *string { return &t.Target },
		fields: traceFields(),
	})
}

func traceFields() []field[Trace] {
	return []field[Trace]{
		{Name: "proto", Default: "udp", Meaning: "udp, the only one so far",
			binding: word(func(t *Trace) *string { return &t.Protocol }, "udp")},
		{Name: "max-ttl", Default: "30", Meaning: "give up after this many hops",
			binding: whole(func(t *Trace) *int { return &t.MaxTTL }, 1, 255)},
		{Name: "queries", Short: "n", Default: "3", Meaning: "packets for each hop",
			binding: whole(func(t *Trace) *int { return &t.Queries }, 1, 10)},
		{Name: "port", Outward: true, Default: "33434", Meaning: "first destination port",
			binding: whole(func(t *Trace) *int { return &t.Port }, 1, 65535)},
		{Name: "timeout", Short: "W", Default: "1s", Meaning: "how long an answer may take",
			binding: span(func(t *Trace) *time.Duration { return &t.Timeout })},
		familyField(func(t *Trace) *sock.Family { return &t.Family }),
	}
}

func (t *Trace) equip(o Options) { t.Progress = watch(o.Hop, o.Say, hopLine) }

// demand reckons with a route on which no hop answers, so that probes wait for their timeouts, a window at a time.
func (t *Trace) demand() measure.Demand {
	all := t.withDefaults()
	probes := float64(all.MaxTTL * all.Queries)
	each := wire(t.Target, t.Family, udpHeader+tracePayload)
	windows := math.Ceil(probes / traceWindow)
	return measure.Demand{DurationSeconds: windows * all.Timeout.Seconds(), Bytes: 2 * each * probes,
		BitsPerSecond: 8 * each * traceWindow / traceMinWait.Seconds()}
}
