package browser

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/pathwise-net/pathwise/measure"
)

// hopOf is one that answered three packets, or none where it has no address.
func hopOf(ttl int, addresses ...string) measure.Hop {
	h := measure.Hop{TTL: ttl, Addresses: addresses, RTTSeconds: []*float64{new(float64(ttl) * 1e-3), nil, new(float64(ttl) * 2e-3)}}
	if len(addresses) == 0 {
		h.Addresses, h.RTTSeconds = []string{}, []*float64{nil, nil, nil}
	}
	return h
}

func routed(tool string, hops ...measure.Hop) *measure.Result {
	r := ended("trace", tool, "ucl", "cern", time.Now().Add(-time.Minute))
	r.Samples.Hops, r.Samples.Route = hops, &measure.RouteSample{Reached: true}
	return r
}

// bothResult has a way back by another router, of which hops tell labels, an interface, a mark and an MTU, and middleboxes.
func bothResult() *measure.Result {
	r := routed("both", hopOf(1, "10.8.0.2"), hopOf(2), hopOf(3, "10.8.9.2"))
	first := &r.Samples.Hops[0]
	first.MPLS = []measure.MPLSLabel{{Label: 24001, Class: 2, TTL: 1}}
	first.Interfaces = []measure.HopPort{{Role: "arrived by", Name: "xe-0/1/0"}}
	first.DSCP, first.MTU = new(8), 1400
	r.Samples.Route.DSCPChanged = 1
	r.Samples.Route.Narrowings = []measure.Narrowing{{TTL: 1, Before: 3, Bytes: 1400, Address: "10.8.0.2"}}
	r.Samples.Return = &measure.ReturnRoute{Local: "10.0.0.1", Seen: "192.0.2.7", Hops: []measure.Hop{hopOf(1, "10.7.0.2"), hopOf(2, "10.6.0.1")}, Route: measure.RouteSample{Reached: true},
		Comparison: measure.RouteComparison{Verdict: measure.RoutesDiffer, Says: "the ways differ: 2 links are on one way alone",
			Links: []measure.LinkPair{{Forward: 1, Return: 2, Mark: measure.LinkShared}, {Forward: 2, Mark: measure.LinkUnknown}, {Forward: 3, Return: 1, Mark: measure.LinkOther}}}}
	r.Samples.Middleboxes = &measure.Middleboxes{Sent: []measure.PacketField{{Name: "MSS", Value: "1460"}, {Name: "SACK", Value: "there"}},
		Points:  []measure.MiddleboxPoint{{TTL: 1, Shown: "IP header"}, {TTL: 3, Far: true, Shown: "all"}},
		Changes: []measure.PacketChange{{Field: "DSCP", From: "0", To: "8", By: 1}, {Field: "MSS", From: "1460", To: "1360", After: 1, By: 3, Far: true}}}
	return r
}

// roundsResult loses packets from hop 2 on, and has a router that answers seldom.
func roundsResult() *measure.Result {
	r := routed("rounds", hopOf(1, "10.8.0.2"), hopOf(2, "10.8.2.2"), hopOf(3, "10.8.9.2"))
	s := &measure.RoundsSample{Rounds: 60, Loss: measure.PathLoss{End: 3, Reached: true, Lossy: true, LossRatio: 0.1, Hop: 2, After: 1, Limiting: []int{1}, Verdict: "10 % of the packets are lost from hop 2 on."}}
	for i, h := range r.Samples.Hops {
		ms := float64(i+1) * 1e-3
		s.Hops = append(s.Hops, measure.HopRounds{TTL: i + 1, Sent: 60, Lost: 6 * i, Answered: 60 - 6*i, LossRatio: 0.1 * float64(i), Last: &ms, Best: &ms, Mean: &ms, Median: &ms, Worst: new(2 * ms), Stddev: new(ms / 2),
			JitterSmoothed: new(ms / 4), From: []measure.HopAnswers{{Address: h.Addresses[0], Packets: 60 - 6*i}}})
	}
	r.Samples.Rounds = s
	return r
}

// mtuResult is of a black hole behind the first hop, measured each way.
func mtuResult() *measure.Result {
	r := ended("mtu", "size", "ucl", "cern", time.Now().Add(-time.Minute))
	r.Metrics = map[measure.Metric]float64{measure.PathMTU: 1400, measure.ReversePathMTU: 1300}
	r.Samples.Hops = []measure.Hop{{TTL: 1, Addresses: []string{"10.8.0.2"}, RTTSeconds: []*float64{}, Reply: "no answer"}}
	r.Samples.BackNarrows = &measure.Narrowing{TTL: 1, Before: 2, Address: "10.7.0.2", Bytes: 1300}
	return r
}

// comesTo waits until an expression is some text, and says whether it was in time.
func (p *tab) comesTo(expression, want string) bool {
	p.t.Helper()
	for late := time.Now().Add(patience / 4); time.Now().Before(late); time.Sleep(20 * time.Millisecond) {
		if value[string](p, expression) == want {
			return true
		}
	}
	return false
}

