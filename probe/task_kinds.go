package probe

import (
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/sock"
)

// The parameters of the probes. A name is that of the command line's flag, or of its long form.

func pingKind() kind {
	target := func(p *Ping) *string { return &p.Target }
	return kindOf("ping", "round trips, by ICMP echo", target, (*Ping).bound, []field[Ping]{
		{Name: "proto", Default: "icmp", Meaning: "icmp, the only one so far", binding: only[Ping]("icmp")},
		{Name: "count", Default: "10", Meaning: "echoes to send",
			binding: whole(func(p *Ping) *int { return &p.Count }, 1, pingMaxCount)},
		{Name: "interval", Default: "1s", Meaning: "between echoes; their mean with poisson",
			binding: span(func(p *Ping) *time.Duration { return &p.Interval })},
		{Name: "timeout", Default: "2s", Meaning: "how long a reply may take",
			binding: span(func(p *Ping) *time.Duration { return &p.Timeout })},
		{Name: "size", Default: "56", Meaning: "bytes of payload; 1 at least",
			binding: whole(func(p *Ping) *int { return &p.Size }, 1, pingMaxSize)},
		{Name: "ttl", Default: "the kernel's", Meaning: "time to live",
			binding: whole(func(p *Ping) *int { return &p.TTL }, 1, 255)},
		{Name: "dscp", Default: "0", Meaning: "differentiated services code point",
			binding: whole(func(p *Ping) *int { return &p.DSCP }, 0, 63)},
		{Name: "df", Default: "false", Meaning: "do not let routers cut the packets",
			binding: yesOrNo(func(p *Ping) *bool { return &p.DontFragment })},
		{Name: "poisson", Default: "false", Meaning: "exponential intervals, which meet periodic behaviour without bias",
			binding: yesOrNo(func(p *Ping) *bool { return &p.Poisson })},
		familyField(func(p *Ping) *sock.Family { return &p.Family }),
	})
}

func traceKind() kind {
	return kindOf("trace", "the route, by UDP packets that die at each hop", func(t *Trace) *string { return &t.Target },
		func(*Trace) {}, []field[Trace]{
			{Name: "proto", Default: "udp", Meaning: "udp, the only one so far",
				binding: word(func(t *Trace) *string { return &t.Protocol }, "udp")},
			{Name: "max-ttl", Default: "30", Meaning: "give up after this many hops",
				binding: whole(func(t *Trace) *int { return &t.MaxTTL }, 1, 255)},
			{Name: "queries", Default: "3", Meaning: "packets for each hop",
				binding: whole(func(t *Trace) *int { return &t.Queries }, 1, 10)},
			{Name: "port", Default: "33434", Meaning: "first destination port",
				binding: whole(func(t *Trace) *int { return &t.Port }, 1, 65535)},
			{Name: "timeout", Default: "1s", Meaning: "how long an answer may take",
				binding: span(func(t *Trace) *time.Duration { return &t.Timeout })},
			familyField(func(t *Trace) *sock.Family { return &t.Family }),
		})
}

