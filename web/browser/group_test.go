package browser

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/pathwise-net/pathwise/measure"
)

// groupOf is what a member told of a group of three: what the first sends is lost to the second, of the third nobody told.
func groupOf(member string, at time.Time) *measure.Result {
	r := ended("beacon", "tv", member, member, at)
	r.Test = "tv@studio"
	ms := func(v float64) *float64 { v /= 1e3; return &v }
	hops := 2
	r.Metrics = map[measure.Metric]float64{measure.GroupMembers: 3, measure.LossRatio: 0.125, measure.SentPackets: 200, measure.LostPackets: 25}
	r.Samples.Members = []measure.Member{{ID: "1", Name: "ucl", Address: "10.0.0.1", Self: member == "ucl", Sent: 100}, {ID: "2", Name: "cern", Address: "10.0.0.2", Self: member == "cern", Sent: 100},
		{ID: "3", Name: evil, Sent: 100}}
	r.Samples.Pairs = []measure.MemberPair{
		{From: 0, To: 1, Final: true, Sent: 100, Received: 75, BurstMax: 3, HopsMin: &hops, HopsMax: &hops, DelayMinSeconds: ms(12), DelayMedianSeconds: ms(13), DelayP95Seconds: ms(14), PDVP95Seconds: ms(2)},
		{From: 1, To: 0, Sent: 100, Received: 100, Reordered: 10, DelayMinSeconds: ms(40), DelayMedianSeconds: ms(41)},
	}
	return r
}

// The Result of a beacon draws its group as a matrix of a quantity that one chooses, and tells all of each pair; so does the page of the test, as any
// member told, and the page of hosts leads there.
func TestGroup(t *testing.T) {
	m := newPlayed(t)
	now := time.Now()
	mine, others := groupOf("ucl", now.Add(-time.Minute)), groupOf("cern", now.Add(-2*time.Minute))
	must(t, m.Archive.Put(t.Context(), []*measure.Result{mine, others}))
	const cells = "[...document.querySelectorAll('.group tbody tr')].map((r) => [...r.cells].slice(1).map((c) => c.textContent.replaceAll('\\u00a0', ' ')).join()).join('; ')"
	p := open(t, desk, m.url+"#/result/"+mine.ID)
	p.withAxe()
	for quantity, want := range map[string]string{
		"loss": ",× 25 %,–; 0 % ~,,–; –,–,", "delay": ",13.0 ms,–; 41.0 ms ~,,–; –,–,", "variation": ",2.00 ms,–; –,,–; –,–,",
		"reordering": ",0 %,–; × 10 % ~,,–; –,–,", "hops": ",2,–; –,,–; –,–,",
	} {
		p.until("document.querySelector('.members select')")
		value[bool](p, "((s) => { s.value = '"+quantity+"'; return s.dispatchEvent(new Event('change', {bubbles: true})); })(document.querySelector('.members select'))")
		p.until(cells + " === '" + want + "'")
	}
	p.says(".members", "– is of what nobody told, 4 pairs;")
	p.click("document.querySelector('.members summary')")
	p.says(".members tbody tr", "ucl")
	p.unharmed()
	p.accessible("a group")
	p.picture("group")
	p.show("#/hosts", desk, false)
	p.run(chromedp.Click(chromedp.CSS("section[aria-labelledby=groups] a")))
	p.until("location.hash === '#/group/tv@studio' || location.hash === '#/group/tv%40studio'")
	p.says("h1", "tv@studio, a multicast group")
	p.says(".group", "ucl told this")
	p.show("#/group/tv@studio?by=cern", phone, true)
	p.says(".group", "cern told this")
	p.until("document.documentElement.scrollWidth <= innerWidth")
	p.unharmed()
	p.accessible("the page of a group, phone, dark")
	p.show("#/group/nothing", desk, false)
	p.says("main", "No member of nothing has measured yet.")
}
