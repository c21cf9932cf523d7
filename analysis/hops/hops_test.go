package hops

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func rates(mbit ...float64) (all []simulated) {
	for _, m := range mbit {
		all = append(all, simulated{rate: m * 1e6, delay: 1e-3})
	}
	return all
}

// with is a route of links with one changed.
func with(links []simulated, at int, change func(*simulated)) []simulated {
	change(&links[at])
	return links
}

// Links that can be known are, within 15 %, and others say why not.
func TestLinks(t *testing.T) {
	for name, c := range map[string]struct {
		links []simulated
		ipv6  bool
		want  []Doubt
	}{
		"three links":                   {links: rates(100, 20, 60), want: []Doubt{"", "", ""}},
		"over IPv6":                     {links: rates(100, 20, 60), ipv6: true, want: []Doubt{"", "", ""}},
		"a slow one behind a fast one":  {links: rates(1000, 4), want: []Doubt{Fast, ""}},
		"a fast one behind a slow one":  {links: rates(4, 90), want: []Doubt{"", ""}},
		"one link":                      {links: rates(30), want: []Doubt{""}},
		"nine links":                    {links: rates(90, 80, 10, 50, 70, 30, 60, 20, 40), want: make([]Doubt, 9)},
		"faster than clocks tell":       {links: rates(10000, 50), want: []Doubt{Fast, ""}},
		"a silent hop":                  {links: with(rates(50, 40, 30), 1, func(l *simulated) { l.silent = true }), want: []Doubt{"", Silent, Together}},
		"a silent target":               {links: with(rates(50, 40, 30), 2, func(l *simulated) { l.silent = true }), want: []Doubt{"", ""}},
		"a limit of ten a second":       {links: with(rates(50, 40, 30), 1, func(l *simulated) { l.every = 0.1 }), want: []Doubt{"", "", ""}},
		"a limit of one in two seconds": {links: with(rates(50, 40, 30), 2, func(l *simulated) { l.every = 2 }), want: []Doubt{"", "", Limited}},
		"a target that answers late":    {links: with(rates(50, 40, 30), 2, func(l *simulated) { l.deaf = 0.015 }), want: []Doubt{"", "", ""}},
		"half loaded":                   {links: with(rates(50, 40, 30), 1, func(l *simulated) { l.load = 0.6 }), want: []Doubt{"", "", ""}},
		"short quotations":              {links: with(rates(50, 40, 30), 1, func(l *simulated) { l.quotes = 28 }), want: []Doubt{"", "", ""}},
		"two ways":                      {links: with(rates(50, 40, 30), 1, func(l *simulated) { l.ways = 2 }), want: []Doubt{"", Several, Several}},
		"a hop that is slow to answer":  {links: with(rates(50, 200, 30), 0, func(l *simulated) { l.slow = 3e-7 }), want: []Doubt{"", Negative, ""}},
		"cells":                         {links: with(rates(50, 40, 30), 1, func(l *simulated) { l.cells = true }), want: []Doubt{"", Bent, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			s, seconds, packets := route{links: c.links, ipv6: c.ipv6, noise: 3e-6, seed: 5}.measured()
			links := s.Links()
			var got []Doubt
			for i, l := range links {
				got = append(got, l.Rate.Doubt)
				if off := math.Abs(l.Rate.BitsPerSecond/c.links[i].rate - 1); l.Rate.Certain() && off > 0.15 && c.links[i].slow == 0 && name != "a hop that is slow to answer" {
					t.Errorf("link %d: %.2f of its rate, certain", i+1, l.Rate.BitsPerSecond/c.links[i].rate)
				}
				if off := math.Abs(l.Delay - 1e-3); l.Rate.Certain() && off > 1e-4 && c.links[i].slow == 0 && name != "a hop that is slow to answer" {
					t.Errorf("link %d: %.6f s", i+1, l.Delay)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("doubts %q, want %q\n%+v", got, c.want, links)
			}
			t.Logf("%.2f s, %d packets", seconds, packets)
		})
	}
}

// Of drawn routes nearly all links are certain, and those are right.
func TestDrawnRoutes(t *testing.T) {
	all, certain, right := 0, 0, 0
	for seed := range 100 {
		random := rand.New(rand.NewPCG(uint64(seed), 4))
		r := route{noise: 2e-6 + 4e-6*random.Float64(), seed: uint64(seed), ipv6: random.IntN(3) == 0}
		for range 2 + random.IntN(5) {
			l := simulated{rate: 3e6 * math.Pow(100./3, random.Float64()), delay: 0.01 * random.Float64(), load: 0.5 * random.Float64() * float64(random.IntN(2))}
			if random.IntN(8) == 0 {
				l.every = 0.02
			}
			r.links = append(r.links, l)
		}
		s, _, _ := r.measured()
		for i, l := range s.Links() {
			all++
			if l.Rate.Certain() {
				certain++
				if math.Abs(l.Rate.BitsPerSecond/r.links[i].rate-1) <= 0.15 {
					right++
				}
			}
		}
	}
	t.Logf("of %d links %d are certain, %d of these right", all, certain, right)
	if float64(right) < 0.97*float64(certain) || float64(certain) < 0.85*float64(all) {
		t.Errorf("of %d links %d are certain, %d of these right", all, certain, right)
	}
}

// The packets of a measurement take a part of the slowest link's time, and never more than a thousand leave a second.
func TestSpacing(t *testing.T) {
	for _, c := range []struct{ mbit, least, most float64 }{{1, 30e-3, 40e-3}, {10, 3e-3, 4e-3}, {1000, LeastSpacing, LeastSpacing}} {
		s, _, _ := route{links: rates(c.mbit, 2000), noise: 1e-6, seed: 1}.measured()
		if got := s.spacing(); got < c.least || got > c.most {
			t.Errorf("%v Mbit/s: %v s, want %v to %v", c.mbit, got, c.least, c.most)
		}
	}
}

// The sizes of a hop lie where its answers are alike.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		quoted, most int
		want         sizes
	}{{548, 1500, sizes{548, 1024, 1500}}, {28, 1500, sizes{64, 782, 1500}}, {0, 1280, sizes{64, 672, 1280}}, {1232, 1000, sizes{1000, 1000, 1000}}} {
		if got := sizesOf(c.quoted, c.most); got != c.want {
			t.Errorf("%d of %d: %v, want %v", c.quoted, c.most, got, c.want)
		}
	}
}

