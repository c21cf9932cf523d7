package probe

import (
	"math"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/sock"
)

func pingKind() Kind {
	return newKind(declaration[Ping]{
		kind: Kind{Name: "ping", Meaning: "round trips, by ICMP echo, UDP, STAMP or TCP", Text: pingText, Usage: Usage{
			Hosts: "HOST[:PORT]…", Several: true, URLs: "app", Group: "beacon", Short: "Round trips to each HOST, or with the service of a URL",
			Long: "Send ICMP echoes, datagrams or packets to a STAMP reflector, or open TCP connections, and report delay, loss, duplicates\n" +
				"and reordering, by the kernel's own time stamps. Echoes need no root where net.ipv4.ping_group_range admits the user; UDP and\n" +
				"connections need none.\n" +
				"A URL of dns:, http:, https:, ntp:, radius:, smtp: or tls: instead asks that service, each time anew. --group measures a multicast group\n" +
				"between all of its members, who run at once.",
			Examples: []string{"ping 127.0.0.1 -c 3 -i 0.1", "ping carol --poisson --dscp 46 --json",
				"ping 127.0.0.1:443 --proto tcp -c 3 -i 0.1", "ping localhost -4 -6 -c 3 -i 0.1",
				"ping dns://192.0.2.53/www.example.org?type=AAAA -c 3", "ping https://www.example.org/ ntp://pool.ntp.org",
				"ping --group 239.255.86.3 -c 50"},
			Doing: "pinging", Detail: true,
		}, Needs: []Need{
			{What: "raw-sockets", Means: echoSocket, Parameter: "proto", Value: protoICMP, Try: tryEcho},
			{What: "raw-tcp", Means: rawTCP, Parameter: "method", Value: methodSYN, Try: trySYN},
		}},
		target: func(p *Ping) *string { return &p.Target },
		fields: pingFields(),
	})
}

func pingFields() []field[Ping] {
	return []field[Ping]{
		{Name: "proto", Default: "icmp", Meaning: "icmp; udp; stamp, to a reflector; or tcp",
			Former:  map[string]map[string]any{"syn": {"proto": protoTCP, "method": methodSYN}}, // until there was a method
			binding: word(func(p *Ping) *string { return &p.Proto }, pingProtos...)},
		{Name: "method", Default: "connect", Meaning: "of tcp: connect, whole connections; or syn, which opens none and needs CAP_NET_RAW",
			binding: word(func(p *Ping) *string { return &p.Method }, pingMethods...)},
		{Name: "count", Short: "c", Default: "10", Meaning: "echoes to send",
			binding: whole(func(p *Ping) *int { return &p.Count }, 1, pingMaxCount)},
		{Name: "interval", Short: "i", Default: "1s", Meaning: "between echoes; their mean with poisson",
			binding: span(func(p *Ping) *time.Duration { return &p.Interval })},
		{Name: "timeout", Short: "W", Default: "2s", Meaning: "how long a reply may take",
			binding: span(func(p *Ping) *time.Duration { return &p.Timeout })},
		{Name: "size", Short: "s", Default: "56", Meaning: "bytes of payload; 1 at least",
			binding: whole(func(p *Ping) *int { return &p.Size }, 1, pingMaxSize)},
		{Name: "ttl", Default: "the kernel's", Meaning: "time to live",
			binding: whole(func(p *Ping) *int { return &p.TTL }, 1, 255)},
		{Name: "dscp", Default: "0", Meaning: dscpMeaning,
			binding: codePoint(func(p *Ping) *int { return &p.DSCP })},
		{Name: "df", Default: "false", Meaning: "do not let routers cut the packets",
			binding: yesOrNo(func(p *Ping) *bool { return &p.DontFragment })},
		{Name: "schedule", Default: "periodic", Meaning: "periodic; poisson, exponential intervals, which meet periodic behaviour without bias; geometric, the same in steps of a tenth of the interval",
			binding: word(func(p *Ping) *string { return &p.Schedule }, pingSchedules...)},
		{Name: "poisson", Default: "false", Meaning: "schedule poisson, as it was spelled before",
			binding: yesOrNo(func(p *Ping) *bool { return &p.Poisson })},
		{Name: "sizes", Default: "none", Meaning: "of icmp: payloads of ten sizes between two, such as 64..1472, in random order: delay and loss by size",
			binding: only(word(func(p *Ping) *string { return &p.Sizes }), func(text string) bool {
				_, _, err := readSizes(text)
				return err == nil
			}, "give two sizes such as 64..1472")},
		{Name: "flood", Default: "false", Meaning: "as fast as answers come, and 100 a second at least; by root, or an agent whose owner admits it",
			binding: yesOrNo(func(p *Ping) *bool { return &p.Flood })},
		{Name: "reorder-burst", Default: "false", Meaning: "of icmp: five long and five short packets back to back each interval, which a path reorders if it can",
			binding: yesOrNo(func(p *Ping) *bool { return &p.Burst })},
		{Name: "port", Short: "p", Outward: true, Default: "443; of udp 33434, of stamp 862", Meaning: "of all but icmp; one where nobody listens answers, too",
			binding: whole(func(p *Ping) *int { return &p.Port }, 1, 65535)},
		{Name: "window", Default: "none", Meaning: "packets to keep in flight, such as 32 or 1..32, one number after the other, at the rate of their answers",
			binding: only(word(func(p *Ping) *string { return &p.Window }), func(text string) bool {
				_, _, err := readWindow(text)
				return err == nil
			}, "give a number of packets such as 32, or 1..32")},
		familyField(func(p *Ping) *sock.Family { return &p.Family }),
	}
}