func throughputKind() kind {
	return kindOf("throughput", "how fast data moves, to any iperf3 server", func(p *Throughput) *string { return &p.Target },
		(*Throughput).bound, []field[Throughput]{
			{Name: "proto", Default: "tcp", Meaning: "tcp or udp",
				binding: word(func(p *Throughput) *string { return &p.Config.Proto }, iperf3.TCP, iperf3.UDP)},
			{Name: "port", Default: "5201", Meaning: "of a target that is not of the mesh; the mesh opens one of its own",
				binding: whole(func(p *Throughput) *int { return &p.Port }, 1, 65535)},
			{Name: "duration", Flag: "time", Default: "10s", Meaning: "how long data is sent",
				binding: span(func(p *Throughput) *time.Duration { return &p.Config.Duration })},
			{Name: "bytes", Default: "no limit", Meaning: "end after this much, if duration has not passed before",
				binding: size(func(p *Throughput) *int64 { return &p.Config.Bytes })},
			{Name: "interval", Default: "1s", Meaning: "how often to report on the way",
				binding: span(func(p *Throughput) *time.Duration { return &p.Config.Interval })},
			{Name: "parallel", Default: "1", Meaning: "streams at once, in each direction",
				binding: whole(func(p *Throughput) *int { return &p.Config.Parallel }, 1, 128)},
			{Name: "reverse", Default: "false", Meaning: "the target sends",
				binding: yesOrNo(func(p *Throughput) *bool { return &p.Config.Reverse })},
			{Name: "bidir", Default: "false", Meaning: "both send at once",
				binding: yesOrNo(func(p *Throughput) *bool { return &p.Config.Bidir })},
			{Name: "rate", Default: "none for tcp, 1mbit for udp", Meaning: "of each stream, held by the sending program",
				binding: rate(func(p *Throughput) *int64 { return &p.Config.Rate })},
			{Name: "cc", Default: "each host's own", Meaning: "congestion control of both ends",
				binding: word(func(p *Throughput) *string { return &p.Config.Congestion })},
			{Name: "window", Default: "the kernel tunes them", Meaning: "socket buffers of both ends",
				binding: size(func(p *Throughput) *int { return &p.Config.Window })},
			{Name: "length", Flag: "len", Default: "128K, or what fits the path's MSS for udp",
				Meaning: "bytes of each write, or of each datagram",
				binding: size(func(p *Throughput) *int { return &p.Config.Length })},
			{Name: "event-loop", Default: "false", Meaning: "ask whether there is room before each write, as event-driven programs do",
				binding: yesOrNo(func(p *Throughput) *bool { return &p.Config.EventLoop })},
			{Name: "mss", Default: "the kernel's", Meaning: "largest TCP segment in bytes",
				binding: whole(func(p *Throughput) *int { return &p.Config.MSS }, 88, 9*1024)},
			{Name: "nodelay", Default: "false", Meaning: "switch off Nagle's algorithm",
				binding: yesOrNo(func(p *Throughput) *bool { return &p.Config.NoDelay })},
			{Name: "dscp", Default: "0", Meaning: "differentiated services code point",
				binding: whole(func(p *Throughput) *int { return &p.Config.DSCP }, 0, 63)},
			familyField(func(p *Throughput) *sock.Family { return &p.Family }),
		})
}

func capacityKind() kind {
	return kindOf("capacity", "capacity of the narrowest link, by packet trains to a Pathwise responder",
		func(p *Capacity) *string { return &p.Target }, func(*Capacity) {}, []field[Capacity]{
			{Name: "port", Default: "5201", Meaning: "of a target that is not of the mesh; the mesh opens one of its own",
				binding: whole(func(p *Capacity) *int { return &p.Port }, 1, 65535)},
			{Name: "reverse", Default: "false", Meaning: "from the target to this host",
				binding: yesOrNo(func(p *Capacity) *bool { return &p.Reverse })},
			{Name: "length", Default: "what fits an Ethernet packet", Meaning: "bytes of UDP payload in each packet of the trains",
				binding: whole(func(p *Capacity) *int { return &p.Length }, leastTrainPayload, trainPayload)},
			familyField(func(p *Capacity) *sock.Family { return &p.Family }),
		})
}

// familyField is the parameter of every kind that has a target.
func familyField[T any](at func(*T) *sock.Family) field[T] {
	return field[T]{Name: "family", Default: "the first of the target's addresses that can be reached",
		Meaning: "ipv4 or ipv6: measure over this version of IP only", binding: binding[T]{"text", func(into *T, v any) string {
			text, _ := v.(string)
			*at(into) = sock.Family(text)
			if text == "" || at(into).Validate() != nil {
				return "give ipv4 or ipv6"
			}
			return ""
		}}}
}

// Validate reports the first parameter that cannot be.
func (p *Capacity) Validate() error {
	return firstError(checkTarget(p.Target, p.Family), checkRange("port", p.Port, 0, 65535), checkRange("length", p.Length, 0, trainPayload))
}

// What the host that does a task adds.

func (p *Ping) equip(o Options)  { p.Progress = o.Echo }
func (t *Trace) equip(o Options) { t.Progress = o.Hop }

func (p *Throughput) equip(o Options) {
	p.OnInterval = o.Interval
	if far := farIperf3(o); far != nil {
		p.Port, p.Config.Cookie = far.Port, far.Secret
	}
}

func (p *Capacity) equip(o Options) {
	if far := farIperf3(o); far != nil {
		p.Port, p.Cookie = far.Port, far.Secret
	}
}

// farIperf3 is the iperf3 server that was opened for a run, nil if none was.
func farIperf3(o Options) *measure.Far {
	if o.Far == nil || o.Far.Kind != measure.FarIperf3 {
		return nil
	}
	return o.Far
}
