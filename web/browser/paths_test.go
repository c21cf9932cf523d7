package browser

import (
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// pathsResult has two ways by flow, of which one balances by packet, and a hop that is silent.
func pathsResult(at time.Time) *measure.Result {
	r := ended("trace", "ways", "ucl", "cern", at)
	r.Parameters["multipath"] = true
	vertex := func(ttl int, address, balancing string) measure.PathVertex {
		return measure.PathVertex{TTL: ttl, Address: address, Balancing: balancing, Flows: 17, RTT: new(float64(ttl) * 1e-3)}
	}
	p := &measure.PathsSample{Confidence: 0.95, Complete: true, SentPackets: 141, Flows: 38}
	p.Vertices = []measure.PathVertex{vertex(1, "10.8.0.2", "flow"), vertex(2, "10.8.7.4", ""), vertex(2, "10.8.2.2", "packet"), {TTL: 3}, vertex(3, "10.8.4.2", ""), vertex(3, "10.8.5.2", ""), vertex(4, "10.8.9.2", "")}
	p.Vertices[6].Final = true
	for _, l := range [][2]int{{0, 1}, {0, 2}, {1, 3}, {2, 4}, {2, 5}, {3, 6}, {4, 6}, {5, 6}} {
		p.Links = append(p.Links, measure.PathLink{From: l[0], To: l[1], Certain: l != [2]int{4, 6}})
	}
	r.Samples.Paths = p
	return r
}

// The Result of a trace of all paths draws them as a graph, and has them in a table, with the names of routers.
func TestPaths(t *testing.T) {
	r := pathsResult(time.Now().Add(-time.Minute))
	p := openResult(t, r)
	const of = "document.querySelector('section[aria-labelledby=paths]')"
	p.until(of + "?.querySelectorAll('circle').length === 7 && " + of + ".querySelectorAll('.link').length === 9 && " + of + ".querySelectorAll('.link.unsure').length === 1")
	p.until("/3 paths; that there are no more is 95 % sure.*141 packets of 38 flows/s.test(" + of + ".textContent.replaceAll('\u00a0', ' '))")
	p.until("[..." + of + ".querySelectorAll('tbody tr')].map((r) => [...r.cells].map((c) => c.textContent.replaceAll('\\u00a0', ' ')).join()).filter((_, i) => [0, 2, 3, 4, 6].includes(i)).join('; ') === " +
		"'1,a,10.8.0.2,1.00 ms,b c,by flow; 2,c,10.8.2.2,2.00 ms,e f,by packet; 3,d,nobody answers,,g,; 3,e,10.8.4.2,3.00 ms,?g,; 4,g,10.8.9.2,4.00 ms,end,'")
	p.unharmed()
	p.accessible("paths")
	p.picture("paths")
	p.show("#/result/"+r.ID, phone, true)
	p.until(of + " && document.documentElement.scrollWidth <= innerWidth")
	p.accessible("paths, phone, dark")
}
