package probe

import (
	"net/netip"
	"slices"
	"time"
)

// manyPlan says which packets of many traces leave when. It is pure: times come in. So many traces are under way at once, in the order of the
// targets; each has a plan of its own, and the pace of hops holds for all of them.
//
//	target  1 2 3 4 5 6 7 8 9 …
//	        = = - = - - - |         = done, - under way: at most manyAtOnce behind the first that is not done
type manyPlan struct {
	trace   Trace // its parameters
	count   int   // targets
	pace    *hopPace
	running []*manyTrace // under way, in the order of the targets
	next    int          // target to begin with
}

// manyTrace is one trace under way.
type manyTrace struct {
	index int
	plan  *tracePlan
	free  time.Time    // when it may send again
	who   []netip.Addr // by TTL: the router that answered there first
	named []hopName    // by probe: as what it was counted
}

// manyAtOnce is how many traces are under way at most. With 200 packets a second to the first router they are enough for routes whose silent hops take seconds.
const manyAtOnce = 128

// manyDue is a packet to send.
type manyDue struct {
	*manyTrace
	ttl int
}

func newManyPlan(t Trace, count int, rate float64) *manyPlan {
	return &manyPlan{trace: t, count: count, pace: newHopPace(rate)}
}

// begin returns the traces that may begin now.
func (m *manyPlan) begin() (begun []*manyTrace) {
	for m.next < m.count && (len(m.running) == 0 || m.next < m.running[0].index+manyAtOnce) {
		t := &manyTrace{index: m.next, plan: newTracePlan(m.trace), who: make([]netip.Addr, m.trace.MaxTTL+1)}
		m.next++
		m.running = append(m.running, t)
		begun = append(begun, t)
	}
	return begun
}

// due returns the packets that may leave now, one of a trace at most, and the traces that are done. It counts them as sent at the pace.
func (m *manyPlan) due(now time.Time) (due []manyDue, done []*manyTrace) {
	for _, t := range m.running {
		if now.Before(t.free) {
			continue
		}
		any := false
		for ttl := range t.plan.choices(now) {
			any = true
			name := t.name(ttl)
			if !m.pace.may(name, now) {
				if t.plan.asked[ttl] == 0 && len(t.plan.probes) > 0 { // what is farther is not asked first: it may be beyond the target
					break
				}
				continue
			}
			m.pace.take(name, now)
			t.named = append(t.named, name)
			t.free = now.Add(t.plan.gap)
			due = append(due, manyDue{t, ttl})
			break
		}
		if waiting, _ := t.plan.waiting(now); !any && waiting == 0 {
			done = append(done, t)
		}
	}
	for _, t := range done {
		m.drop(t)
	}
	return due, done
}

// drop takes a trace out of those under way.
func (m *manyPlan) drop(t *manyTrace) {
	m.running = slices.DeleteFunc(m.running, func(other *manyTrace) bool { return other == t })
}

// name is as what a packet counts.
func (t *manyTrace) name(ttl int) hopName {
	if who := t.who[ttl]; who.IsValid() {
		return hopName{address: who}
	}
	return hopName{ttl: ttl}
}

// hear takes an answer into account.
func (m *manyPlan) hear(t *manyTrace, a traceAnswer, now time.Time) {
	if !t.plan.hear(a) || a.id < 0 || a.id >= len(t.named) {
		return
	}
	ttl := t.plan.probes[a.id].ttl
	if !t.who[ttl].IsValid() {
		t.who[ttl] = a.from
	}
	if t.named[a.id].ttl > 0 {
		m.pace.take(hopName{address: a.from}, now)
	}
}
