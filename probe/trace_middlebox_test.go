package probe

import (
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/changed"
	"github.com/pathwise-net/pathwise/proto/icmp"
)

// testFlow is a flow with a token.
func testFlow(protocol, from, to string) *traceFlow {
	f := &traceFlow{protocol: protocol, from: netip.MustParseAddrPort(from), to: netip.MustParseAddrPort(to), token: [tokenSize]byte{1, 2, 3, 4}}
	f.target = f.to.Addr()
	return f
}

// Who answers SYNs from nearer than the target is answers in its name, if a router beyond shows that the target is farther.
func TestProxyOf(t *testing.T) {
	route := func(addresses ...string) (hops []measure.Hop) {
		for i, a := range addresses {
			h := measure.Hop{TTL: i + 1}
			if a != "" {
				h.Addresses = []string{a}
			}
			hops = append(hops, h)
		}
		return hops
	}
	whole := route("10.0.0.2", "10.0.1.2", "10.0.2.2", "10.0.3.2", "10.0.4.2")
	want := &measure.Proxy{TTL: 2, Distance: 5, Addresses: []string{"10.0.1.2"}}
	for _, c := range []struct {
		end, distance int
		echoes        []measure.Hop
		answers       bool
		want          *measure.Proxy
	}{
		{2, 5, whole, true, want}, {2, 5, whole, false, nil}, {5, 5, whole, true, nil}, {5, 0, nil, true, nil}, {6, 5, whole, true, nil},
		{2, 5, route("10.0.0.2", "", "", "10.0.3.2", "10.0.4.2"), true, &measure.Proxy{TTL: 2, Distance: 5}},
		{2, 5, route("10.0.0.2", "", "", "", "10.0.4.2"), true, nil}, // silent hops, or answers that were lost
		{2, 5, whole[:1], true, nil},
	} {
		if diff := cmp.Diff(c.want, proxyOf(c.end, c.distance, c.echoes, c.answers)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c, diff)
		}
	}
}

