package probe

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/sock"
)

// Trace finds the route to a target: UDP packets with TTL 1, 2, 3 … make each router on the way answer with an ICMP
// "time exceeded", and the target with "port unreachable" (RFC 1393 describes the method). It needs no privilege.
//
// Every probe has a destination port of its own, Port and upwards, by which the answers are told apart; the source port
// is the same for all. Routers that spread flows over parallel links may therefore send probes different ways, and the
// hops of one trace may be of several paths; a hop then has several addresses.
//
// Up to 16 probes are on their way at a time, so the route to a near target takes little more than one round trip.
type Trace struct {
	Target   string        // name or address; required
	Family   sock.Family   // zero: the first of the target's addresses that can be reached
	Protocol string        // "" or "udp": the only one so far
	MaxTTL   int           // 0: 30
	Queries  int           // probes for each TTL; 0: 3
	Timeout  time.Duration // the longest wait for one answer; 0: 1 s
	Port     int           // the first destination port; 0: 33434

	// Progress is called for each hop, in order of TTL, when all its probes are answered or given up; by the goroutine of
	// Do. It begins again where another address of the target is tried. It may be nil.
	Progress func(measure.Hop)
}

// Defaults and limits of Trace.
const (
	traceMaxTTL  = 30
	traceQueries = 3
	traceTimeout = time.Second
	tracePort    = 33434 // 32768 + 666, where traceroute has always begun, and firewalls expect it
	traceWindow  = 16    // probes on their way: some 1 kB, which no queue minds
	tracePayload = 32    // bytes; with headers 60 over IPv4, as traceroute sends

	// A silent hop is given up once it is later than these allow, but an answer within Timeout still counts.
	traceRTTs    = 3 // times the round trip of the farthest hop seen
	traceMinWait = 200 * time.Millisecond
)

// Validate says what is wrong with the parameters, as an input.Error, or returns nil.
func (t Trace) Validate() error {
	if t.Protocol != "" && t.Protocol != "udp" {
		return &input.Error{Field: "protocol", Value: t.Protocol, Remedy: "trace speaks only udp"}
	}
	err := cmp.Or(
		checkTarget(t.Target, t.Family),
		checkRange("max TTL", t.MaxTTL, 0, 255),
		checkRange("queries", t.Queries, 0, 10),
		checkDuration("timeout", t.Timeout, time.Millisecond, maxTimeout),
		checkRange("port", t.Port, 0, 65535),
	)
	if err != nil {
		return err
	}
	if t = t.withDefaults(); t.Port+t.MaxTTL*t.Queries > 65536 {
		return &input.Error{Field: "port", Value: strconv.Itoa(t.Port),
			Remedy: "each probe takes the next port: give at most " + strconv.Itoa(65536-t.MaxTTL*t.Queries)}
	}
	return nil
}

func (t Trace) withDefaults() Trace {
	t.Protocol = cmp.Or(t.Protocol, "udp")
	setDefault(&t.MaxTTL, traceMaxTTL)
	setDefault(&t.Queries, traceQueries)
	setDefault(&t.Timeout, traceTimeout)
	setDefault(&t.Port, tracePort)
	return t
}

func traceKind() Kind {
	return newKind(declaration[Trace]{
		kind: Kind{Name: "trace", Meaning: "the route, by UDP packets that die at each hop", Text: traceText, Usage: Usage{
			Hosts: "HOST[:PORT]", Short: "The route to HOST",
			Long:     "Send UDP packets that die at each hop in turn, and report who says so. Needs no root.",
			Examples: []string{"trace 127.0.0.1", "trace carol --json", "trace carol -6"},
			Doing:    "tracing", Detail: true,
		}, Needs: []Need{{What: "timestamps", Means: "a UDP socket of which the kernel stamps arrivals", Try: tryStamps}}},
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

// resultBytes are those of three metrics and 15 hops, most of which the one before had, too.
func (t *Trace) resultBytes() float64 { return 550 }

// demand reckons with a route on which no hop answers, so that probes wait for their timeouts, a window at a time.
func (t *Trace) demand() measure.Demand {
	all := t.withDefaults()
	probes := float64(all.MaxTTL * all.Queries)
	each := wire(t.Target, t.Family, udpHeader+tracePayload)
	windows := math.Ceil(probes / traceWindow)
	return measure.Demand{DurationSeconds: windows * all.Timeout.Seconds(), Bytes: 2 * each * probes,
		BitsPerSecond: 8 * each * traceWindow / traceMinWait.Seconds()}
}

// traceText writes a route, a line for each hop.
func traceText(w io.Writer, r *measure.Result) {
	fmt.Fprintf(w, "route to %s (%s)\n", r.Target.Name, r.Target.Address)
	for _, h := range r.Samples.Hops {
		fmt.Fprintln(w, hopLine(h))
	}
}

// hopLine is who answered at a hop, and after how long.
func hopLine(h measure.Hop) string {
	var rtts []string
	for _, v := range h.RTTSeconds {
		if v == nil {
			rtts = append(rtts, "*")
		} else {
			rtts = append(rtts, quantity.FormatSeconds(*v))
		}
	}
	who := strings.Join(h.Addresses, " ")
	who = cmp.Or(who, "-")
	line := fmt.Sprintf("%3d  %-24s %s", h.TTL, who, strings.Join(rtts, "  "))
	if h.Reply != "" {
		line += "  (" + h.Reply + ")"
	}
	return line
}