func (p *Ping) equip(o Options) {
	p.Progress, p.Windowed = watch(o.Echo, o.Say, EchoLine), o.Window
	p.MayFlood = p.Flood && !o.Attended
	if r := o.Responder; r != nil && r.Kind == measure.ResponderSTAMP {
		p.Port = r.Port
	}
}

// bound sets when the last request leaves at the latest, so that a run fits what was planned for it, however the intervals
// are drawn: later than it by chance in one run of 30,000, which then sends fewer.
func (p *Ping) bound() {
	all := p.withDefaults()
	slack := 1.
	if p.random() {
		slack = 4 * math.Sqrt(float64(all.Count-1)) // standard deviations of the sum of exponential intervals
	}
	const most = 1 << 62 // ns, 146 years
	p.Deadline = time.Duration(min(most, (float64(all.Count-1)+slack)*float64(all.Interval)))
}

// demand reckons with a last request that is lost, so that the run waits for it until its timeout.
func (p *Ping) demand() measure.Demand {
	all := p.withDefaults()
	if all.Window != "" {
		return all.windowDemand()
	}
	if all.Sizes != "" {
		_, all.Size, _ = readSizes(all.Sizes)
	}
	ahead, back := all.onLink()
	if all.Flood { // as fast as the path answers: nobody knows how fast
		return measure.Demand{DurationSeconds: float64(all.Count)*floodLeast.Seconds() + all.Timeout.Seconds(), Bytes: (ahead + back) * float64(all.Count),
			Exclusive: true, Responder: all.far()}
	}
	last := float64(all.Count-1) * all.Interval.Seconds()
	if p.random() {
		last = p.Deadline.Seconds()
	}
	rate := 8 * ahead / all.Interval.Seconds()
	if all.Burst {
		rate, last = rate*2*burstLong, last/(2*burstLong)
	}
	return measure.Demand{DurationSeconds: last + all.Timeout.Seconds(), Bytes: (ahead + back) * float64(all.Count),
		BitsPerSecond: rate, Exclusive: rate > LightRate, Responder: all.far()}
}

// far is the kind of listener that the target opens for a run.
func (p Ping) far() string {
	if p.Proto == protoSTAMP {
		return measure.ResponderSTAMP
	}
	return ""
}

// resultBytes are those of 19 metrics and a distribution, and of each echo.
func (p *Ping) resultBytes() float64 { return 920 + 14*float64(p.withDefaults().Count) }

// onLink is how many bytes of a link's time each request takes ahead, and its answer the other way, at most.
//
//	icmp  echo request              | echo reply
//	tcp   SYN, ACK, FIN ACK, ACK    | SYN ACK, ACK, FIN ACK; by connections
//	      SYN, RST if it was open   | SYN ACK, or RST; by SYN alone
//	udp   datagram                  | the same, or port unreachable, which is shorter or 28 bytes longer
//	stamp packet                    | its reflection
func (p *Ping) onLink() (ahead, back float64) {
	const tcpACK = model.TCPHeader + model.TCPTimestamps
	packet := func(afterIP float64) float64 { return wire(p.Target, p.Family, afterIP) }
	switch {
	case p.bySYN():
		return packet(synHeader) + packet(model.TCPHeader), packet(synHeader)
	case p.Proto == protoTCP:
		return packet(kernelSYN) + 3*packet(tcpACK), packet(kernelSYN) + 2*packet(tcpACK)
	}
	if p.Proto == protoUDP {
		return packet(float64(p.Size + udpHeader)), max(packet(float64(p.Size+udpHeader)), packet(float64(unreachableBytes(p.Size))))
	}
	return packet(float64(p.Size + icmpHeader)), packet(float64(p.Size + icmpHeader))
}

// kernelSYN is the size of Linux's own SYN, and of its answer, with their options: MSS, SACK, timestamps and window scale.
const kernelSYN = model.TCPHeader + 20
