package lab

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/packet"
	"github.com/pathwise-net/pathwise/stat"
)

// delivery is what a test sees come out of a Network.
type delivery struct {
	Interface int
	Due       time.Duration
	Packet    []byte
}

// virtual is a Network with its deliveries kept.
type virtual struct {
	*Network
	got []delivery
}

func newVirtual(t testing.TB, text string) *virtual {
	t.Helper()
	v := &virtual{}
	n, err := NewNetwork(NewPlan(mustParse(t, text)), func(iface, dir int, due int64, p *packet.Packet) {
		v.got = append(v.got, delivery{iface, time.Duration(due), bytes.Clone(p.Data)})
		v.Handed(p, dir, due, due, false)
	})
	if err != nil {
		t.Fatal(err)
	}
	v.Network = n
	return v
}

// udp makes a UDP packet of the given IP length, numbered so that each differs.
func (v *virtual) udp(src, dst string, ttl byte, length, number int) *packet.Packet {
	p := v.Pool.Get(length)
	clear(p.Data)
	for i := 48; i < length-4; i++ { // behind all headers: a quote of zeros is taken for none
		p.Data[i] = 1
	}
	from, to := netip.MustParseAddr(src), netip.MustParseAddr(dst)
	binary.BigEndian.PutUint32(p.Data[length-4:], uint32(number))
	packet.UDP(p.Data, netip.AddrPortFrom(from, 1000), netip.AddrPortFrom(to, 2000), 0, ttl)
	return p
}

const forever = int64(time.Hour)

// One packet over three links takes their delays and its serialization, Ethernet framing counted: 1538 bytes on the
// wire for 1500 of IP.
func TestNetworkDelay(t *testing.T) {
	v := newVirtual(t, bobAndCarol)
	v.Inject(0, 0, v.udp("10.0.0.1", "10.0.2.2", 64, 1500, 0))
	v.Advance(forever)
	bits := 1538.0 * 8
	want := 20*time.Millisecond + time.Duration(math.Round(bits/1e9*1e9)+math.Round(bits/100e6*1e9)+math.Round(bits/1e9*1e9))
	if len(v.got) != 1 || v.got[0].Due != want {
		t.Fatalf("got %d packets, the first after %v; want one after %v", len(v.got), v.got[0].Due, want)
	}
	p := v.got[0].Packet
	if packet.HopLimit(p) != 62 {
		t.Errorf("TTL %d; want 62", packet.HopLimit(p))
	}
}

// A burst into 100 Mbit/s leaves at 100 Mbit/s: the spacing is the serialization of one frame.
func TestNetworkRate(t *testing.T) {
	v := newVirtual(t, "hosts: {a: {}, b: {}}\nlinks: [{between: [a, b], rate: 100mbit, delay: 5ms}]")
	for i := range 50 {
		v.Inject(0, 0, v.udp("10.0.0.1", "10.0.0.2", 64, 1500, i))
	}
	v.Advance(forever)
	for i, d := range v.got {
		want := 5*time.Millisecond + time.Duration(i+1)*123_040*time.Nanosecond
		if d.Due != want {
			t.Fatalf("packet %d due %v, want %v", i, d.Due, want)
		}
	}
	if len(v.got) != 50 {
		t.Errorf("%d packets of 50", len(v.got))
	}
}

func TestNetworkQueue(t *testing.T) {
	for _, c := range []struct {
		queue     string
		delivered int
	}{
		{"10p", 11},    // one on the wire, ten waiting
		{"15000B", 11}, // the same in bytes
		{"14999B", 10},
	} {
		v := newVirtual(t, "hosts: {a: {}, b: {}}\nlinks: [{between: [a, b], rate: 1mbit, queue: "+c.queue+"}]")
		for i := range 40 {
			v.Inject(0, 0, v.udp("10.0.0.1", "10.0.0.2", 64, 1500, i))
		}
		v.Advance(forever)
		truth := v.Truth().Links[0]
		want := map[string]uint64{"loss": 0, "queue": uint64(40 - c.delivered)}
		if len(v.got) != c.delivered || truth.Delivered != uint64(c.delivered) || !cmp.Equal(truth.Dropped, want) {
			t.Errorf("queue %s: %d came, truth %+v; want %d", c.queue, len(v.got), truth, c.delivered)
		}
	}
}

// 1 % of 100,000 packets is lost within the exact 99 % binomial interval, and the truth counts what did not come.
func TestNetworkLoss(t *testing.T) {
	const n = 100_000
	lo, hi := stat.BinomialInterval(n, 0.01, 0.99)
	for seed := range 5 {
		v := newVirtual(t, fmt.Sprintf("seed: %d\nhosts: {a: {}, b: {}}\nlinks: [{between: [a, b], forward: {loss: 1%%}}]", seed))
		for i := range n {
			v.Inject(int64(i), 0, v.udp("10.0.0.1", "10.0.0.2", 64, 100, i))
		}
		v.Advance(forever)
		lost := n - len(v.got)
		if lost < lo || lost > hi {
			t.Errorf("seed %d: %d lost of %d; want %d to %d", seed, lost, n, lo, hi)
		}
		if counted := v.Truth().Links[0].Dropped["loss"]; counted != uint64(lost) {
			t.Errorf("seed %d: truth counts %d lost, %d did not come", seed, counted, lost)
		}
	}
}

