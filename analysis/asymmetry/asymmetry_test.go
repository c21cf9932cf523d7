package asymmetry

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// route reads hops from addresses, "-" being one that does not answer, and "A+B" one that tells of an interface B.
func route(text string) (hops []measure.Hop) {
	for i, one := range strings.Fields(text) {
		h := measure.Hop{TTL: i + 1}
		address, told, more := strings.Cut(one, "+")
		if address != "-" {
			h.Addresses = strings.Split(address, ",")
		}
		if more {
			h.Interfaces = []measure.HopPort{{Role: "would leave by", Address: told}}
		}
		hops = append(hops, h)
	}
	return hops
}

var both = Ends{Reached: true, Returned: true}

// marks are the links in short: 1=4 is shared, 2/3 is another one, 2?3 is unknown.
func marks(c measure.RouteComparison) string {
	sign := map[string]string{measure.LinkShared: "=", measure.LinkOther: "/", measure.LinkUnknown: "?"}
	var all []string
	for _, l := range c.Links {
		all = append(all, ttl(l.Forward)+sign[l.Mark]+ttl(l.Return))
	}
	return strings.Join(all, " ")
}

func ttl(n int) string {
	if n == 0 {
		return ""
	}
	return string(rune('0' + n))
}

func routers(c measure.RouteComparison) string {
	var all []string
	for _, r := range c.Routers {
		all = append(all, ttl(r.Forward)+r.By+ttl(r.Return))
	}
	return strings.Join(all, " ")
}

func TestCompare(t *testing.T) {
	names := map[string]string{"192.0.2.1": "ae1.r1.lon.example.net", "198.51.100.1": "xe-0-0-1.r1.lon.example.net"}
	for _, c := range []struct {
		name, there, back       string
		ends                    Ends
		links, routers, verdict string
	}{
		{"the same way", "10.0.0.2 10.0.1.2 10.0.2.2", "10.0.2.1 10.0.1.1 10.0.0.1", both, "1=3 2=2 3=1", "1link2 2link1", measure.RoutesSame},
		{"networks of two", "10.0.0.1 10.0.1.3 10.0.2.5", "10.0.2.4 10.0.1.2 10.0.0.0", both, "1=3 2=2 3=1", "1link2 2link1", measure.RoutesSame},
		{"IPv6", "fd00::2 fd00:0:0:1::2 fd00:0:0:2::2", "fd00:0:0:2::1 fd00:0:0:1::1 fd00::1", both, "1=3 2=2 3=1", "1link2 2link1", measure.RoutesSame},
		{"no router", "10.0.0.2", "10.0.0.1", both, "1=1", "", measure.RoutesSame},
		// a - x - b there, a - y - b back
		{"another router in the middle", "10.0.0.2 10.0.1.2 10.0.2.2 10.0.5.2", "10.0.5.1 10.0.4.1 10.0.3.1 10.0.0.1", both,
			"1=4 2/3 3/2 4=1", "1link3 3link1", measure.RoutesDiffer},
		{"a silent router in the middle", "10.0.0.2 - 10.0.2.2 10.0.5.2", "10.0.5.1 - 10.0.1.1 10.0.0.1", both,
			"1=4 2?3 3?2 4=1", "1link3 3link1", measure.RoutesUnknown},
		{"a router that is silent on one way", "10.0.0.2 - 10.0.2.2 10.0.5.2", "10.0.5.1 10.0.2.1 10.0.1.1 10.0.0.1", both,
			"1=4 2?3 3=2 4=1", "1link3 2link2 3link1", measure.RoutesUnknown},
		// a - b there, a - y - b back
		{"a router more", "10.0.0.2 10.0.1.2 10.0.5.2", "10.0.5.1 10.0.4.1 10.0.3.1 10.0.0.1", both,
			"1=4 2/ /3 /2 3=1", "1link3 2link1", measure.RoutesDiffer},
		{"two routers more", "10.0.0.2 10.0.1.2 10.0.2.2 10.0.5.2", "10.0.5.1 10.0.8.1 10.0.4.1 10.0.3.1 10.0.0.1", both,
			"1=5 2/4 ?3 3/2 4=1", "1link4 3link1", measure.RoutesDiffer},
		{"nothing in common, as long", "10.1.0.2 10.1.1.2 10.9.0.9", "10.2.0.1 10.2.1.1 10.8.0.8", both, "1?3 2?2 3?1", "", measure.RoutesUnknown},
		{"nothing in common, longer", "10.1.0.2 10.9.0.9", "10.2.0.1 10.2.1.1 10.8.0.8", both, "1?3 ?2 2?1", "", measure.RoutesDiffer},
		{"one address for all answers", "10.0.0.2 192.0.2.7 10.0.5.2", "10.0.5.1 192.0.2.7 10.0.0.1", both,
			"1=3 2?2 3=1", "1link2 2link1", measure.RoutesUnknown},
		{"routers of one network", "192.168.0.1 172.16.0.8 172.17.0.9 192.168.9.9", "192.168.9.1 172.17.0.5 172.16.0.4 192.168.0.57",
			Ends{Reached: true, Returned: true, Caller: netip.MustParsePrefix("192.168.0.0/24"), Target: netip.MustParsePrefix("192.168.9.0/24")},
			"1=4 2?3 3?2 4=1", "", measure.RoutesUnknown},
		{"a router that tells its other interface", "10.0.0.2 10.3.0.9+10.0.2.1 10.0.2.2 10.0.5.2", "10.0.5.1 10.0.2.1 10.3.0.5 10.0.0.1", both,
			"1=4 2?3 3=2 4=1", "1link3 2interface2 3link1", measure.RoutesUnknown},
		{"the same name", "192.0.2.1 10.9.0.9", "198.51.100.1 10.8.0.8", Ends{Reached: true, Returned: true, Name: func(a string) string { return names[a] }},
			"1?2 2?1", "1name1", measure.RoutesUnknown},
		// bob - nat - a - carol: the way back ends at the outer address of nat
		{"a translator", "10.0.0.2 10.0.1.2 10.0.2.2", "10.0.2.1 10.0.1.1", Ends{Reached: true, Returned: true, Translated: true},
			"1? 2=2 3=1", "1link2 2link1", measure.RoutesUnknown},
		{"a translator, and another way", "10.0.0.2 10.0.1.2 10.0.2.2 10.0.3.2", "10.0.3.1 10.0.8.1 10.0.9.1 10.0.1.1", Ends{Reached: true, Returned: true, Translated: true},
			"1? 2=4 3/ /3 /2 4=1", "1link4 2link3 3link1", measure.RoutesDiffer},
		{"neither arrives", "10.0.0.2 10.0.1.2", "10.0.2.1 10.0.1.1", Ends{}, "1? 2=2 ?1", "1link2 2link1", measure.RoutesUnknown},
		{"nobody answers", "- -", "-", Ends{}, "1? 2? ?1", "", measure.RoutesUnknown},
		{"no route", "", "", Ends{}, "", "", measure.RoutesUnknown},
		{"two ways by packet", "10.0.0.2 10.0.1.2,10.0.2.2 10.0.5.2", "10.0.5.1 10.0.2.1 10.0.0.1", both, "1=3 2=2 3=1", "1link2 2link1", measure.RoutesSame},
	} {
		got := Compare(route(c.there), route(c.back), c.ends)
		if marks(got) != c.links || routers(got) != c.routers || got.Verdict != c.verdict {
			t.Errorf("%s: links %s, want %s; routers %s, want %s; %s (%s), want %s", c.name, marks(got), c.links, routers(got), c.routers, got.Verdict, got.Says, c.verdict)
		}
		if sum := got.SharedLinks + got.OtherLinks + got.UnknownLinks; sum != len(got.Links) {
			t.Errorf("%s: %d links counted of %d", c.name, sum, len(got.Links))
		}
	}
}

