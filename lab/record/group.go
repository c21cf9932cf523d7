package record

import (
	"math/bits"
	"net/netip"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// BeginGroup opens the accounts of a packet that a host sends to a group at time t: one for each member, as if the packet were for the
// member's own address alone. It sets the packet's Number, Flow, Sent and Members: member i has bit i, and record Number + i. It is no
// super-packet, and there are 64 members at most.
func (b *Book) BeginGroup(p *packet.Packet, t int64, members []netip.Addr) {
	key, length := packet.KeyOf(p.Data), int32(len(p.Data))
	first := b.ring.next
	flows := make([]int32, len(members))
	for i, m := range members {
		flows[i] = b.flows.number(key.To(m))
		p.Number, p.Flow, p.Sent = b.ring.next, flows[i], t
		b.begin(p, length)
	}
	p.Number, p.Flow, p.Members = first, b.flows.of(p.Data), 1<<len(members)-1
	if b.groups == nil {
		b.groups = map[int32][]int32{}
	}
	b.groups[p.Flow] = flows
}

// eachMember calls do for each member of a group that a packet is for, with the packet as that member's alone.
func (b *Book) eachMember(p *packet.Packet, do func(one *packet.Packet)) {
	flows := b.groups[p.Flow]
	for left := p.Members; left != 0; left &= left - 1 {
		i := bits.TrailingZeros64(left)
		one := *p
		one.Members, one.Number, one.Flow = 0, p.Number+uint64(i), flows[i]
		do(&one)
	}
}