// A smaller MTU on the way makes all packets smaller, and what larger ones brought does not count.
func TestLimit(t *testing.T) {
	s, _, _ := route{links: rates(50), noise: 1e-6, seed: 1}.measured()
	s.Limit(1400)
	if l := s.Links()[0]; l.Rate.Known() {
		t.Errorf("known of packets that no longer count: %+v", l)
	}
	if round := s.Next(); len(round.Probes) == 0 || slices.ContainsFunc(round.Probes, func(p Probe) bool { return p.Size > 1400 }) {
		t.Errorf("next: %+v", round)
	}
}

// Where the time is over early, links that are not known say that, not that a hop limits its answers, and what was not sent does not count.
func TestStop(t *testing.T) {
	s, random := &Study{Largest: 1500, MostTTL: 30, Random: rand.New(rand.NewPCG(1, 1)), Seconds: 8}, rand.New(rand.NewPCG(1, 2))
	r, sent := route{links: rates(50, 40), noise: 3e-6}, 0
	for s.stage != turns {
		round := s.Next()
		if s.stage == turns { // of which one packet is sent
			s.Stop(round.Probes[1:])
			round.Probes = round.Probes[:1]
		}
		for _, p := range round.Probes {
			sent++
			s.Add(r.answer(p, min(p.TTL, len(r.links)), random))
		}
	}
	links := s.Links()
	if got := links[0].Sent + links[1].Sent; got > sent || links[0].Rate.Doubt != Late || links[1].Rate.Doubt != Late {
		t.Errorf("%d packets sent: %+v", sent, links)
	}
}

func TestNarrowest(t *testing.T) {
	sure := func(mbit float64) Link {
		return Link{Rate: Estimate{BitsPerSecond: mbit, Low: mbit * .9, High: mbit * 1.1}}
	}
	unsure := func(low float64, why Doubt) Link { return Link{Rate: Estimate{Low: low, Doubt: why}} }
	for _, c := range []struct {
		links []Link
		want  string
	}{
		{[]Link{sure(30), sure(20), sure(40)}, "1 true"},
		{[]Link{unsure(50, Fast), sure(20)}, "1 true"},
		{[]Link{unsure(10, Noisy), sure(20)}, "0 false"},
		{[]Link{sure(20), unsure(0, Silent), unsure(30, Together)}, "0 true"},
		{nil, "0 false"},
	} {
		at, ok := Narrowest(c.links)
		if got := fmt.Sprint(at, ok); got != c.want {
			t.Errorf("%+v: %s, want %s", c.links, got, c.want)
		}
	}
}

func BenchmarkLinks(b *testing.B) {
	s, _, _ := route{links: rates(90, 80, 10, 50, 70, 30, 60, 20, 40), noise: 3e-6, seed: 1}.measured()
	for b.Loop() {
		s.Links()
	}
}
