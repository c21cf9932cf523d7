package probe

import (
	"math"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/sock"
)

func owdKind() Kind {
	return newKind(declaration[OWD]{
		kind: Kind{Name: "owd", Meaning: "one-way delay both ways, to a reflector", Text: owdText, Usage: Usage{
			Hosts: "HOST[:PORT]", Short: "One-way delay to HOST and back",
			Long: "Send packets that HOST stamps and reflects (STAMP, RFC 8762, or TWAMP, RFC 5357), or packets of each way alone (OWAMP, RFC 4656), and report what\n" +
				"each way takes, loses and mixes up. HOST runs " +
				"`pathwise respond` or an OWAMP server, or is a router or probe with a STAMP, TWAMP or TWAMP-light reflector. How wrong one-way delays may be for the\n" +
				"clocks of both ends stands beside them.",
			Examples: []string{"owd carol -c 20 -i 0.05", "owd carol --poisson --dscp 46 --json", "owd carol -c 10 -i 0.01 --format owping", "owd carol --continuous --every 1m --json", "owd carol --proto twamp --mode E --key-file keys --key-id ann"},
			Doing:    "measuring", Detail: true,
		}},
		target: func(p *OWD) *string { return &p.Target },
		fields: owdFields(),
	})
}

func owdFields() []field[OWD] {
	return []field[OWD]{
		{Name: "proto", Default: protoSTAMP, Meaning: "stamp, to a reflector; twamp or owamp, to a server",
			binding: word(func(p *OWD) *string { return &p.Proto }, owdProtos...)},
		{Name: "count", Short: "c", Default: "100", Meaning: "packets to send",
			binding: whole(func(p *OWD) *int { return &p.Count }, 1, owdMaxCount)},
		{Name: "interval", Short: "i", Default: "100ms", Meaning: "between packets; their mean with poisson",
			binding: span(func(p *OWD) *time.Duration { return &p.Interval })},
		{Name: "timeout", Short: "W", Default: "2s", Meaning: "how long an answer may take",
			binding: span(func(p *OWD) *time.Duration { return &p.Timeout })},
		{Name: "size", Short: "s", Default: "80 by stamp, 168 with a key, with a mark 88 and 176; by twamp 41, 112 with a key; by owamp 14, 48 with a key", Meaning: "bytes of UDP payload",
			binding: whole(func(p *OWD) *int { return &p.Size }, control.PacketBytes(control.Open, 0), owdMostSize)},
		{Name: "ttl", Default: "255", Meaning: "time to live",
			binding: whole(func(p *OWD) *int { return &p.TTL }, 1, 255)},
		{Name: "dscp", Default: "0", Meaning: "differentiated services code point, by number or name; or several, such as ef,be,le, which take turns and are compared",
			binding: markField()},
		{Name: "poisson", Default: "false", Meaning: "exponential intervals, which meet periodic behaviour without bias",
			binding: yesOrNo(func(p *OWD) *bool { return &p.Poisson })},
		{Name: "continuous", Default: "false", Meaning: "go on until interrupted, with a Result each `every`; in a mesh, runs that follow each other without a gap",
			binding: yesOrNo(func(p *OWD) *bool { return &p.Continuous })},
		{Name: "every", Default: "1m", Meaning: "of continuous: the length of a Result; in a mesh that of the test's schedule",
			binding: span(func(p *OWD) *time.Duration { return &p.Every })},
		{Name: "time", Default: "until interrupted", Meaning: "of continuous: how long packets leave; in a mesh as long as the test is there",
			binding: span(func(p *OWD) *time.Duration { return &p.Time })},
		{Name: "port", Short: "p", Outward: true, Default: "862, of owamp 861", Meaning: "UDP port of the reflector, or TCP port of the server",
			binding: whole(func(p *OWD) *int { return &p.Port }, 1, 65535)},
		{Name: "mode", Default: "open, or with a key authenticated by stamp and else as the server prefers",
			Meaning: "O open, A authenticated, E encrypted, M mixed (RFC 5618); E by twamp and owamp, M by twamp alone",
			binding: word(func(p *OWD) *string { return &p.Mode }, owdModes[protoTWAMP]...)},
		{Name: "key-file", Outward: true, Default: "none", Meaning: "the file with the key: of stamp in hexadecimal, else as servers have it",
			binding: word(func(p *OWD) *string { return &p.KeyFile })},
		{Name: "key-id", Outward: true, Default: "the only one in the file", Meaning: "of twamp and owamp: which key",
			binding: word(func(p *OWD) *string { return &p.KeyID })},
		familyField(func(p *OWD) *sock.Family { return &p.Family }),
	}
}

func (p *OWD) equip(o Options) {
	p.Progress = watch(o.Echo, o.Say, owdLine)
	p.Finished, p.Begin = o.Finished, o.Start
	if r := o.Responder; r != nil && r.Kind == p.withDefaults().far() {
		p.Port = r.Port
		if r.Kind != measure.ResponderSTAMP || r.Sealed { // else it answers the run's peer, whatever it shows
			p.secret = r.Secret
		}
	}
}

// bound sets when the last packet leaves at the latest, as that of Ping does. A run of a continuous measurement is one window of it.
func (p *OWD) bound() {
	all := p.withDefaults()
	if all.Continuous {
		p.alone, p.Deadline, p.Count = true, all.Every, max(1, all.windowPackets())
		if all.Poisson {
			p.Count = min(owdMaxCount, 2*p.Count+100) // more than there ever are: the time ends them
		}
		return
	}
	slack := 1.
	if p.Poisson {
		slack = 4 * math.Sqrt(float64(all.Count-1))
	}
	p.Deadline = time.Duration((float64(all.Count-1) + slack) * float64(all.Interval))
}

// demand reckons with a last packet that is lost, so that the run waits for it until its timeout.
func (p *OWD) demand() measure.Demand {
	sealed := p.sealable()
	all := p.withDefaults()
	if sealed { // its packets are longer, if both hosts can
		all = p.withSecret().withDefaults()
	}
	last := float64(all.Count-1) * all.Interval.Seconds()
	if p.Poisson {
		last = p.Deadline.Seconds()
	}
	each := wire(p.Target, p.Family, udpHeader+float64(all.Size))
	rate := 8 * each / all.Interval.Seconds()
	if all.Continuous { // the next run begins before the last packets of this one are known to be lost
		return measure.Demand{DurationSeconds: all.Every.Seconds(), Bytes: 2 * each * float64(all.windowPackets()),
			BitsPerSecond: rate, Exclusive: rate > LightRate, Continuous: true, Responder: all.far(), Sealed: sealed}
	}
	return measure.Demand{DurationSeconds: last + all.Timeout.Seconds(), Bytes: 2 * each * float64(all.Count),
		BitsPerSecond: rate, Exclusive: rate > LightRate, Responder: all.far(), Sealed: sealed}
}

// resultBytes are inferred from those of a ping: three distributions and four times the metrics, and two more numbers of each packet.
func (p *OWD) resultBytes() float64 {
	all := p.withDefaults()
	packets := all.Count
	if all.Continuous {
		packets = all.windowPackets()
	}
	return 3100 + 34*float64(min(packets, owdMostSamples))
}
