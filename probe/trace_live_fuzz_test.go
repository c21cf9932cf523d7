package probe

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// playAnyOrder plays a plan with routers that answer any packet with anything at any time, as each step says, and reports what a plan never does.
func playAnyOrder(t *testing.T, steps []byte) {
	p := newLivePlan(Trace{Target: "carol", MaxTTL: 6, Timeout: 500 * time.Millisecond}.withDefaults(), 100*time.Millisecond, 1+len(steps)%4, liveNumbers)
	now := liveStart
	for _, step := range steps {
		now = now.Add(5 * time.Millisecond) // several packets may leave
		high := int(step >> 4)
		number := max(0, p.number-1-high%max(1, p.number)) // of one of the latest packets
		a := traceAnswer{id: number % liveNumbers, from: netip.AddrFrom4([4]byte{10, 0, 0, step}), at: sock.Stamp{User: now}}
		switch step & 15 {
		case 0, 1, 2, 3, 4:
			a.expired = true
			p.hear(a)
		case 5, 6, 7: // a router refuses, or the target does
			a.reached = high > 8
			p.hear(a)
		case 8:
			a.reached, a.id = true, -1 // the target answers, and nothing says which packet
			p.hear(a)
		case 9:
			p.pause(high == 0, now)
		case 10:
			p.reset()
		case 11:
			p.stamped(number, now)
		case 12, 13, 14:
			now = now.Add(p.timeout) // nothing comes
		}
		p.expire(now)
		for ttl, at, more := p.due(now); more && !at.After(now); ttl, at, more = p.due(now) {
			if ttl < 1 || ttl > p.maxTTL {
				t.Fatalf("a packet of TTL %d is due, of %d; steps %v", ttl, p.maxTTL, steps)
			}
			if step&15 == 15 {
				p.unsent(ttl, now)
			} else {
				p.sent(ttl, now)
			}
		}
		if p.round > p.rounds {
			t.Fatalf("round %d of %d", p.round, p.rounds)
		}
	}
	for _, h := range p.state().Rounds.Hops {
		if h.Lost+h.Answered > h.Sent {
			t.Fatalf("of %d packets to hop %d %d are lost and %d answered; steps %v", h.Sent, h.TTL, h.Lost, h.Answered, steps)
		}
	}
}

// Whatever routers answer, in any order, each packet is of a TTL that was asked for, and the figures of a hop add up.
func TestLiveAnyOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 8))
	for range 5000 {
		steps := make([]byte, 12+4*random.IntN(4)+max(0, random.IntN(6)-2)) // half of them are of one round
		for i := range steps {
			steps[i] = byte(random.Uint32())
		}
		playAnyOrder(t, steps)
	}
}

func FuzzLivePlan(f *testing.F) {
	f.Add([]byte{0, 1, 9, 3, 0xf8, 0xf8, 0xf8, 1})
	f.Fuzz(playAnyOrder)
}

// Late answers in the only round may take the farthest hop back once the last packet was of the highest TTL: nothing is sent beyond it.
func TestLiveRouteTakenBack(t *testing.T) {
	p := newLivePlan(Trace{Target: "carol", MaxTTL: 8}.withDefaults(), time.Second, 1, liveNumbers)
	now := liveStart
	send := func() {
		t.Helper()
		for ttl, _, more := p.due(now); more; ttl, _, more = p.due(now) {
			if ttl > p.maxTTL {
				t.Fatalf("a packet of TTL %d is due, of %d", ttl, p.maxTTL)
			}
			p.sent(ttl, now)
		}
	}
	send()
	for _, a := range []struct {
		ttl     int
		expired bool
	}{{3, true}, {6, true}, {1, false}, {2, true}} { // hop 1 refuses
		if !p.hear(traceAnswer{id: a.ttl - 1, expired: a.expired, at: sock.Stamp{User: now.Add(time.Millisecond)}}) {
			t.Fatalf("the answer of hop %d does not count", a.ttl)
		}
		send()
	}
	now = now.Add(p.timeout)
	p.expire(now)
	send()
	if p.round != 1 || p.length() != 2 {
		t.Errorf("round %d, %d hops; want 1 and 2", p.round, p.length())
	}
}
