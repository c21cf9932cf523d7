package lab

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// The addresses of a line a - r - s - b with its links in that order.
const (
	lineA, lineR, lineS, lineB = "10.0.0.1", "10.0.0.2", "10.0.1.2", "10.0.2.2"
	lineA6, lineB6             = "fd70:6174:6877::1", "fd70:6174:6877:2::2"
)

// line is a file with two hosts and two routers in a line; %s are what stands for routers and on the middle link.
func line(routers, middle string) string {
	return fmt.Sprintf(`
hosts: {a: {}, b: {}}
routers: %s
links:
  - {between: [a, r], delay: 1ms}
  - {between: [r, s], delay: 10ms%s}
  - {between: [s, b], delay: 1ms}
`, routers, middle)
}

// outcome is what became of one packet that a sent: what reached b, and what came back to a.
type outcome struct {
	Arrived []int    // lengths
	Back    []string // ICMP type and code, and its sender
	Dropped map[string]uint64
}

func (v *virtual) outcome(t *testing.T) outcome {
	t.Helper()
	o := outcome{Dropped: map[string]uint64{}}
	for _, d := range v.got {
		if v.plan.nodeOf(d.Interface) == "b" {
			o.Arrived = append(o.Arrived, len(d.Packet))
			continue
		}
		_, at := packet.Transport(d.Packet)
		o.Back = append(o.Back, fmt.Sprintf("%d/%d from %s", d.Packet[at], d.Packet[at+1], packet.Source(d.Packet)))
	}
	for _, flow := range v.Book.Totals() {
		if flow.Protocol == "udp" {
			for cause, n := range flow.Dropped {
				o.Dropped[cause] += n
			}
		}
	}
	return o
}

