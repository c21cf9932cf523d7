package link

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// from sends a packet from a source port and of a class.
func (r *rig) from(at int64, size int, port uint16, dscp byte) {
	r.d.Step(at)
	k := r.datagram(size)
	packet.UDP(k.Data, netip.AddrPortFrom(bob.Addr(), port), carol, dscp, 64)
	r.d.Accept(at, k)
}

// The first rule that matches has the packet; what none matches goes the link's own way.
func TestRules(t *testing.T) {
	r := newRig(t, 1, `{delay: 10ms, rules: [
		{match: {source_port: 1}, delay: 1ms}, {match: {dscp: EF}, delay: 2ms}, {match: {source_port: 1}, loss: 100%}]}`)
	r.from(0, 100, 3, 0)
	r.from(0, 100, 3, 46)
	r.from(0, 100, 1, 46)
	r.finish()
	want := []fate{{3, 0, millisecond, packet.Kept}, {2, 0, 2 * millisecond, packet.Kept}, {1, 0, 10 * millisecond, packet.Kept}}
	if diff := cmp.Diff(want, r.fates, cmp.AllowUnexported(fate{})); diff != "" {
		t.Error(diff)
	}
}

// A rule may be out of service while the link is not; what it would have done otherwise makes no difference.
func TestRuleDown(t *testing.T) {
	r := newRig(t, 1, "{rules: [{match: {source_port: 1}, down: true, loss: 100%}, {match: {source_port: 2}, down: false}]}")
	for port := range uint16(3) {
		r.from(5, 100, port, 0)
	}
	r.finish()
	want := []fate{{1, 5, 5, packet.Kept}, {2, 5, 5, packet.LinkDown}, {3, 5, 5, packet.Kept}}
	slices.SortFunc(r.fates, func(a, b fate) int { return int(a.number) - int(b.number) })
	if diff := cmp.Diff(want, r.fates, cmp.AllowUnexported(fate{})); diff != "" || r.d.Down() {
		t.Errorf("the link is down: %v; fates (-want +got):\n%s", r.d.Down(), diff)
	}
}

// Premium traffic in a pipe of its own does not wait for bulk.
func TestPremiumPipe(t *testing.T) {
	r := newRig(t, 1, "{rate: 1mbit, rules: [{match: {dscp: EF}, rate: 1mbit}]}")
	for range 20 {
		r.from(0, 1500, 1, 0)
	}
	r.from(0, 1500, 1, 46)
	r.finish()
	if r.fates[0].t != 12_304_000 || r.fates[1].t != 12_304_000 || !slices.Contains([]uint64{r.fates[0].number, r.fates[1].number}, 21) {
		t.Errorf("the first two to arrive: %v", r.fates[:2])
	}
}

// Each flow, source or target has a pipe of its own.
func TestPipePer(t *testing.T) {
	for per, want := range map[string][]int64{
		"flow":   {12_304_000, 12_304_000, 12_304_000, 24_608_000},
		"source": {12_304_000, 24_608_000, 36_912_000, 49_216_000},
		"target": {12_304_000, 24_608_000, 36_912_000, 49_216_000},
	} {
		r := newRig(t, 1, "{rules: [{match: {}, per: "+per+", rate: 1mbit}]}")
		for _, port := range []uint16{1, 2, 3, 1} {
			r.from(0, 1500, port, 0)
		}
		r.finish()
		if diff := cmp.Diff(want, r.times()); diff != "" {
			t.Errorf("per %s: %s", per, diff)
		}
	}
}

// What happens to a flow in its pipe does not depend on the other flows.
func TestPipesAreApart(t *testing.T) {
	run := func(others int) (lost []int64) {
		r := newRig(t, 1, "{rules: [{per: flow, loss: 10%, delay: 1ms}]}")
		for i := range int64(1000) {
			for o := range others {
				r.from(i*microsecond, 100, uint16(100+o), 0)
			}
			n := r.sent + 1
			r.from(i*microsecond, 100, 7, 0)
			if k := len(r.fates); k > 0 && r.fates[k-1].number == n && r.fates[k-1].cause == packet.Loss {
				lost = append(lost, i)
			}
		}
		return lost
	}
	if diff := cmp.Diff(run(0), run(3)); diff != "" || len(run(0)) < 50 {
		t.Error(diff)
	}
}

