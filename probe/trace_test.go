package probe

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

func TestTraceValidate(t *testing.T) {
	tests := []struct {
		trace Trace
		want  string
	}{
		{Trace{Target: "a"}, ""},
		{Trace{Target: "a", Protocol: "udp", MaxTTL: 255, Queries: 10, Port: 1}, ""},
		{Trace{Target: "a", Port: 65446}, ""},
		{Trace{}, `target "": give a host name or an address`},
		{Trace{Target: "a", Protocol: "icmp"}, `protocol "icmp": trace speaks only udp`},
		{Trace{Target: "a", MaxTTL: 256}, `max TTL "256": give a number from 0 to 255`},
		{Trace{Target: "a", Queries: 11}, `queries "11": give a number from 0 to 10`},
		{Trace{Target: "a", Timeout: -1}, `timeout "-1ns": give a time from 1ms to 1m0s`},
		{Trace{Target: "a", Port: 65447}, `port "65447": each probe takes the next port: give at most 65446`},
	}
	for _, test := range tests {
		err := test.trace.Validate()
		if got := text(err); got != test.want || err != nil && !blamesCaller(err) {
			t.Errorf("%+v: %q, want %q", test.trace, got, test.want)
		}
	}
}

// network answers the probes of a route in a world without sockets.
type network struct {
	hops   []time.Duration // round trip of each router, the last is the target; 0: it is silent
	ends   sock.Reason     // what the last one says
	target bool            // whether it is the target
}

// trace drives a route through the network as traceRun does and returns how long it took.
func (n network) trace(r *route) time.Duration {
	type arrival struct {
		index, hop int
		at         time.Time
	}
	start := time.Unix(1000, 0)
	now := start
	var flying []arrival
	for {
		for index, ok := r.toSend(now); ok; index, ok = r.toSend(now) {
			hop := min(r.ttl(index), len(n.hops)) - 1
			if n.hops[hop] > 0 {
				flying = append(flying, arrival{index, hop, now.Add(n.hops[hop])})
			}
			r.sent(now)
		}
		if r.done(now) {
			return now.Sub(start)
		}
		_, next := r.waiting(now, r.wait())
		first := -1
		for i, a := range flying {
			if !a.at.After(next) {
				first, next = i, a.at
			}
		}
		now = next
		if first < 0 {
			continue
		}
		a := flying[first]
		flying = append(flying[:first], flying[first+1:]...)
		reason, target := sock.TimeExceeded, false
		if a.hop == len(n.hops)-1 && n.ends != "" {
			reason, target = n.ends, n.target
		}
		r.answer(a.index, netip.AddrFrom4([4]byte{10, 0, 0, byte(a.hop + 1)}), sock.Stamp{User: a.at}, reason, target)
	}
}

func TestRoute(t *testing.T) {
	const ms = time.Millisecond
	rtts := func(d time.Duration) []*float64 { s := d.Seconds(); return []*float64{&s, &s, &s} }
	silent := []*float64{nil, nil, nil}
	address := func(n byte) []string { return []string{netip.AddrFrom4([4]byte{10, 0, 0, n}).String()} }
	tests := []struct {
		name    string
		network network
		took    time.Duration
		target  bool
		hops    []measure.Hop
	}{
		{"three hops take one round trip", network{[]time.Duration{10 * ms, 20 * ms, 50 * ms}, sock.PortUnreachable, true},
			50 * ms, true, []measure.Hop{
				{TTL: 1, Addresses: address(1), RTTSeconds: rtts(10 * ms)},
				{TTL: 2, Addresses: address(2), RTTSeconds: rtts(20 * ms)},
				{TTL: 3, Addresses: address(3), RTTSeconds: rtts(50 * ms), Reply: "port unreachable"}}},
		{"a silent hop costs the shortened wait", network{[]time.Duration{10 * ms, 0, 50 * ms}, sock.PortUnreachable, true},
			200 * ms, true, []measure.Hop{
				{TTL: 1, Addresses: address(1), RTTSeconds: rtts(10 * ms)},
				{TTL: 2, Addresses: []string{}, RTTSeconds: silent},
				{TTL: 3, Addresses: address(3), RTTSeconds: rtts(50 * ms), Reply: "port unreachable"}}},
		{"a far target is waited for", network{[]time.Duration{10 * ms, 700 * ms}, sock.PortUnreachable, true},
			700 * ms, true, []measure.Hop{
				{TTL: 1, Addresses: address(1), RTTSeconds: rtts(10 * ms)},
				{TTL: 2, Addresses: address(2), RTTSeconds: rtts(700 * ms), Reply: "port unreachable"}}},
		{"a router may end it", network{[]time.Duration{10 * ms, 20 * ms}, sock.Prohibited, false},
			20 * ms, false, []measure.Hop{
				{TTL: 1, Addresses: address(1), RTTSeconds: rtts(10 * ms)},
				{TTL: 2, Addresses: address(2), RTTSeconds: rtts(20 * ms), Reply: "administratively prohibited"}}},
	}
	for _, test := range tests {
		r := newRoute(30, 3, time.Second)
		if took := test.network.trace(r); took != test.took {
			t.Errorf("%s: took %v, want %v", test.name, took, test.took)
		}
		var hops []measure.Hop
		for ttl := 1; ttl <= r.length(); ttl++ {
			hops = append(hops, r.hop(ttl))
		}
		if diff := cmp.Diff(test.hops, hops); diff != "" || r.target != test.target {
			t.Errorf("%s: target reached %v, want %v; hops (-want +got):\n%s", test.name, r.target, test.target, diff)
		}
	}
}

// A route on which nobody answers ends after all TTLs were tried, in rounds of the window.
func TestRouteSilent(t *testing.T) {
	r := newRoute(30, 3, time.Second)
	took := network{hops: []time.Duration{0}}.trace(r)
	if want := 6 * time.Second; took != want { // 90 probes, 16 at a time
		t.Errorf("took %v, want %v", took, want)
	}
	sent, answered := r.counts()
	if sent != 90 || answered != 0 || r.length() != 0 {
		t.Errorf("%d sent, %d answered, length %d; want 90, 0, 0", sent, answered, r.length())
	}
}

// Never more than the window is on its way.
func TestRouteWindow(t *testing.T) {
	r := newRoute(30, 3, time.Second)
	now := time.Unix(1000, 0)
	sent := 0
	for _, ok := r.toSend(now); ok; _, ok = r.toSend(now) {
		r.sent(now)
		sent++
	}
	if sent != traceWindow {
		t.Errorf("%d sent at once, want %d", sent, traceWindow)
	}
	r.answer(0, netip.IPv4Unspecified(), sock.Stamp{User: now}, sock.TimeExceeded, false)
	r.answer(0, netip.IPv4Unspecified(), sock.Stamp{User: now}, sock.TimeExceeded, false) // a duplicate frees nothing
	r.answer(16, netip.IPv4Unspecified(), sock.Stamp{User: now}, sock.TimeExceeded, false)
	r.answer(-1, netip.IPv4Unspecified(), sock.Stamp{User: now}, sock.TimeExceeded, false)
	if waiting, _ := r.waiting(now, time.Second); waiting != traceWindow-1 {
		t.Errorf("%d waiting, want %d", waiting, traceWindow-1)
	}
}
