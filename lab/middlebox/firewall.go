package middlebox

import (
	"slices"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// firewall decides so, for a packet from interface "from" to interface "to":
//
//	deny matches?                       -- yes --> refuse
//	both inside, or both outside?       -- yes --> pass
//	ICMP error: from inside             ---------> pass
//	            about a known connection --------> pass, else refuse
//	a known connection, either way?     -- yes --> pass, and it is in use
//	begins one (a SYN, an echo request,
//	anything that is not TCP or ICMP)?  -- no  --> refuse
//	from inside, or allow matches?      -- yes --> pass, and remember it;  else refuse
//
// A later fragment passes from inside, and to inside if its first fragment did.
type firewall struct {
	inside      []int
	allow, deny []packet.Match
	reject      bool
	known       map[packet.Key]int32 // by the key of the packet that began
	keys        []packet.Key         // of each life in ages
	ages        ages
	fragments   memory
}

func newFirewall(c *Firewall, place Place) *firewall {
	if c == nil {
		return nil
	}
	return &firewall{
		inside: place.Inside, allow: c.Allow, deny: c.Deny, reject: c.Reject,
		known: map[packet.Key]int32{},
		ages:  ages{limits: c.Idle.limits(lingerClosed, lingerReset), most: most(c.Entries)},
	}
}

func most(entries Number) int {
	if entries == 0 {
		return defaultEntries
	}
	return int(entries)
}

func (w *firewall) pass(t int64, b []byte, from, to int) bool {
	if matchesAny(w.deny, b) {
		return false
	}
	outward, inward := slices.Contains(w.inside, from), slices.Contains(w.inside, to)
	if outward == inward {
		return true
	}
	d, later, fragmented := datagramOf(b)
	switch {
	case later && outward:
		return true
	case later:
		_, passed := w.fragments.get(d)
		return passed
	case packet.IsICMPError(b):
		return outward || w.related(t, b)
	}
	if !w.connection(t, b, outward) {
		return false
	}
	if fragmented && inward {
		w.fragments.put(d, 0)
	}
	return true
}

func matchesAny(rules []packet.Match, b []byte) bool {
	for i := range rules {
		if rules[i].Matches(b) {
			return true
		}
	}
	return false
}

// related reports whether an ICMP error is about a known connection.
func (w *firewall) related(t int64, b []byte) bool {
	inner, ok := packet.Quoted(b)
	if !ok {
		return false
	}
	k := packet.KeyOf(inner)
	if _, ok = w.find(t, k); !ok {
		_, ok = w.find(t, k.Reverse())
	}
	return ok
}

// connection decides about a packet that is of a connection, or begins one.
func (w *firewall) connection(t int64, b []byte, outward bool) bool {
	k := packet.KeyOf(b)
	flags, tcp := packet.TCPFlags(b)
	i, front := w.find(t, k)
	found := front
	if !found {
		i, found = w.find(t, k.Reverse())
	}
	switch {
	case found:
	case !outward && !matchesAny(w.allow, b):
		return false
	case k.Protocol == packet.ProtocolTCP && !(tcp && begins(flags)):
		return false
	case (k.Protocol == packet.ProtocolICMP || k.Protocol == packet.ProtocolICMPv6) && !endsOf(b).hasSource:
		return false
	case !w.room(t):
		return false
	default:
		i, front = w.begin(t, k), true
	}
	w.ages.use(t, i, flags, front)
	return true
}

// find returns the connection that a packet with key k began, unless it was idle for too long.
func (w *firewall) find(t int64, k packet.Key) (int32, bool) {
	i, ok := w.known[k]
	if ok && w.ages.expired(t, i) {
		w.forget(i)
		return 0, false
	}
	return i, ok
}

func (w *firewall) begin(t int64, k packet.Key) int32 {
	i := w.ages.add(t, k.Protocol)
	if int(i) == len(w.keys) {
		w.keys = append(w.keys, k)
	}
	w.keys[i] = k
	w.known[k] = i
	return i
}

func (w *firewall) forget(i int32) {
	delete(w.known, w.keys[i])
	w.ages.remove(i)
}

// room forgets what was idle for too long, and reports whether one more can be remembered.
func (w *firewall) room(t int64) bool {
	for i, ok := w.ages.oldest(t); ok; i, ok = w.ages.oldest(t) {
		w.forget(i)
	}
	return w.ages.used < w.ages.most
}