// The pipes of a rule are bounded: idle ones make room, and where none is idle flows share.
func TestPipesAreBounded(t *testing.T) {
	r := newRig(t, 1, "{rules: [{per: source, delay: 1ms, rate: 1gbit}]}")
	send := func(at int64, source uint32) {
		r.d.Step(at)
		k := r.datagram(100)
		address := binary.BigEndian.AppendUint32(nil, 10<<24+source)
		from, _ := netip.AddrFromSlice(address)
		packet.UDP(k.Data, netip.AddrPortFrom(from, 9), carol, 0, 64)
		r.d.Accept(at, k)
	}
	for i := range uint32(maxPipes + 100) { // all at once: none is idle
		send(0, i)
	}
	if n := len(r.d.agenda); n != maxPipes {
		t.Errorf("packets are in %d pipes", n)
	}
	for i := range uint32(2 * maxPipes) { // one after another
		send(int64(i)*2*millisecond+second, i*7)
		send(int64(i)*2*millisecond+second, 5)
	}
	rule := r.d.rules[0]
	if n := len(rule.many); n != maxPipes {
		t.Errorf("%d pipes", n)
	}
	n := 0
	for p := rule.oldest; p != nil; p = p.newer {
		n++
		if rule.many[p.key] != p {
			t.Fatal("the order of use names a pipe that is not in the table")
		}
	}
	if n != maxPipes || rule.newest.key.Source[3] != 5 {
		t.Errorf("%d pipes in the order of use, the newest %v", n, rule.newest.key)
	}
	r.finish()
	if got := r.d.Counts().Delivered; got != r.sent {
		t.Errorf("%d of %d delivered", got, r.sent)
	}
}

// Where all pipes are busy the packets of a new flow share one, and keep their order.
func TestSharedPipeKeepsOrder(t *testing.T) {
	r := newRig(t, 1, "{rules: [{per: flow, rate: 1mbit}]}")
	for port := range uint16(maxPipes) {
		r.from(0, 100+int(maxPipes-port)/4, port, 0) // the pipes that were used last are free first
	}
	first := r.sent + 1
	for range 20 {
		r.from(0, 100, 60_000, 0)
	}
	r.finish()
	late := slices.DeleteFunc(r.numbers(), func(n uint64) bool { return n < first })
	if len(late) != 20 || !slices.IsSorted(late) {
		t.Errorf("the new flow's packets arrived as %v; want %d to %d in order", late, first, first+19)
	}
}

// Rules may change while packets are in their pipes.
func TestRulesChange(t *testing.T) {
	r := newRig(t, 1, "{rules: [{rate: 1mbit}]}")
	for range 4 {
		r.send(0, 1500)
	}
	r.d.Set(1, shapeOf(t, "{rate: 1mbit, rules: []}"))
	r.send(1, 1500)
	r.d.Set(2, shapeOf(t, "{rate: 1mbit}"))
	r.finish()
	want := []int64{12_304_000, 12_304_001, 24_608_000, 36_912_000, 49_216_000}
	if diff := cmp.Diff(want, r.times()); diff != "" {
		t.Error(diff)
	}
}

// The agenda is a heap under whatever changes.
func TestAgenda(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	d := New(0, 1, 0, Shape{}, &packet.Pool{}, Out{})
	var a agenda
	pipes := make([]*pipe, 200)
	for i := range pipes {
		pipes[i] = &pipe{d: d, turn: -1, id: identity{pipe: uint64(i + 1)}}
	}
	for range 20_000 {
		p := pipes[random.IntN(len(pipes))]
		p.ring = fifo{}
		if random.IntN(3) > 0 {
			p.ring.push(flight{due: random.Int64N(100)})
		}
		a.update(p)
		for i, q := range a {
			if q.turn != i || i > 0 && a.before(i, (i-1)/2) {
				t.Fatalf("entry %d of %d is out of place", i, len(a))
			}
		}
		if p.turn < 0 != (p.next() == never) {
			t.Fatal("a pipe is missing, or there for nothing")
		}
	}
}