// A route that nobody can trace back may show by the TTL of answers that it is another one.
func TestCompareByTTL(t *testing.T) {
	there := route("10.0.0.2 10.0.1.2 10.0.2.2")
	there[2].ReturnHops = 5
	got := Compare(there, nil, Ends{Reached: true})
	if want := "the ways there and back differ in length: 3 hops there, 5 back by the TTL of answers"; got.Verdict != measure.RoutesDiffer || got.Says != want {
		t.Errorf("%s: %s", got.Verdict, got.Says)
	}
}

// A comparison is whole as it is written: a Result's reader finds lists, not nulls.
func TestCompareIsWhole(t *testing.T) {
	want := measure.RouteComparison{Verdict: measure.RoutesSame, Says: "the ways there and back are the same: they share 1 link",
		Links: []measure.LinkPair{{Forward: 1, Return: 1, Mark: measure.LinkShared}}, Routers: []measure.RouterPair{}, SharedLinks: 1}
	if diff := cmp.Diff(want, Compare(route("10.0.0.2"), route("10.0.0.1"), both)); diff != "" {
		t.Error(diff)
	}
}

// Each link of either way is in one pair, once and in order, whatever the routes look like.
func FuzzCompare(f *testing.F) {
	f.Add([]byte{1, 2, 3}, []byte{3, 2, 1}, uint8(3))
	f.Fuzz(func(t *testing.T, there, back []byte, ends uint8) {
		made := func(of []byte) (hops []measure.Hop) {
			for i, b := range of[:min(len(of), 40)] {
				h := measure.Hop{TTL: i + 1}
				if b > 0 {
					h.Addresses = []string{netip.AddrFrom4([4]byte{10, 0, b >> 2, b & 3}).String()}
				}
				hops = append(hops, h)
			}
			return hops
		}
		one, other := made(there), made(back)
		e := Ends{Reached: ends&1 > 0 && len(one) > 0, Returned: ends&2 > 0 && len(other) > 0, Translated: ends&4 > 0}
		forward, reverse := 0, len(other)+1
		for _, l := range Compare(one, other, e).Links {
			if l.Forward > 0 {
				if forward++; l.Forward != forward {
					t.Fatalf("link %d there at the place of %d", l.Forward, forward)
				}
			}
			if l.Return > 0 {
				if reverse--; l.Return != reverse {
					t.Fatalf("link %d back at the place of %d", l.Return, reverse)
				}
			}
		}
		if forward != len(one) || reverse != 1 {
			t.Fatalf("links to %d of %d there, from %d back", forward, len(one), reverse)
		}
	})
}