// What routers and links do to one large packet, with and without "don't fragment", by IPv4 and IPv6.
func TestMTU(t *testing.T) {
	for _, c := range []struct {
		name, mtu, from, to string
		mayFragment         bool
		want                outcome
	}{
		{"fits", "", lineA, lineB, false, outcome{Arrived: []int{1400}}},
		{"says so", ", mtu: 1300B", lineA, lineB, false,
			outcome{Back: []string{"3/4 from " + lineR}, Dropped: map[string]uint64{"mtu": 1}}},
		{"says so by IPv6", ", mtu: 1300B", lineA6, lineB6, false,
			outcome{Back: []string{"2/0 from fd70:6174:6877::2"}, Dropped: map[string]uint64{"mtu": 1}}},
		{"cuts what may be cut", ", mtu: 1300B", lineA, lineB, true, outcome{Arrived: []int{1300, 120}}},
		{"cuts what may not be cut", ", mtu: {size: 1300B, excess: fragment}", lineA, lineB, false, outcome{Arrived: []int{1300, 120}}},
		{"black hole", ", mtu: {size: 1300B, excess: drop}", lineA, lineB, false, outcome{Dropped: map[string]uint64{"mtu": 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newVirtual(t, line("[r, s]", c.mtu))
			p := v.udp(c.from, c.to, 64, 1400, 0)
			if c.mayFragment {
				packet.AllowFragments(p.Data)
			}
			v.Inject(0, 0, p)
			v.Advance(forever)
			if c.want.Dropped == nil {
				c.want.Dropped = map[string]uint64{}
			}
			if diff := cmp.Diff(c.want, v.outcome(t)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := v.Truth().Links[2].Dropped["mtu"]; got != c.want.Dropped["mtu"] {
				t.Errorf("the link's truth counts %d too big, want %d", got, c.want.Dropped["mtu"])
			}
		})
	}
}

// A trace by hop limits sees the hops that count and answer.
func TestHops(t *testing.T) {
	for _, c := range []struct {
		routers string
		want    []string // who answers hop limits 1, 2, 3
	}{
		{"[r, s]", []string{lineR, lineS, "arrived"}},
		{"{r: {hidden: true}, s: {}}", []string{lineS, "arrived", "arrived"}},
		{"{r: {}, s: {silent: true}}", []string{lineR, "nothing", "arrived"}},
		{"{r: {icmp: filtered}, s: {}}", []string{lineR, "nothing", "arrived"}},
		{"{r: {firewall: {inside: [a]}}, s: {}}", []string{lineR, lineS, "arrived"}},
		{"{r: {firewall: {inside: [s]}}, s: {}}", []string{lineR, "nothing", "nothing"}},
		{"{r: {nat: {outside: s}}, s: {}}", []string{lineR, lineS, "arrived"}},
	} {
		var got []string
		for limit := range byte(3) {
			v := newVirtual(t, line(c.routers, ""))
			v.Inject(0, 0, v.udp(lineA, lineB, limit+1, 100, 0))
			v.Advance(forever)
			switch {
			case len(v.got) == 0:
				got = append(got, "nothing")
			case v.plan.nodeOf(v.got[0].Interface) == "b":
				got = append(got, "arrived")
			default:
				got = append(got, packet.Source(v.got[0].Packet).String())
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.routers, diff)
		}
	}
}

// Parallel links share what goes over them as the router is told to.
func TestBalance(t *testing.T) {
	const ports, each = 64, 10
	for _, c := range []struct {
		balance  string
		min, max uint64 // over the first of two links
		split    bool   // a flow may take both
	}{
		{"first", ports * each, ports * each, false},
		{"flow", ports * each / 4, ports * each * 3 / 4, false},
		{"packet", ports * each / 2, ports * each / 2, true},
	} {
		v := newVirtual(t, `
hosts: {a: {}, b: {}}
routers: {r: {balance: `+c.balance+`}, s: {}}
links:
  - {between: [a, r]}
  - {between: [r, s]}
  - {between: [r, s]}
  - {between: [s, b]}
`)
		for i := range ports * each {
			p := v.udp(lineA, "10.0.3.2", 64, 100, i)
			p.Data[21] = byte(i % ports) // the source port; the checksum is nobody's business here
			v.Inject(int64(i)*1000, 0, p)
		}
		v.Advance(forever)
		first, second := v.Truth().Links[2].Packets, v.Truth().Links[4].Packets
		if first < c.min || first > c.max || first+second != ports*each {
			t.Errorf("balance %s: %d and %d packets, want the first between %d and %d", c.balance, first, second, c.min, c.max)
		}
		if c.balance == "flow" && (first%each != 0 || second%each != 0) {
			t.Errorf("balance flow: %d and %d packets: a flow took both links", first, second)
		}
	}
}

// Routers that balance by packet do so each for itself, and those that balance by flow choose independently: behind two of a kind, all four ways are taken.
func TestBalanceInARow(t *testing.T) {
	const ports, each = 64, 4
	for _, balance := range []string{"flow", "packet"} {
		v := newVirtual(t, `
hosts: {a: {}, b: {}}
routers: {r: {balance: `+balance+`}, s: {balance: `+balance+`}, t: {}, u: {}, v: {balance: `+balance+`}, w: {}, x: {}, y: {}}
links:
  - {between: [a, r]}
  - {between: [r, s]}
  - {between: [r, t]}
  - {between: [s, u]}
  - {between: [t, u]}
  - {between: [u, v]}
  - {between: [v, w]}
  - {between: [v, x]}
  - {between: [w, y]}
  - {between: [x, y]}
  - {between: [y, b]}
`)
		for i := range ports * each {
			p := v.udp(lineA, "10.0.10.2", 64, 100, i)
			p.Data[21] = byte(i / each) // the source port
			v.Inject(int64(i)*1000, 0, p)
		}
		v.Advance(forever)
		links := v.Truth().Links
		for _, pair := range [][2]int{{1, 2}, {6, 7}} { // r's links, v's links
			first, second := links[2*pair[0]].Packets, links[2*pair[1]].Packets
			if first+second != ports*each || first < ports*each/4 || second < ports*each/4 {
				t.Errorf("balance %s: links %v took %d and %d of %d packets, want a quarter each at least", balance, pair, first, second, ports*each)
			}
			if balance == "flow" && (first%each != 0 || second%each != 0) {
				t.Errorf("balance flow: links %v took %d and %d packets: a flow took both", pair, first, second)
			}
		}
	}
}

// Ways there and back differ where the file says so, and change when the timeline says so.
func TestRoutesAndTimeline(t *testing.T) {
	v := newVirtual(t, `
hosts: {a: {}, b: {}}
routers: [r, s, detour]
links:
  - {between: [a, r]}
  - {between: [r, s], delay: 10ms}
  - {between: [s, b]}
  - {between: [r, detour], delay: 20ms}
  - {between: [detour, s], delay: 30ms}
routes:
  - {at: s, to: a, via: detour}
timeline:
  - {at: 1s, route: {at: r, to: b, via: detour}}
  - {at: 2s, between: [detour, r], reverse: {delay: 25ms}}
  - {at: 3s, between: [r, s], down: true}
`)
	delay := func(at time.Duration, iface int, src, dst string) time.Duration {
		v.got = nil
		v.Advance(int64(at))
		v.Inject(int64(at), iface, v.udp(src, dst, 64, 100, 0))
		v.Advance(int64(at + 500*time.Millisecond))
		if len(v.got) != 1 {
			return -1
		}
		return v.got[0].Due - at
	}
	for _, c := range []struct {
		at    time.Duration
		back  bool
		delay time.Duration
	}{
		{0, false, 10 * time.Millisecond},
		{100 * time.Millisecond, true, 50 * time.Millisecond}, // the way back is the file's
		{1 * time.Second, false, 50 * time.Millisecond},
		{2 * time.Second, false, 55 * time.Millisecond}, // the timeline names the nodes the other way round
		{2500 * time.Millisecond, true, 50 * time.Millisecond},
		{3 * time.Second, false, 55 * time.Millisecond}, // what is down is not on the way
	} {
		iface, src, dst := 0, lineA, lineB
		if c.back {
			iface, src, dst = 5, lineB, lineA
		}
		if got := delay(c.at, iface, src, dst); got != c.delay {
			t.Errorf("at %v, back %v: %v, want %v", c.at, c.back, got, c.delay)
		}
	}
}

// A link that goes down loses packets until routers have found a way round it; one that comes back is used again.
func TestReroute(t *testing.T) {
	v := newVirtual(t, `
hosts: {a: {}, b: {}}
routers: [r, s, detour]
reroute: 2s
links:
  - {between: [a, r]}
  - {between: [r, s], delay: 10ms}
  - {between: [s, b]}
  - {between: [r, detour], delay: 20ms}
  - {between: [detour, s], delay: 30ms}
timeline:
  - {at: 5s, between: [r, s], down: true}
  - {at: 20s, between: [r, s], down: false}
`)
	for second := range 30 {
		at := int64(second)*int64(time.Second) + 1
		v.Advance(at)
		v.Inject(at, 0, v.udp(lineA, lineB, 64, 100, second))
	}
	v.Advance(forever)
	count := map[time.Duration]int{}
	for _, d := range v.got {
		count[(d.Due-1).Round(time.Millisecond)%time.Second]++
	}
	want := map[time.Duration]int{10 * time.Millisecond: 5 + 8, 50 * time.Millisecond: 15}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Errorf("packets by delay (-want +got):\n%s", diff)
	}
	if down := v.Truth().Links[2].Dropped["down"]; down != 2 {
		t.Errorf("%d packets lost while routers did not know, want 2", down)
	}
}

// Cross traffic takes the way of packets between its nodes, is counted, and is handed to no host.
func TestCrossTraffic(t *testing.T) {
	v := newVirtual(t, line("[r, s]", ", rate: 10mbit")+`
traffic:
  - {from: r, to: b, kind: constant, rate: 1mbit, size: 1250B, stop: 10s}
  - {from: a, to: s, kind: poisson, rate: 800kbit, size: 1000B, start: 5s, stop: 10s}
`)
	v.Advance(forever)
	truth := v.Truth()
	if n := truth.Links[2].Packets; n < 1000+440 || n > 1000+560 { // 500 ± 2.7 standard deviations of a Poisson count
		t.Errorf("%d packets on the middle link, want 1000 and about 500", n)
	}
	if len(v.got) != 0 || truth.Links[4].Delivered != 1000 || truth.Links[0].Delivered != truth.Links[2].Packets-1000 {
		t.Errorf("%d handed to hosts; the links delivered %d, %d, %d", len(v.got), truth.Links[0].Delivered,
			truth.Links[2].Delivered, truth.Links[4].Delivered)
	}
	flows := v.Book.Totals()
	if len(flows) != 2 || flows[0].Delivered != flows[0].Packets || flows[0].DelaySeconds.Min < 0.011 {
		t.Errorf("flows: %+v", flows)
	}
}

// Broadcasts are handed to the host at the end of the link, and routers pass none on.
func TestBroadcast(t *testing.T) {
	for name, c := range map[string]struct {
		traffic string
		handed  int
		dropped uint64
	}{
		"to a host":   {"{from: s, to: b, kind: constant, rate: 100kbit, size: 125B, stop: 1s, broadcast: true}", 100, 0},
		"to a router": {"{from: a, to: r, kind: constant, rate: 100kbit, size: 125B, stop: 1s, broadcast: true}", 0, 100},
	} {
		v := newVirtual(t, line("[r, s]", "")+"traffic: ["+c.traffic+"]\n")
		v.Advance(forever)
		flows := v.Book.Totals()
		if len(v.got) != c.handed || len(flows) != 1 || flows[0].Packets != 100 || flows[0].Dropped["no_route"] != c.dropped {
			t.Errorf("%s: %d handed to hosts; flows %+v", name, len(v.got), flows)
		}
	}
}

// A half-duplex link collides and still carries everything; a mismatch has late collisions, but only where both send.
func TestDuplex(t *testing.T) {
	run := func(duplex string, both bool) (forward, reverse LinkTruth) {
		v := newVirtual(t, `
hosts: {a: {}, b: {}}
links: [{between: [a, b], rate: 10mbit, duplex: `+duplex+`}]`)
		for i := range 400 {
			at := int64(i) * 2_000_000 // 500 packets/s of 1000 bytes each way: 84 % of the wire
			v.Advance(at)
			if both {
				v.Inject(at, 1, v.udp("10.0.0.2", "10.0.0.1", 64, 1000, i))
				v.Advance(at + 300_000)
			}
			v.Inject(at+300_000, 0, v.udp("10.0.0.1", "10.0.0.2", 64, 1000, i)) // while the other's frame is under way
		}
		v.Advance(forever)
		truth := v.Truth()
		return truth.Links[0], truth.Links[1]
	}
	if f, r := run("half", true); f.Delivered+r.Delivered != 800 || r.Adapter.LateCollisions > 0 || f.Adapter.Deferred == 0 {
		t.Errorf("half: %+v %+v", f, r)
	}
	if f, r := run("mismatch", false); f.Delivered != 400 || r.Adapter.LateCollisions != 0 {
		t.Errorf("mismatch, one way: %+v %+v", f, r)
	}
	if f, r := run("mismatch", true); r.Adapter.LateCollisions == 0 || f.Delivered == 400 || r.Delivered == 400 || f.Adapter.FCSErrors == 0 {
		t.Errorf("mismatch, both ways: %+v %+v", f, r)
	}
}
