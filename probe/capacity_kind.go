package probe

import (
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

func capacityKind() Kind {
	return newKind(declaration[Capacity]{
		kind:   Kind{Name: "capacity", Meaning: "capacity of the narrowest link, by packet trains to a Pathwise responder"},
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
		{Name: "length", Default: "what fits an Ethernet packet", Meaning: "bytes of UDP payload in each packet of the trains",
			binding: whole(func(p *Capacity) *int { return &p.Length }, leastTrainPayload, trainPayload)},
		familyField(func(p *Capacity) *sock.Family { return &p.Family }),
	}
}

func (p *Capacity) equip(o Options) {
	if r := iperf3Responder(o); r != nil {
		p.Port, p.Cookie = r.Port, r.Secret
	}
}

func (p *Capacity) demand() measure.Demand {
	packets := float64(shortTrains.Packets*shortTrains.Trains + longTrains.Packets*longTrains.Trains)
	return measure.Demand{DurationSeconds: (capacityFor + iperf3Setup).Seconds(), Exclusive: true,
		Bytes:          packets * wire(p.Target, p.Family, udpHeader+trainPayload),
		Responder:      measure.ResponderIperf3,
		ResponderTests: 2, // short trains, then long ones
	}
}
