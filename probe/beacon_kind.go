package probe

import (
	"fmt"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/beacon"
)

// beaconKind has no command of its own: `pathwise ping --group` measures it. In a mesh each host of a list is a member: it has no other target than
// the group, and all begin together.
func beaconKind() Kind {
	return newKind(declaration[Beacon]{
		kind:   Kind{Name: "beacon", Itself: true, Meaning: "a multicast group, between all of its members", Text: beaconText},
		target: func(p *Beacon) *string { return &p.Target },
		fields: beaconFields(),
	})
}

func beaconFields() []field[Beacon] {
	return []field[Beacon]{
		{Name: "group", Outward: true, Default: beaconGroup, Meaning: "multicast group to measure as one of its members, who all run at once: see `docs/beacon.md`",
			binding: word(func(p *Beacon) *string { return &p.Group })},
		{Name: "interface", Outward: true, Default: "the one that routes lead to", Meaning: "of a group: the network interface that sends and listens",
			binding: word(func(p *Beacon) *string { return &p.Interface })},
		{Name: "name", Outward: true, Default: "the host's", Meaning: "of a group: the name by which others know this member",
			binding: word(func(p *Beacon) *string { return &p.Name })},
		{Name: "count", Default: "100", Meaning: "probes to send",
			binding: whole(func(p *Beacon) *int { return &p.Count }, 1, beacon.MostProbes)},
		{Name: "interval", Default: "100ms", Meaning: "between probes",
			binding: span(func(p *Beacon) *time.Duration { return &p.Interval })},
		{Name: "size", Default: "100", Meaning: "bytes of UDP payload, 80 to 1200",
			binding: whole(func(p *Beacon) *int { return &p.Size }, beacon.LeastBytes, beacon.MostBytes)},
		{Name: "ttl", Default: "64", Meaning: "time to live",
			binding: whole(func(p *Beacon) *int { return &p.TTL }, 1, 255)},
		{Name: "dscp", Default: "0", Meaning: dscpMeaning,
			binding: codePoint(func(p *Beacon) *int { return &p.DSCP })},
		{Name: "port", Outward: true, Default: "5863", Meaning: "of the group",
			binding: whole(func(p *Beacon) *int { return &p.Port }, 1, 65535)},
	}
}

func (p *Beacon) equip(o Options) {
	if p.Name == "" {
		if p.Name = o.Host; p.Validate() != nil { // a name in a mesh may be longer than one in packets
			p.Name = ""
		}
	}
	if o.Say == nil {
		return
	}
	var before string
	p.Progress = func(r beacon.Report) {
		told := 0
		for i := range r.Pairs {
			if r.Pairs[i].Told {
				told++
			}
		}
		now := fmt.Sprintf("%d members, %d of %d pairs told, %d probes sent", len(r.Members), told, len(r.Pairs), r.Members[0].Sent)
		if now != before {
			o.Say(now)
		}
		before = now
	}
}

// reduceGroup adds what a group is as a whole.
func reduceGroup(result *measure.Result) {
	m, pairs, members := result.Metrics, result.Samples.Pairs, len(result.Samples.Members)
	m[measure.GroupMembers], m[measure.GroupUntold] = float64(members), float64(members*(members-1)-len(pairs))
	if len(pairs) == 0 {
		return
	}
	var sent, received, copies, reordered int
	for i := range pairs {
		p := &pairs[i]
		sent, received, copies, reordered = sent+p.Sent, received+p.Received, copies+p.Duplicates, reordered+p.Reordered
		if p.Sent > 0 {
			m[measure.GroupLossWorst] = max(m[measure.GroupLossWorst], 1-float64(p.Received)/float64(p.Sent))
		}
		if d := p.DelayMedianSeconds; d != nil {
			worst, any := m[measure.GroupDelayWorst]
			if !any || *d > worst {
				m[measure.GroupDelayWorst] = *d
			}
		}
	}
	m[measure.SentPackets], m[measure.ReceivedPackets], m[measure.LostPackets] = float64(sent), float64(received), float64(sent-received)
	m[measure.DuplicatePackets], m[measure.ReorderedPackets] = float64(copies), float64(reordered)
	if sent > 0 {
		m[measure.LossRatio] = float64(sent-received) / float64(sent)
	}
	if received > 0 {
		m[measure.ReorderingRatio] = float64(reordered) / float64(received)
	}
}
