package lab

import (
	"cmp"

	"github.com/pathwise-net/pathwise/lab/link"
)

// The last two sources of the agenda: what the file's timeline changes next, and when routers have noticed that a link
// went down or came back.

func (n *Network) timelineSource() int { return len(n.directions) + len(n.generators) }
func (n *Network) rerouteSource() int  { return n.timelineSource() + 1 }

// event is a change of the file's timeline, or the end of one that a user made for a time.
type event struct {
	Change
	back *returning // nil: none
}

func sooner(a, b event) int { return cmp.Compare(a.At, b.At) }

// planTimeline puts the next event of the timeline on the agenda.
func (n *Network) planTimeline() {
	if len(n.timeline) == 0 {
		n.agenda.set(n.timelineSource(), 0, false)
		return
	}
	n.agenda.set(n.timelineSource(), int64(n.timeline[0].At), true)
}

func (n *Network) passTimeline(t int64) {
	e := n.timeline[0]
	n.timeline = n.timeline[1:]
	n.planTimeline()
	if len(e.Between) == 2 {
		a, _ := n.plan.NodeByName(e.Between[0])
		b, _ := n.plan.NodeByName(e.Between[1])
		n.SetLinks(t, a, b, e.Shape.Over(e.Forward), e.Shape.Over(e.Reverse))
	}
	if e.Route != nil {
		n.SetRoute(*e.Route)
	}
	if e.back != nil {
		n.goBack(t, e.back)
	}
}

// CheckLinks says what would be wrong with a change that SetLinks would make.
func (n *Network) CheckLinks(a, b int, forward, reverse link.Shape) error {
	links, reversed := n.plan.LinksBetween(a, b)
	for k, l := range links {
		ways := [2]*link.Shape{&forward, &reverse}
		if reversed[k] {
			ways[0], ways[1] = ways[1], ways[0]
		}
		if err := link.CheckPair(n.shapes[2*l].Over(ways[0]), n.shapes[2*l+1].Over(ways[1])); err != nil {
			return err
		}
	}
	return nil
}

// SetLinks changes the links between two nodes at time t: forward is from a to b. What the shapes do not set stays.
func (n *Network) SetLinks(t int64, a, b int, forward, reverse link.Shape) {
	links, reversed := n.plan.LinksBetween(a, b)
	for k, l := range links {
		ways := [2]*link.Shape{&forward, &reverse}
		if reversed[k] { // the caller named the nodes the other way round
			ways[0], ways[1] = ways[1], ways[0]
		}
		for way, change := range ways {
			n.setDirection(t, 2*l+way, change)
		}
	}
}

func (n *Network) setDirection(t int64, id int, change *link.Shape) {
	was := n.unusable(id)
	n.shapes[id] = n.shapes[id].Over(change)
	if d := n.shapes[id].Duplex; d != nil && *d != link.Full && n.media[id/2] == nil {
		n.share(t, id/2)
	}
	n.directions[id].Set(t, n.shapes[id])
	n.reschedule(id)
	if n.unusable(id) != was && n.plan.Reroute != nil {
		n.reroutes = append(n.reroutes, t+*n.plan.Reroute)
		n.agenda.set(n.rerouteSource(), n.reroutes[0], true)
	}
}

// SetRoute makes a node send what it has for another by way of a neighbour, from now on.
func (n *Network) SetRoute(r Route) {
	n.overrides = append(n.overrides[:len(n.overrides):len(n.overrides)], r)
	n.routes.override(n.plan, r)
	clear(n.trees)
}

// unusable reports whether routers should find a way round a direction: the link is down one way or the other, as
// routing protocols see it.
func (n *Network) unusable(id int) bool {
	return n.plan.Reroute != nil && (n.directions[id].Down() || n.directions[id^1].Down())
}

// reroute is when routers have noticed that links changed.
func (n *Network) reroute(t int64) {
	for len(n.reroutes) > 0 && n.reroutes[0] <= t {
		n.reroutes = n.reroutes[1:]
	}
	n.agenda.set(n.rerouteSource(), 0, false)
	if len(n.reroutes) > 0 {
		n.agenda.set(n.rerouteSource(), n.reroutes[0], true)
	}
	n.routes = newRoutes(n.plan, n.overrides, n.unusable)
	clear(n.trees)
}