// The Result of a trace shows all that it holds: rounds with the hop that loses, both ways beside each other with marks, what is changed where, the largest packets, and what hops told.
func TestTraceResults(t *testing.T) {
	both, rounds, size := bothResult(), roundsResult(), mtuResult()
	p := openResult(t, both, rounds, size)
	cells := func(section string) string {
		return "[...document.querySelectorAll('section[aria-labelledby=" + section + "] tbody tr')].map((r) => [...r.cells].map((c) => c.textContent.trim().replaceAll('\\u00a0', ' ')).join()).join('; ')"
	}
	for _, c := range []struct{ of, section, want string }{
		{both.ID, "both", "1,10.8.0.2,1.00 ms,=both ways,2,10.6.0.1,2.00 ms; 2,nobody,,?nothing tells,,,; 3,10.8.9.2,3.00 ms,≠one way alone,1,10.7.0.2 [AS64500]  Example University, CH,1.00 ms"},
		{both.ID, "middleboxes", "0,sent,all,MSS 1460, SACK; 1,10.8.0.2,IP header,DSCP 0 becomes 8 between this host and hop 1 (10.8.0.2).; 2,nobody,nothing,; 3,10.8.9.2,nothing,; " +
			"end,cern, which tells what arrives,all,MSS 1460 becomes 1360 between hop 1 (10.8.0.2) and cern."},
		{both.ID, "mtu", "there, to hop 3,1400 bytes,vanish behind hop 1 (10.8.0.2), and nobody says why"},
		{both.ID, "hops", "1,10.8.0.2,1.00 ms  *  2.00 ms,[MTU 1400] [DSCP 8] <MPLS:L=24001,E=2,S=1,T=1> <arrived by xe-0/1/0>; 2,nobody,*  *  *,; 3,10.8.9.2,3.00 ms  *  6.00 ms,"},
		{both.ID, "hops-back", "1,10.7.0.2 [AS64500]  Example University, CH,1.00 ms  *  2.00 ms; 2,10.6.0.1,2.00 ms  *  4.00 ms"},
		{rounds.ID, "rounds", "1,10.8.0.2,0.0 %,60,1.00 ms,1.00 ms,1.00 ms,2.00 ms,500 µs,250 µs,,answers seldom; 2,10.8.2.2,10.0 %,60,2.00 ms,2.00 ms,2.00 ms,4.00 ms,1.00 ms,500 µs,,loss begins here; " +
			"3,10.8.9.2,20.0 %,60,3.00 ms,3.00 ms,3.00 ms,6.00 ms,1.50 ms,750 µs,,"},
		{size.ID, "mtu", "there, to the end,1400 bytes,larger packets vanish behind hop 1 (10.8.0.2), and nobody says why: a black hole; back,1300 bytes,on the way back larger packets vanish behind hop 1 from there (10.7.0.2), and nobody says why: a black hole"},
	} {
		p.show("#/result/"+c.of, desk, false)
		p.until("document.querySelector('section[aria-labelledby=" + c.section + "]')")
		if !p.comesTo(cells(c.section), c.want) {
			t.Errorf("%s: %s, want %s", c.section, value[string](p, cells(c.section)), c.want)
		}
	}
	p.unharmed()
	for name, r := range map[string]*measure.Result{"both": both, "rounds": rounds, "size": size} {
		p.show("#/result/"+r.ID, desk, false)
		p.until("document.querySelector('section[aria-labelledby=hops], section[aria-labelledby=rounds]')")
		p.accessible(name)
		p.picture("trace-" + name)
		p.show("#/result/"+r.ID, phone, true)
		p.until("document.documentElement.scrollWidth <= innerWidth")
		p.accessible(name + ", phone, dark")
	}
}

// Rounds of a trace are shown as they come in, from a link of the pair's page that asks for them, and then as the Result has them.
func TestRoundsNow(t *testing.T) {
	m := newPlayed(t, "olga")
	p := open(t, desk, m.url+"#/sign-in?then=%23/test?source=ucl%26target=cern%26tool=trace%26p.rounds=60")
	p.withAxe()
	p.signIn("olga", password)
	p.until("document.querySelector('.ask')")
	goOn := m.hub.pause("trace")
	p.run(chromedp.Click(chromedp.CSS("button[value=test]")))
	p.says(".live-run", "Nothing is lost.")
	p.until("document.querySelector('.live-run .rounds tbody').textContent.includes('10.0.0.2') && document.querySelector('.live-run #rounds').textContent.includes('so far')")
	p.accessible("rounds under way")
	p.show("#/test?source=ucl&target=cern&tool=trace&p.rounds=60", phone, true)
	p.until("document.documentElement.scrollWidth <= innerWidth")
	goOn()
	p.says(".live-run [role=status]", "Done.")
	p.until("document.querySelector('.live-run .rounds .latest') && !document.querySelector('.live-run #rounds').textContent.includes('so far')")
	p.unharmed()
}