// The same seed and input give the same packets at the same times; another seed does not.
func TestNetworkRepeats(t *testing.T) {
	run := func(seed string) uint64 {
		v := newVirtual(t, `
seed: `+seed+`
hosts: {a: {}, b: {}, c: {}}
routers: [r]
links:
  - {between: [a, r], rate: 50mbit, delay: 1ms, loss: 2%}
  - {between: [b, r], rate: 50mbit, delay: 3ms}
  - {between: [r, c], rate: 20mbit, delay: 10ms, loss: 1%, queue: 30p}
`)
		input := rand.New(rand.NewPCG(1, 2))
		for i := range 20_000 {
			at := int64(i) * 200_000
			v.Advance(at)
			from, src := 0, "10.0.0.1"
			if input.IntN(2) == 1 {
				from, src = 2, "10.0.1.1"
			}
			v.Inject(at, from, v.udp(src, "10.0.2.2", 64, 100+input.IntN(1400), i))
		}
		v.Advance(forever)
		h := fnv.New64a()
		for _, d := range v.got {
			_ = binary.Write(h, binary.BigEndian, int64(d.Due))
			h.Write(d.Packet)
		}
		return h.Sum64()
	}
	if first, second := run("5"), run("5"); first != second {
		t.Error("two runs with one seed differ")
	}
	if run("5") == run("6") {
		t.Error("two seeds give the same fate")
	}
}

// Routers answer as routers do, by IPv4 and IPv6.
func TestNetworkICMP(t *testing.T) {
	const (
		bob, carol, denver, chicago     = "10.0.0.1", "10.0.2.2", "10.0.0.2", "10.0.1.2"
		bob6, carol6, denver6, chicago6 = "fd70:6174:6877::1", "fd70:6174:6877:2::2", "fd70:6174:6877::2", "fd70:6174:6877:1::2"
	)
	type reply struct {
		From       string
		Type, Code byte
		QuotedTTL  byte
	}
	for _, c := range []struct {
		name, from, to string
		ttl            byte
		want           reply
	}{
		{"TTL ends at the first router", bob, carol, 1, reply{denver, 11, 0, 1}},
		{"TTL ends at the second router", bob, carol, 2, reply{chicago, 11, 0, 1}},
		{"no such host", bob, "10.9.9.9", 64, reply{denver, 3, 1, 64}},
		{"UDP to a router", bob, chicago, 64, reply{chicago, 3, 3, 63}},
		{"hop limit ends at the first router", bob6, carol6, 1, reply{denver6, 3, 0, 1}},
		{"hop limit ends at the second router", bob6, carol6, 2, reply{chicago6, 3, 0, 1}},
		{"no such host by IPv6", bob6, "fd70:6174:6877:9::9", 64, reply{denver6, 1, 0, 64}},
		{"UDP to a router by IPv6", bob6, chicago6, 64, reply{chicago6, 1, 4, 63}},
	} {
		v := newVirtual(t, bobAndCarol)
		v.Inject(0, 0, v.udp(c.from, c.to, c.ttl, 80, 0))
		v.Advance(forever)
		if len(v.got) != 1 {
			t.Errorf("%s: %d packets came back, want 1", c.name, len(v.got))
			continue
		}
		b := v.got[0].Packet
		_, at := packet.Transport(b)
		quoted, _ := packet.Quoted(b)
		got := reply{packet.Source(b).String(), b[at], b[at+1], packet.HopLimit(quoted)}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// Nothing that a host sends may crash the network or be answered twice.
func FuzzNetworkInject(f *testing.F) {
	v := newVirtual(f, bobAndCarol)
	f.Add(bytes.Clone(v.udp("10.0.0.1", "10.0.2.2", 64, 100, 0).Data))
	f.Add(bytes.Clone(v.udp("10.0.0.1", "10.0.0.2", 1, 32, 0).Data))
	f.Add(bytes.Clone(v.udp("fd70:6174:6877::1", "fd70:6174:6877:1::2", 1, 64, 0).Data))
	f.Fuzz(func(t *testing.T, raw []byte) {
		v := newVirtual(t, bobAndCarol)
		if len(raw) == 0 || len(raw) > 65535 {
			return
		}
		p := v.Pool.Get(len(raw))
		copy(p.Data, raw)
		v.Inject(0, 0, p)
		v.Advance(forever)
		if len(v.got) > 1 {
			t.Errorf("one packet made %d", len(v.got))
		}
	})
}

func BenchmarkNetworkThreeHops(b *testing.B) {
	v := newVirtual(b, bobAndCarol)
	v.deliver = func(_, dir int, due int64, p *packet.Packet) { v.Handed(p, dir, due, due, false) }
	template := bytes.Clone(v.udp("10.0.0.1", "10.0.2.2", 64, 1500, 0).Data)
	b.ReportAllocs()
	for i := range b.N {
		at := int64(i) * 125_000
		v.Advance(at)
		p := v.Pool.Get(len(template))
		copy(p.Data, template)
		v.Inject(at, 0, p)
	}
}
