package packet

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestComplaint(t *testing.T) {
	var pool Pool
	router4, router6 := netip.MustParseAddr("10.0.1.1"), netip.MustParseAddr("2001:db8:0:1::1")
	long := random(newRand(), 1400)
	long4 := sealed(ip(left4, right4, 17, nil, 0, udp(long)), 20)
	long6 := sealed(ip(left6, right6, 17, nil, 0, udp(long)), 40)
	type answer struct {
		Type, Code   byte
		Rest         uint32
		Length, Hops int
		Text         string
	}
	for _, c := range []struct {
		name string
		from netip.Addr
		data []byte
		what Trouble
		want answer
	}{
		{"hops used up", router4, find(t, "udp4"), HopsUsedUp, answer{11, 0, 0, 157, 255,
			"icmp 10.0.1.1 > 10.0.0.1 time exceeded about udp 10.0.0.1:5201 > 10.0.2.2:40000"}},
		{"no route", router4, long4, NoRouteTo, answer{3, 1, 0, 576, 255,
			"icmp 10.0.1.1 > 10.0.0.1 no route about udp 10.0.0.1:5201 > 10.0.2.2:40000"}},
		{"port closed", router4, find(t, "syn4"), PortClosed, answer{3, 3, 0, 88, 255,
			"icmp 10.0.1.1 > 10.0.0.1 port unreachable about tcp 10.0.0.1:5201 > 10.0.2.2:40000"}},
		{"too big", router4, long4, TooBigFor, answer{3, 4, 1300, 576, 255,
			"icmp 10.0.1.1 > 10.0.0.1 too big about udp 10.0.0.1:5201 > 10.0.2.2:40000"}},
		{"filtered", router4, find(t, "echo4"), Prohibited, answer{3, 13, 0, 157, 255,
			"icmp 10.0.1.1 > 10.0.0.1 prohibited about icmp 10.0.0.1 > 10.0.2.2 id 7"}},
		{"hops used up", router6, find(t, "tcp6"), HopsUsedUp, answer{3, 0, 0, 221, 255,
			"icmp6 2001:db8:0:1::1 > 2001:db8::1 time exceeded about tcp [2001:db8::1]:5201 > [2001:db8:0:2::2]:40000"}},
		{"no route", router6, long6, NoRouteTo, answer{1, 0, 0, 1280, 255,
			"icmp6 2001:db8:0:1::1 > 2001:db8::1 no route about udp [2001:db8::1]:5201 > [2001:db8:0:2::2]:40000"}},
		{"port closed", router6, find(t, "udp6"), PortClosed, answer{1, 4, 0, 197, 255,
			"icmp6 2001:db8:0:1::1 > 2001:db8::1 port unreachable about udp [2001:db8::1]:5201 > [2001:db8:0:2::2]:40000"}},
		{"too big", router6, long6, TooBigFor, answer{2, 0, 1300, 1280, 255,
			"icmp6 2001:db8:0:1::1 > 2001:db8::1 too big about udp [2001:db8::1]:5201 > [2001:db8:0:2::2]:40000"}},
		{"filtered", router6, find(t, "extensions6"), Prohibited, answer{1, 1, 0, 237, 255,
			"icmp6 2001:db8:0:1::1 > 2001:db8::1 prohibited about tcp [2001:db8::1]:5201 > [2001:db8:0:2::2]:40000"}},
	} {
		p := packetOf(&pool, c.data)
		_, at := Transport(c.data)
		leftUndone(p, at) // the quotation has the checksum of the wire all the same
		answered := Complaint(&pool, c.from, p, c.what, 1300)
		b := answered.Data
		_, icmp := Transport(b)
		got := answer{b[icmp], b[icmp+1], be.Uint32(b[icmp+4:]), len(b), int(HopLimit(b)), describe(b)}
		if d := cmp.Diff(c.want, got); d != "" || !verifies(b) || !bytes.HasPrefix(c.data, b[icmp+8:]) {
			t.Errorf("%s: verifies %v, quotes %v (-want +got)\n%s", c.name, verifies(b), bytes.HasPrefix(c.data, b[icmp+8:]), d)
		}
	}
}

func TestComplaintQuotesTheFirstSegment(t *testing.T) {
	var pool Pool
	for _, k := range kinds {
		p := super(&pool, k.kind, k.v6, random(newRand(), 3000), 300, FlagACK|FlagPSH)
		from, header := left4, 20
		if k.v6 {
			from, header = left6, 40
		}
		c := Complaint(&pool, from, p, TooBigFor, 1280)
		if first := pool.Cut(p, 0, 1); !bytes.Equal(c.Data[header+8:], first.Data) || p.Segments() != 10 {
			t.Errorf("%s: %s", k.name, describe(c.Data))
		}
	}
}

