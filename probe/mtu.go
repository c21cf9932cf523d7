package probe

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/sock"
)

// MTU finds the largest packet that comes through to a target: ICMP echoes that no router may cut, whose answers alone count
// (RFC 8899). What routers say of a size is tried first and not believed. Then packets one byte too large die at each hop in turn,
// which tells behind which hop they are refused, or vanish.
type MTU struct {
	Target  string        // name or address; required
	Family  sock.Family   // zero: the first of the target's addresses that can be reached
	Timeout time.Duration // the longest wait for an answer; 0: 1 s
}

const (
	mtuTimeout = time.Second
	mtuTries   = 3                     // packets of a size: that all get lost by accident takes a path that loses a tenth for 1 in 1000
	mtuGap     = 20 * time.Millisecond // between packets: at 1500 bytes 600 kbit/s
	mtuTrips   = 4                     // an answer comes within so many of the round trips seen, or within mtuLeast
	mtuLeast   = 200 * time.Millisecond
	mtuHops    = 30 // as traceroute goes
	mtuSilent  = 3  // hops in a row of which none answers end the search for the one that narrows the path

	// What a run takes at most: a search from 68 to 1500 bytes, and the silent packets of the search for the hop.
	mtuSizes = 13
	mtuWaits = mtuSizes + 2*mtuSilent
)

func mtuKind() Kind {
	return newKind(declaration[MTU]{
		kind: Kind{Name: "mtu", Meaning: "the largest packet that comes through, and the hop that takes no larger one",
			Text: mtuText, Usage: Usage{
				Hosts: "HOST", Short: "The largest packet that comes through to HOST",
				Long: "Send ICMP echoes of several sizes that no router may cut. Only answers count, so a path on which packets vanish and nobody\n" +
					"says why is measured as well. Needs no root where net.ipv4.ping_group_range admits the user.",
				Examples: []string{"mtu 127.0.0.1", "mtu carol --json", "mtu carol -6"},
				Doing:    "trying sizes to", Detail: true,
			}, Needs: []Need{{What: "raw-sockets", Means: echoSocket, Try: tryEcho}}},
		target: func(p *MTU) *string { return &p.Target },
		fields: mtuFields(),
	})
}

func mtuFields() []field[MTU] {
	return []field[MTU]{
		{Name: "timeout", Short: "W", Default: "1s", Meaning: "how long an answer may take",
			binding: span(func(p *MTU) *time.Duration { return &p.Timeout })},
		familyField(func(p *MTU) *sock.Family { return &p.Family }),
	}
}

// Validate says what is wrong with the parameters, as a input.Error, or returns nil.
func (p MTU) Validate() error {
	return cmp.Or(checkTarget(p.Target, p.Family), checkDuration("timeout", p.Timeout, time.Millisecond, maxTimeout))
}

func (p *MTU) equip(Options) {}

func (p *MTU) demand() measure.Demand {
	timeout := p.Timeout
	setDefault(&timeout, mtuTimeout)
	packet := wire(p.Target, p.Family, mtu-model.IPv6Header)
	return measure.Demand{DurationSeconds: mtuWaits * (timeout + mtuTries*mtuGap).Seconds(), BitsPerSecond: 8 * packet / mtuGap.Seconds(),
		Bytes: 2 * packet * (mtuTries*mtuWaits + mtuHops)}
}

// resultBytes are inferred from those of a trace, which has hops as well.
func (p *MTU) resultBytes() float64 { return 550 }

// mtuSearch narrows down the largest packet that comes through. Sizes are of IP packets, in bytes.
type mtuSearch struct {
	least, most int // what every path carries, and what this host can send
	passes      int // the largest that was answered; 0: none
	fails       int // the smallest that was not; 0: none
	told        int // what a router says the MTU is; 0: none did
}

// next is the size to try next; false: the search is over. The largest one comes first, since most paths carry it, then what a router
// told and one byte more, then the middle of what is left.
func (s *mtuSearch) next() (size int, more bool) {
	switch {
	case s.passes == s.most || s.fails == s.least || s.fails > 0 && s.fails == s.passes+1:
		return 0, false
	case s.fails == 0:
		return s.most, true
	case max(s.passes, s.least-1) < s.told && s.told < s.fails:
		return s.told, true
	case s.passes == 0:
		return s.least, true
	case s.passes == s.told:
		return s.told + 1, true
	}
	return (s.passes + s.fails) / 2, true
}

// tried notes whether a size came through.
func (s *mtuSearch) tried(size int, passed bool) {
	if passed {
		s.passes = max(s.passes, size)
	} else if s.fails == 0 || size < s.fails {
		s.fails = size
	}
}

// What ended the hops that a packet passed which is too large for the path.
const (
	mtuRefused = string(sock.TooBig)
	mtuSilence = "no answer"
)

// mtuText writes what people want to know of a path's MTU.
func mtuText(w io.Writer, r *measure.Result) {
	bytes, found := r.Get(measure.PathMTU)
	if !found {
		return
	}
	fmt.Fprintf(w, "%s (%s): path MTU %.0f bytes\n", r.Target.Name, r.Target.Address, bytes)
	if len(r.Samples.Hops) == 0 {
		return
	}
	last := r.Samples.Hops[len(r.Samples.Hops)-1]
	where := fmt.Sprintf("hop %d", last.TTL)
	if len(last.Addresses) > 0 {
		where += " (" + last.Addresses[0] + ")"
	}
	if last.Reply == mtuRefused {
		fmt.Fprintf(w, "larger packets are refused by %s\n", where)
	} else {
		fmt.Fprintf(w, "larger packets vanish behind %s, and nobody says why: a black hole\n", where)
	}
}
