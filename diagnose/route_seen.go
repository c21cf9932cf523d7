package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// readTrace keeps the route there, which findings name hops of.
func readTrace(g *gathering, r *measure.Result) {
	g.each(r, func(s *Subject) {
		if sortOf(r) == ofSYNs { // by TCP, where a proxy may answer
			s.readSYNs(r)
			return
		}
		if s.Name != measure.Forward || r.Samples.Route == nil {
			return
		}
		if r.Samples.Return != nil {
			s.there, s.back = r.Samples.Hops, r.Samples.Return
		}
		if s.route == nil || r.Samples.Return == nil { // a trace of both ways is of another flow, and without the mark of the first
			s.hops, s.route = r.Samples.Hops, r.Samples.Route
		}
	})
}

// loop are the hops of a route that packets pass again and again, in the order in which they pass them; nil: there are none.
func loop(r *measure.Result) []int {
	if r.Samples.Route == nil {
		return nil
	}
	at := slices.IndexFunc(r.Samples.Route.Remarks, func(m measure.RouteRemark) bool { return m.Kind == measure.RemarkLoop })
	if at < 0 {
		return nil
	}
	return r.Samples.Route.Remarks[at].TTLs
}

// hop names the hop of a number in the route of the subject, as hopOf does.
func (s *Subject) hop(ttl int) string { return hopOf(s.hops, ttl) }

// hopOf names the hop of a number among those of a route: the number, and the addresses that answered there.
func hopOf(hops []measure.Hop, ttl int) string {
	name := fmt.Sprintf("hop %d", ttl)
	at := slices.IndexFunc(hops, func(h measure.Hop) bool { return h.TTL == ttl })
	if at < 0 || len(hops[at].Addresses) == 0 {
		return name
	}
	return name + " (" + strings.Join(hops[at].Addresses, ", ") + ")"
}
