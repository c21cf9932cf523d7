package probe

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// Trace finds the route to a target: packets with TTL 1, 2, 3 … make each router on the way answer with an ICMP
// "time exceeded", and the target with an answer of its own (RFC 1393 describes the method).
//
// All packets of a trace are of one flow, so that routers which spread flows over equal ways send all the same way: see traceFlow. So are all traces to a target
// by a protocol, unless they say NewFlow. What goes when says tracePlan. UDP and ICMP need no privilege: the kernel hands the ICMP errors to the socket that caused them. With CAP_NET_RAW a trace
// hears more: what routers quote of a packet's own header, such as its DSCP. TCP without it makes a connection for each
// packet, so that each is a flow of its own.
type Trace struct {
	Target   string        // name or address; required
	Family   sock.Family   // zero: the first of the target's addresses that can be reached
	Protocol string        // "" or "udp", "icmp", "tcp"
	MaxTTL   int           // 0: 30
	Queries  int           // probes for each TTL; 0: 3
	Timeout  time.Duration // the longest wait for one answer; 0: 1 s
	Port     int           // the destination port; 0: 33434 of UDP, 80 of TCP; ICMP has none
	DSCP     int           // of the packets, 0..63
	Interval time.Duration // the least time between two packets; 0: 1 ms
	// NewFlow has its packets be of another flow than those of other traces to the target: see traceFlow.heldPort.
	NewFlow bool
	// Multipath looks for all equal-cost paths, by UDP packets of many flows; Queries is of no use then.
	Multipath  bool
	Confidence float64 // that all of them are found; 0: 0.95

	// Both has the Pathwise responder at the target trace the way back, too, at ResponderPort; 0: 4443.
	Both          bool
	ResponderPort int

	// Secret is of a responder that was opened for this run; "": it answers everybody.
	Secret string

	// MTU measures the largest packet that comes to each hop, too.
	MTU bool

	// Middlebox finds what is done to the header fields and options of SYNs on the way, and where. It needs CAP_NET_RAW; Port 0 is 4443 then, where a Pathwise
	// responder tells what arrives.
	Middlebox bool

	// Rounds asks each hop so many times, as a LiveTrace does, one round Every; 0: it traces once. Round is called with what came of them so far as each begins, by a
	// goroutine of Do; it may be nil.
	Rounds int
	Every  time.Duration // 0: 1 s
	Round  func(measure.RoundsSample)

	// Progress is called for each hop, in order of TTL, when all its probes are answered or given up; by the goroutine of
	// Do. It begins again where another address of the target is tried. It may be nil.
	Progress func(measure.Hop)
}

// What a trace sends.
const (
	traceUDP  = "udp"
	traceICMP = "icmp"
	traceTCP  = "tcp"
)

// Defaults and limits of Trace.
const (
	traceMaxTTL   = 30
	traceQueries  = 3
	traceTimeout  = time.Second
	tracePort     = 33434            // 32768 + 666, where traceroute has always begun, and firewalls expect it
	traceTCPPort  = 80               // as of Debian's traceroute: what firewalls let through most
	traceInterval = time.Millisecond // less than 1 Mbit/s of such packets, which disturbs no other test
	traceFastest  = 100 * time.Microsecond
	tracePayload  = 32 // bytes; with headers 60 over IPv4, as traceroute sends
)

// Validate says what is wrong with the parameters, as an input.Error, or returns nil.
func (t Trace) Validate() error {
	if !slices.Contains([]string{"", traceUDP, traceICMP, traceTCP}, t.Protocol) {
		return &input.Error{Field: "protocol", Value: t.Protocol, Remedy: "give udp, icmp or tcp"}
	}
	if t.Protocol == traceICMP && t.Port != 0 {
		return &input.Error{Field: "port", Value: strconv.Itoa(t.Port), Remedy: "leave it away: ICMP has no ports"}
	}
	return cmp.Or(
		t.checkNewFlow(),
		t.checkMultipath(),
		t.checkBoth(),
		t.checkMTU(),
		t.checkMiddlebox(),
		t.checkRounds(),
		checkTarget(t.Target, t.Family),
		checkRange("max TTL", t.MaxTTL, 0, 255),
		checkRange("queries", t.Queries, 0, 10),
		checkDuration("timeout", t.Timeout, time.Millisecond, maxTimeout),
		checkRange("port", t.Port, 0, 65535),
		checkRange("DSCP", t.DSCP, 0, 63),
		checkDuration("interval", t.Interval, traceFastest, maxTimeout),
	)
}