// What may be a proxy is one for sure where SYNs to other ports go on from there, and none where other flows to the same port do.
func TestJudgeProxy(t *testing.T) {
	may := measure.Proxy{TTL: 2, Distance: 5}
	sure, perhaps := may, may
	perhaps.Possible = true
	here, there := proxyTrial{same: true, answered: true}, proxyTrial{passed: true}
	for name, c := range map[string]struct {
		trials []proxyTrial
		want   *measure.Proxy
	}{
		"for one port":                       {[]proxyTrial{here, here, there, there}, &sure},
		"one of the other ports is silent":   {[]proxyTrial{here, here, {}, there}, &sure},
		"all other ports are silent":         {[]proxyTrial{here, here, {}, {}}, &perhaps},
		"for all ports, or a shorter way":    {[]proxyTrial{here, here, {answered: true}, {answered: true}}, &perhaps},
		"for some, or ways by flow":          {[]proxyTrial{here, here, {answered: true}, there}, &perhaps},
		"ways by flow":                       {[]proxyTrial{here, {same: true, passed: true}, there, there}, nil},
		"what is answered no longer tells":   {[]proxyTrial{{same: true}, {same: true}, there}, &sure},
		"nothing comes back of other probes": {nil, &perhaps},
	} {
		if diff := cmp.Diff(c.want, judgeProxy(may, c.trials)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The far end's SYN took as many hops as TCP, or as echoes; else its TTL was changed.
func TestWayOf(t *testing.T) {
	for _, c := range []struct {
		seen                uint8
		byTCP, byEcho, want int
	}{{60, 5, 5, 5}, {62, 3, 5, 3}, {60, 3, 5, 5}, {62, 3, 0, 3}, {50, 3, 5, 3}, {62, 0, 3, 3}} {
		if got := wayOf(c.seen, c.byTCP, c.byEcho); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// A probe is known by its sequence number, or by its time stamp where that was changed, and by a port.
func TestCraftedQuoted(t *testing.T) {
	f := testFlow(traceTCP, "10.0.0.1:40000", "10.0.5.2:443")
	f.crafted = &craftedSYN{dscp: 46}
	for _, c := range []struct {
		name   string
		change func(q *icmp.Quote)
		ok     bool
	}{
		{"as sent", func(*icmp.Quote) {}, true},
		{"8 bytes", func(q *icmp.Quote) { q.Transport = q.Transport[:8] }, true},
		{"another sequence number", func(q *icmp.Quote) { q.Transport[4] ^= 0x80 }, true},
		{"another sequence number, and 8 bytes", func(q *icmp.Quote) { q.Transport = q.Transport[:8]; q.Transport[4] ^= 0x80 }, false},
		{"translated, and not back", func(q *icmp.Quote) { q.Transport[0]++; q.From = f.to.Addr() }, true},
		{"other ports", func(q *icmp.Quote) { q.Transport[0]++; q.Transport[2]++ }, false},
		{"nothing of TCP", func(q *icmp.Quote) { q.Transport = nil }, false},
	} {
		q := f.crafted.sent(f, 3, 1)
		c.change(&q)
		if id, ok := f.quoted(q, 5); ok != c.ok || ok && id != 3 {
			t.Errorf("%s: %d, %v", c.name, id, ok)
		}
		if _, ok := f.quoted(q, 3); ok {
			t.Errorf("%s: a probe that was not sent is quoted", c.name)
		}
	}
}

// What is sent is as it is said to be: a checksum that is right, and all options.
func TestCraftedSYN(t *testing.T) {
	for _, from := range []string{"10.0.0.1:40000", "[fd00::1]:40000"} {
		to := strings.Replace(strings.Replace(from, "1:", "9:", 1), "::1]", "::9]", 1)
		f := testFlow(traceTCP, from, to)
		f.crafted = &craftedSYN{}
		q := f.crafted.sent(f, 0, 1)
		if shown := changed.Shown(q); shown != changed.ShownAll {
			t.Errorf("a quote of all of it shows %s", shown)
		}
		got := map[string]string{}
		for _, one := range sentFields(q) {
			got[one[0]] = one[1]
		}
		want := map[string]string{"DSCP": "0", "ECN": "2", "length": "64", "flags": "CWR ECE SYN", "MSS": "1460", "window scale": "7", "SACK permitted": "there",
			"time stamps": "there", "Multipath TCP": "0101"}
		if q.IPv6 {
			want["length"], want["MSS"] = "84", "1440"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", from, diff)
		}
		if sum := leftOfSum(q.Transport, q.From, q.To); sum != 0 {
			t.Errorf("its checksum leaves %04x", sum)
		}
	}
}

// A checksum that is another one shows a translator only where nothing that it covers was changed in view.
func TestShiftOfTCP(t *testing.T) {
	f := testFlow(traceTCP, "10.0.0.1:40000", "10.0.5.2:443")
	for _, c := range []struct {
		name   string
		change func(b []byte) []byte
		want   uint16
	}{
		{"translated", func(b []byte) []byte { return b }, 5},
		{"MSS lowered", func(b []byte) []byte { b[segmentHeader+3]--; return b }, 0},
		{"without options", func(b []byte) []byte { return b[:segmentHeader] }, 0},
	} {
		b := f.request(0)
		binary.BigEndian.PutUint16(b[16:], binary.BigEndian.Uint16(b[16:])+5)
		if got := f.shift(icmp.Quote{Protocol: icmp.ProtocolTCP, Transport: c.change(b)}, 0); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestMiddleboxLines(t *testing.T) {
	hops := []measure.Hop{{TTL: 1, Addresses: []string{"10.0.0.2"}}, {TTL: 2}, {TTL: 3, Addresses: []string{"10.0.2.2"}}}
	found := &measure.Middleboxes{Sent: []measure.PacketField{{Name: "MSS", Value: "1460"}, {Name: "time stamps", Value: "there"}},
		Points: []measure.MiddleboxPoint{{TTL: 1, Shown: changed.ShownAll}, {TTL: 3, Shown: changed.ShownPorts}}, FarError: "no connection opens at the port",
		Changes: []measure.PacketChange{{Field: "MSS", From: "1460", To: "1380", By: 1}, {Field: "window scale", From: "7", To: changed.None, After: 1, By: 3},
			{Field: "option 76", From: changed.None, To: "0101", After: 3, By: 4, Far: true}, {Field: "source port", From: changed.AsSent, To: "to 61000", By: 4, Far: true},
			{Field: "TTL", From: "by +2", To: changed.AsSent, After: 1, By: 2}},
		Proxy: &measure.Proxy{TTL: 2, Distance: 5, Addresses: []string{"10.0.1.2"}}}
	want := []string{
		"sent: SYNs with MSS 1460, time stamps",
		"a transparent proxy answers at hop 2 (10.0.1.2) in the name of carol, which is 5 hops away",
		"MSS 1460 becomes 1380 between this host and hop 1 (10.0.0.2)",
		"window scale is taken out between hop 1 (10.0.0.2) and hop 3 (10.0.2.2)",
		"option 76 (0101) is put in between hop 3 (10.0.2.2) and carol",
		"source port is changed to 61000 on the way to carol; routers' quotes do not tell where",
		"TTL is as sent again between hop 1 (10.0.0.2) and hop 2",
		"known of options as far as hop 1, of the IP header and what else is quoted as far as hop 3; beyond that nothing: no connection opens at the port",
	}
	if diff := cmp.Diff(want, middleboxLines("carol", hops, found)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	found.Proxy.Possible = true
	if got, want := middleboxLines("carol", hops, found)[1], "a transparent proxy may answer at hop 2 (10.0.1.2) in the name of carol, which is 5 hops away by ICMP echo; or TCP has a shorter way there"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