// TestNoComplaint: RFC 1812 section 4.3.2.7 and RFC 4443 section 2.4(e).
func TestNoComplaint(t *testing.T) {
	from4, from6 := right4.Next(), right6.Next()
	with := func(source, target string) []byte {
		s, n := netip.MustParseAddr(source), netip.MustParseAddr(target)
		return ip(s, n, 17, nil, 0, udp(nil))
	}
	later4 := ip(left4, right4, 17, nil, 0, random(newRand(), 64))
	later4[6], later4[7] = 0, 8
	later6 := func(protocol byte) []byte {
		return ip(left6, right6, protocol, []byte{protocol, 0, 0, 64, 0, 0, 0, 1}, fragment, random(newRand(), 64))
	}
	for _, c := range []struct {
		name string
		from netip.Addr
		data []byte
		what Trouble
		may  bool
	}{
		{"udp", from4, with("10.0.0.1", "10.0.2.2"), HopsUsedUp, true},
		{"from the other family", from6, with("10.0.0.1", "10.0.2.2"), HopsUsedUp, false},
		{"from nowhere", netip.Addr{}, with("10.0.0.1", "10.0.2.2"), HopsUsedUp, false},
		{"about an error", from4, find(t, "error4"), HopsUsedUp, false},
		{"about an error", from6, find(t, "error6"), HopsUsedUp, false},
		{"about a redirect", from6, ip(left6, right6, 58, nil, 0, icmp(137, 0, 0, nil)), HopsUsedUp, false},
		{"about ICMP cut short", from4, ip(left4, right4, 1, nil, 0, []byte{8, 0}), HopsUsedUp, false},
		{"later fragment", from4, later4, HopsUsedUp, false},
		{"later fragment", from6, later6(17), HopsUsedUp, true},
		{"later fragment of ICMP", from6, later6(58), HopsUsedUp, false},
		{"to multicast", from4, with("10.0.0.1", "224.0.0.5"), TooBigFor, false},
		{"to multicast", from6, with("2001:db8::1", "ff02::5"), HopsUsedUp, false},
		{"to multicast, too big", from6, with("2001:db8::1", "ff02::5"), TooBigFor, true},
		{"to broadcast", from4, with("10.0.0.1", "255.255.255.255"), PortClosed, false},
		{"of nobody", from4, with("0.0.0.0", "10.0.2.2"), HopsUsedUp, false},
		{"of nobody", from6, with("::", "2001:db8::1"), HopsUsedUp, false},
		{"of loopback", from4, with("127.0.0.1", "10.0.2.2"), HopsUsedUp, false},
		{"of multicast", from4, with("224.0.0.5", "10.0.2.2"), HopsUsedUp, false},
		{"of class E", from4, with("240.0.0.1", "10.0.2.2"), HopsUsedUp, false},
	} {
		var pool Pool
		if got := Complaint(&pool, c.from, packetOf(&pool, c.data), c.what, 1280); (got != nil) != c.may {
			t.Errorf("%s, version %d: answered %v, want %v", c.name, Version(c.data), got != nil, c.may)
		}
	}
}

func TestEchoReply(t *testing.T) {
	for _, name := range []string{"echo4", "echo6"} {
		b := find(t, name)
		request := KeyOf(b)
		if !IsEchoRequest(b) {
			t.Fatalf("%s is none", name)
		}
		EchoReply(b)
		if d := cmp.Diff(request.Reverse(), KeyOf(b)); d != "" || !verifies(b) || IsEchoRequest(b) || HopLimit(b) != 255 {
			t.Errorf("%s: verifies %v, hop limit %d\n%s", name, verifies(b), HopLimit(b), d)
		}
		spoilt := find(t, name)
		spoilt[len(spoilt)-1] ^= 1
		if EchoReply(spoilt); verifies(spoilt) {
			t.Errorf("%s: a spoilt request became a good reply", name)
		}
	}
	part := find(t, "echo4")
	part[6] = 0x20
	if IsEchoRequest(part) || IsEchoRequest(find(t, "error4")) || IsEchoRequest(find(t, "tcp6")) {
		t.Error("what is no whole echo request is taken for one")
	}
}

func BenchmarkComplaint(b *testing.B) {
	var pool Pool
	p := packetOf(&pool, find(b, "udp4"))
	b.ReportAllocs()
	for b.Loop() {
		pool.Put(Complaint(&pool, right4, p, HopsUsedUp, 0))
	}
}