func (t Trace) withDefaults() Trace {
	if t.Middlebox {
		t.Protocol = traceTCP
		setDefault(&t.Port, traceResponderPort)
	}
	t.Protocol = cmp.Or(t.Protocol, traceUDP)
	setDefault(&t.MaxTTL, traceMaxTTL)
	setDefault(&t.Queries, traceQueries)
	setDefault(&t.Timeout, traceTimeout)
	setDefault(&t.Interval, traceInterval)
	if t.Both {
		setDefault(&t.ResponderPort, traceResponderPort)
	}
	switch t.Protocol {
	case traceUDP:
		setDefault(&t.Port, tracePort)
	case traceTCP:
		setDefault(&t.Port, traceTCPPort)
	}
	return t
}

func traceKind() Kind {
	return newKind(declaration[Trace]{
		kind: Kind{Name: "trace", Meaning: "the route, by packets that die at each hop", Text: traceText, Usage: Usage{
			Hosts: "HOST[:PORT]", Short: "The route to HOST",
			Long: "Send packets that die at each hop in turn, and report who says so. All hops are asked at once, by packets of one flow. " +
				"Needs no root; with it, routers tell more, and TCP keeps to one flow.",
			Examples: []string{"trace 127.0.0.1", "trace carol --json", "trace carol -6 --proto icmp", "trace carol:443 --proto tcp", "trace carol --dscp 46",
				"trace carol --multipath", "trace carol --both", "trace carol --mtu", "trace carol --middlebox"},
			Doing: "tracing", Detail: true, Own: []string{roundsName, everyName},
		}, Needs: []Need{{What: "timestamps", Means: "a UDP socket of which the kernel stamps arrivals", Try: tryStamps},
			{What: "raw-tcp", Means: rawTCP, Parameter: "middlebox", Value: "true", Try: trySYN}}},
		target: func(t *Trace) *string { return &t.Target },
		fields: traceFields(),
	})
}

func traceFields() []field[Trace] {
	return append([]field[Trace]{
		{Name: "proto", Default: "udp", Meaning: "udp, icmp (echo) or tcp (SYN)",
			binding: word(func(t *Trace) *string { return &t.Protocol }, traceUDP, traceICMP, traceTCP)},
		{Name: "max-ttl", Default: "30", Meaning: "give up after this many hops",
			binding: whole(func(t *Trace) *int { return &t.MaxTTL }, 1, 255)},
		{Name: "queries", Short: "n", Default: "3", Meaning: "packets for each hop",
			binding: whole(func(t *Trace) *int { return &t.Queries }, 1, 10)},
		{Name: "port", Outward: true, Default: "33434; tcp: 80; middlebox: 4443", Meaning: "destination port",
			binding: whole(func(t *Trace) *int { return &t.Port }, 1, 65535)},
		{Name: "timeout", Short: "W", Default: "1s", Meaning: "how long an answer may take",
			binding: span(func(t *Trace) *time.Duration { return &t.Timeout })},
		{Name: "interval", Short: "i", Default: "1ms", Meaning: "time between packets, of the whole trace",
			binding: span(func(t *Trace) *time.Duration { return &t.Interval })},
		{Name: "dscp", Default: "0", Meaning: dscpMeaning,
			binding: codePoint(func(t *Trace) *int { return &t.DSCP })},
		{Name: "new-flow", Default: "false", Meaning: "be of another flow each time, not of the one that all traces to a target are of and that balancing sends one way",
			binding: ifYes(func(t *Trace) *bool { return &t.NewFlow })},
		{Name: "multipath", Default: "false", Meaning: "find all equal-cost paths, by packets of many flows",
			binding: ifYes(func(t *Trace) *bool { return &t.Multipath })},
		{Name: "confidence", Default: "0.95", Meaning: "with multipath: how sure to be that no path is missing",
			binding: share(func(t *Trace) *float64 { return &t.Confidence })},
		{Name: "both", Default: "false", Meaning: "have `pathwise respond` there trace the way back, too, and hold both beside each other",
			binding: ifYes(func(t *Trace) *bool { return &t.Both })},
		{Name: "middlebox", Default: "false", Meaning: "find what is changed on the way in TCP SYNs, and where, by what routers and `pathwise respond` tell; needs cap_net_raw",
			binding: ifYes(func(t *Trace) *bool { return &t.Middlebox })},
		{Name: "responder-port", Outward: true, Default: "4443", Meaning: "with both: of the responder",
			binding: whole(func(t *Trace) *int { return &t.ResponderPort }, 1, 65535)},
		{Name: "mtu", Default: "false", Meaning: "measure the largest packet that comes to each hop, too, and who passes on no larger ones",
			binding: ifYes(func(t *Trace) *bool { return &t.MTU })},
		familyField(func(t *Trace) *sock.Family { return &t.Family }),
	}, roundsFields()...)
}

