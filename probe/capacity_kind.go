package probe

import (
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

func capacityKind() Kind {
	return newKind(declaration[Capacity]{
		kind: Kind{Name: "capacity", Meaning: "capacity of the narrowest link, by packet trains to a Pathwise responder", Text: capacityText, Usage: Usage{
			Hosts: "HOST[:PORT]", Short: "What the narrowest link to HOST can carry, and what of that is free",
			Long: "Send pairs, trains and streams of packets to HOST, where `pathwise respond` runs, and tell from how they arrive what the narrowest\n" +
				"link on the way can carry, what other traffic leaves of it, and whether a token bucket (a policer or a shaper) passes less for long\n" +
				"than at once. With --hops, tell what each link on the way can carry, without a responder. What cannot be told is said, with the reason.",
			Examples: []string{"capacity carol", "capacity carol --light", "capacity carol -R --json", "capacity carol --hops"},
			Doing:    "sending trains to", Detail: true, Set: map[string]string{"available": "true"},
		}},
		target: func(p *Capacity) *string { return &p.Target },
		fields: capacityFields(),
	})
}

func capacityFields() []field[Capacity] {
	return []field[Capacity]{
		{Name: "port", Short: "p", Outward: true, Default: "5201", Meaning: "the responder's; a host of a mesh opens one of its own",
			binding: whole(func(p *Capacity) *int { return &p.Port }, 1, 65535)},
		{Name: "reverse", Short: "R", Default: "false", Meaning: "from the target to this host",
			binding: yesOrNo(func(p *Capacity) *bool { return &p.Reverse })},
		{Name: "available", Default: "false", Meaning: "what other traffic leaves free, too, by streams that load the path for some seconds",
			binding: yesOrNo(func(p *Capacity) *bool { return &p.Available })},
		{Name: "light", Default: "false", Meaning: "capacity and what is free as well as a second allows",
			binding: yesOrNo(func(p *Capacity) *bool { return &p.Light })},
		{Name: "brief", Default: "false", Meaning: "half the trains, as long as they agree: some tenths of a second each way on most paths, beside the set-up",
			binding: yesOrNo(func(p *Capacity) *bool { return &p.Brief })},
		{Name: "hops", Default: "false", Meaning: "in place of that, what each link on the way can carry, its delay and its queue, by packets that expire at each hop; needs no responder",
			binding: yesOrNo(func(p *Capacity) *bool { return &p.Hops })},
		{Name: "length", Default: "what fits an Ethernet packet", Meaning: "bytes of UDP payload in each packet of the trains",
			binding: whole(func(p *Capacity) *int { return &p.Length }, leastTrainPayload, trainPayload)},
		{Name: "small", Default: "the same", Meaning: "bytes of every second packet: whether small ones overtake, and no capacity",
			binding: whole(func(p *Capacity) *int { return &p.Small }, leastTrainPayload, trainPayload)},
		familyField(func(p *Capacity) *sock.Family { return &p.Family }),
	}
}

func (p *Capacity) equip(o Options) {
	if r := iperf3Responder(o); r != nil {
		p.Port, p.Cookie = r.Port, r.Secret
	}
	p.Say = o.Say
}

// resultBytes are those of five long trains, and where they were sent, of twenty streams.
func (p *Capacity) resultBytes() float64 {
	if p.Hops { // of ten links
		return 900
	}
	if p.Available {
		return 1300
	}
	return 580
}

// capacityPackets are those of short and long trains, and of more of the short ones, which a short queue asks for.
const capacityPackets = 1640

// capacitySets is how many tests a measurement makes at most: one for each of its stages, of which some take several on a fast path.
const capacitySets = 24

func (p *Capacity) demand() measure.Demand {
	if p.Hops {
		return p.hopsDemand()
	}
	d := measure.Demand{DurationSeconds: (p.longest() + iperf3Setup).Seconds(), Exclusive: true, Responder: measure.ResponderIperf3, ResponderTests: capacitySets}
	if !p.Available && !p.Light { // what streams send follows from the capacity
		d.Bytes = capacityPackets * wire(p.Target, p.Family, udpHeader+trainPayload)
	}
	return d
}
