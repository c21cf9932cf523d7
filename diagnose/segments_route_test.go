package diagnose

import (
	"math"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// A host stands along a route if what goes there and on from there passes all of its routers.
func TestAlong(t *testing.T) {
	for _, c := range []struct {
		name                 string
		whole, there, onward string
		place                int // 0: not along
	}{
		{"behind the first router", "ABC", "A", "xBC", 1},
		{"behind the second", "ABC", "AB", "xC", 2},
		{"behind the last", "ABC", "ABC", "x", 3},
		{"behind a router of its own site", "ABCD", "ABs", "sxCD", 2},
		{"at the source's own site", "ABC", "", "ABC", 0},
		{"another way there", "ABC", "XY", "YC", 0},
		{"another way on", "ABCD", "AB", "xYD", 0},
		{"far beyond a router", "ABC", "Axyz", "zyxBC", 0},
		{"a silent router", "A-C", "A-", "xC", 2},
		{"a router that is silent to one", "ABC", "-B", "xC", 2},
		{"nothing answered", "---", "--", "x-", 0},
		{"nothing is known", "", "A", "xB", 0},
		{"onward is not known", "ABC", "AB", "", 0},
	} {
		place, along := Along(routeOf(c.whole), routeOf(c.there), routeOf(c.onward))
		if along != (c.place > 0) || place != (Position{Routers: c.place}) {
			t.Errorf("%s: %+v %v, want %d", c.name, place, along, c.place)
		}
	}
}

// A host behind a router of the route is not along it where the way there and on is longer than what round trips may be off.
func TestAlongByRoundTrips(t *testing.T) {
	for _, c := range []struct {
		name                 string
		whole, there, onward float64 // round trips in seconds; 0: the end did not answer
		along                bool
		detour               float64
	}{
		{"on the way", 0.04, 0.02, 0.0205, true, 0.0005},
		{"shorter than the whole", 0.04, 0.02, 0.0195, true, 0},
		{"at a site near by", 0.04, 0.0235, 0.0235, true, 0.007},
		{"in another city", 0.04, 0.05, 0.05, false, 0},
		{"a few milliseconds of a short path", 0.002, 0.003, 0.0028, true, 0.0038},
		{"many of a short path", 0.002, 0.004, 0.004, false, 0},
		{"not known", 0.04, 0.05, 0, true, 0},
	} {
		ends := func(routers string, trip float64) []measure.Hop {
			hops := routeOf(routers)
			if end := &hops[len(hops)-1]; trip > 0 {
				end.RTTSeconds = []*float64{&trip}
			} else {
				hops = hops[:len(hops)-1]
			}
			return hops
		}
		place, along := Along(ends("ABC", c.whole), ends("AB", c.there), ends("xC", c.onward))
		if along != c.along || math.Abs(place.Detour-c.detour) > 1e-9 || along != (place.Routers == 2) {
			t.Errorf("%s: %+v %v, want %v and %v", c.name, place, along, c.along, c.detour)
		}
	}
}

// A point is far from the route where the last router that both share is much nearer.
func TestOnRoute(t *testing.T) {
	whole := prefix{change: slowly(0.05, 20e6, 40), routers: "ABC"}.part().Results
	for _, c := range []struct {
		name string
		p    prefix
		says string // "": on the route
	}{
		{"near its router", prefix{change: carries(0.005), routers: "AB"}, ""},
		{"not traced", prefix{change: carries(0.005)}, ""},
		{"far from its router", prefix{change: carries(0.03), routers: "AB"}, "away from the last router"},
		{"far behind it", prefix{change: carries(0.008), routers: "Axyz"}, "3 routers on the way to it are not on the route"},
		{"elsewhere", prefix{change: carries(0.005), routers: "XY"}, "no router"},
		{"beyond the end", prefix{change: carries(0.06)}, "longer than that of the whole"},
	} {
		why := OnRoute(Diagnose(whole), c.p.part().Results)
		if (why == "") != (c.says == "") || !strings.Contains(why, c.says) {
			t.Errorf("%s: %q, want %q", c.name, why, c.says)
		}
	}
}