func (t *Trace) equip(o Options) {
	t.Progress, t.Round = watch(o.Hop, o.Say, hopLine), watch(o.Rounds, o.Say, RoundsLine)
	r := o.Responder
	switch {
	case r == nil || r.Kind != measure.ResponderNDT7:
	case t.Both:
		t.ResponderPort, t.Secret = r.Port, r.Secret
	case t.Middlebox:
		t.Port, t.Secret = r.Port, r.Secret
	}
}

// resultBytes are those of three metrics and 15 hops, most of which the one before had, too.
func (t *Trace) resultBytes() float64 {
	if t.Both || t.Middlebox {
		return 1400 // of two routes, and what they share
	}
	if t.Rounds > 0 {
		return roundsBytes
	}
	return 550
}

// demand reckons with a route on which no hop answers: the probes ahead of it wait for their timeout, and then all others for theirs.
func (t *Trace) demand() measure.Demand {
	if t.Rounds > 0 {
		return t.roundsDemand()
	}
	all := t.withDefaults()
	probes := float64(all.MaxTTL * all.Queries)
	if all.Multipath {
		probes = multipathTypical
	}
	each := wire(t.Target, t.Family, udpHeader+tracePayload)
	d := measure.Demand{DurationSeconds: 2*all.Timeout.Seconds() + probes*all.Interval.Seconds(), Bytes: 2 * each * probes,
		BitsPerSecond: 8 * each / all.Interval.Seconds()}
	if all.MTU {
		sizes := (&MTU{Target: t.Target, Family: t.Family, Timeout: t.Timeout}).demandOf(mtuSearches)
		d.DurationSeconds, d.Bytes, d.BitsPerSecond = d.DurationSeconds+sizes.DurationSeconds, d.Bytes+sizes.Bytes, max(d.BitsPerSecond, sizes.BitsPerSecond)
	}
	if all.Both {
		d.DurationSeconds, d.Bytes = 2*d.DurationSeconds+openingTimeout.Seconds(), 2*d.Bytes
		if t.ResponderPort == 0 { // else somebody answers there
			d.Responder, d.PortParameter = measure.ResponderNDT7, "responder-port"
		}
	}
	if all.Middlebox { // the route twice, and a connection
		d.DurationSeconds, d.Bytes = 2*d.DurationSeconds+2*talkTries*talkAgain.Seconds(), 2*d.Bytes
		if t.Port == 0 { // as a box may change what goes to some ports alone
			d.Responder = measure.ResponderNDT7
		}
	}
	return d
}
