package probe

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/retrace"
	"github.com/pathwise-net/pathwise/sock"
)

// scripted is a mtuWire on which everything is heard at once: what a function says of a packet, nil being nothing, which is waited for by a clock of its own.
type scripted struct {
	says  func(size, ttl int) *mtuHeard
	heard []mtuHeard
	now   time.Time // so long ago that an answer seems to have taken as long as it may
}

func (w *scripted) least() int { return 68 }
func (w *scripted) interrupt() {}
func (w *scripted) close()     {}

func (w *scripted) send(index, size, ttl int) (time.Time, error) {
	if h := w.says(size, ttl); h != nil {
		h.index, h.ours = index, true
		w.heard = append(w.heard, *h)
	}
	return w.now, nil
}

func (w *scripted) hear(until time.Time, _ int) (h mtuHeard, is bool, err error) {
	if len(w.heard) == 0 {
		if until.After(w.now) {
			w.now = until
		}
		return h, false, nil
	}
	h, w.heard = w.heard[0], w.heard[1:]
	return h, true, nil
}

func scriptedRun(says func(size, ttl int) *mtuHeard) *mtuRun {
	return &mtuRun{wire: &scripted{says: says, now: time.Now().Add(-time.Hour)}, timeout: time.Second, wait: time.Second}
}

// A router that tells another size each time does not keep the search from its end, nor from what is so.
func TestMTULiar(t *testing.T) {
	told := 4352
	run := scriptedRun(func(size, _ int) *mtuHeard {
		if size <= 8001 {
			return &mtuHeard{passed: true}
		}
		told += 2
		return &mtuHeard{reason: sock.TooBig, mtu: told}
	})
	s := &mtuSearch{least: 68, most: 9000, passes: 68}
	if err := run.search(s, mtuTTL); err != nil || s.passes != 8001 {
		t.Errorf("found %d, %v", s.passes, err)
	}
	if len(run.told) > mtuMostTold || len(run.sent) > mtuTries*mtuLimit*mtuFan {
		t.Errorf("tried %d sizes that were told, by %d packets", len(run.told), len(run.sent))
	}
}

// A search of what comes through at one time and not at another ends.
func TestMTUUnsteady(t *testing.T) {
	tries := map[int]int{}
	run := scriptedRun(func(size, _ int) *mtuHeard {
		if tries[size]++; tries[size] > mtuTries {
			return &mtuHeard{passed: true}
		}
		return nil
	})
	if err := run.search(&mtuSearch{least: 68, most: 1500, passes: 68}, mtuTTL); err != errMTUUnsteady {
		t.Error(err)
	}

	path := 100
	run = scriptedRun(func(size, ttl int) *mtuHeard {
		if size <= path {
			return &mtuHeard{passed: true}
		}
		if ttl < mtuTTL { // one of those by which the hop is sought that takes no larger ones
			path = size
			return &mtuHeard{passed: true}
		}
		return nil
	})
	r := measure.NewResult("mtu", time.Now())
	at := netip.MustParseAddr("192.0.2.1")
	if err := run.there(&mtuSearch{least: 68, most: 1500, passes: 68}, way{to: at, from: at}, r); err != nil || len(r.Notes) != 1 || path > 100+mtuSearches {
		t.Errorf("%v, notes %q, up to %d bytes", err, r.Notes, path)
	}
}

// A path that narrows at each hop is searched at some of them.
func TestMTUSteps(t *testing.T) {
	const hops = 12
	at := func(ttl int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(ttl)}) }
	run := scriptedRun(func(size, ttl int) *mtuHeard {
		for hop := 1; hop < min(ttl, hops); hop++ {
			if size > 1500-10*hop {
				return &mtuHeard{from: at(hop), reason: sock.TooBig, mtu: 1500 - 10*hop}
			}
		}
		if ttl < hops {
			return &mtuHeard{from: at(ttl), reason: sock.TimeExceeded}
		}
		return &mtuHeard{passed: true}
	})
	r := measure.NewResult("trace", time.Now())
	r.Samples.Route = &measure.RouteSample{}
	for ttl := 1; ttl <= hops; ttl++ {
		r.Samples.Hops = append(r.Samples.Hops, measure.Hop{TTL: ttl})
	}
	if err := run.steps(&mtuSearch{least: 68, most: 1500, passes: 68}, mtuTTL, at(99), r); err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, h := range r.Samples.Hops {
		got = append(got, h.MTU)
	}
	if want := []int{0, 0, 0, 0, 0, 0, 0, 1430, 1420, 1410, 1400, 1390}; !slices.Equal(got, want) || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "hops up to 7 ") {
		t.Errorf("%v, want %v; notes %q", got, want, r.Notes)
	}
}

// What came of a size that turned out to come through is forgotten: it does not show how far the next larger one comes.
func TestMTUStepAgain(t *testing.T) {
	at := func(ttl int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(ttl)}) }
	lost := true // what is larger than 1400 bytes, until the first such packet that lives for fewer hops
	run := scriptedRun(func(size, ttl int) *mtuHeard {
		lost = lost && (ttl == mtuTTL || size <= 1400)
		switch {
		case lost && size > 1400 || size > 1450 && ttl > 2:
			return nil
		case ttl < 4:
			return &mtuHeard{from: at(ttl), reason: sock.TimeExceeded}
		}
		return &mtuHeard{passed: true}
	})
	r := measure.NewResult("trace", time.Now())
	r.Samples.Route = &measure.RouteSample{}
	for ttl := range 4 {
		r.Samples.Hops = append(r.Samples.Hops, measure.Hop{TTL: ttl + 1})
	}
	if err := run.steps(&mtuSearch{least: 68, most: 1500, passes: 68}, mtuTTL, at(99), r); err != nil {
		t.Fatal(err)
	}
	want := []measure.Narrowing{{TTL: 2, Before: 3, Bytes: 1450, Address: "10.0.0.2"}}
	if d := cmp.Diff(want, r.Samples.Route.Narrowings); d != "" || r.Metrics[measure.PathMTU] != 1450 {
		t.Errorf("%v (-want +got):\n%s", r.Metrics, d)
	}
}

// A run takes no longer than its demand says where every contact but the last is in vain, a black hole is on both ways, and each answer takes as long as it may.
func TestMTUDemand(t *testing.T) {
	at := netip.MustParseAddr("192.0.2.1")
	for _, p := range []MTU{{Target: at.String(), Timeout: time.Second}, {Target: at.String(), Timeout: 10 * time.Second}, {Target: at.String(), Timeout: time.Second, Proto: protoTCP, Port: 22}} {
		var took time.Duration
		for _, trial := range p.trials() {
			silent := scriptedRun(func(int, int) *mtuHeard { return nil })
			silent.timeout = p.Timeout
			began := silent.wire.(*scripted).now
			if answered, err := silent.contact(68); answered || err != nil {
				t.Fatal(answered, err)
			}
			took += trial.opening + silent.wire.(*scripted).now.Sub(began)
		}
		run := scriptedRun(func(size, ttl int) *mtuHeard {
			switch {
			case size > 1333:
				return nil
			case ttl < mtuHops:
				return &mtuHeard{from: at, reason: sock.TimeExceeded}
			}
			return &mtuHeard{passed: true}
		})
		run.timeout, run.wait = p.Timeout, p.Timeout
		began := run.wire.(*scripted).now
		r := measure.NewResult("mtu", time.Now())
		if err := run.there(&mtuSearch{least: 68, most: 1500, passes: 68}, way{to: at, from: at}, r); err != nil || r.Metrics[measure.PathMTU] != 1333 {
			t.Fatal(r.Metrics, err)
		}
		if err := run.search(&mtuSearch{least: 68, most: 1500, passes: 68}, mtuTTL); err != nil {
			t.Fatal(err)
		}
		took += run.wire.(*scripted).now.Sub(began)
		if got := p.demand().DurationSeconds; took.Seconds() > got {
			t.Errorf("%+v took %v, and was to take %v s", p, took, got)
		}
	}
}

// The hop behind which larger packets vanish is found by halves, with few of them, wherever it is, and whatever hops are silent.
func TestMTUBisect(t *testing.T) {
	at := func(ttl int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(ttl)}) }
	const far, passes = 12, 1300
	for _, c := range []struct {
		name    string
		last    int   // hop that gets larger packets
		silent  []int // hops
		refuses bool
		mute    bool // the end answers nothing
		want    *measure.Narrowing
	}{
		{name: "none", last: far},
		{name: "in the middle", last: 5, want: &measure.Narrowing{TTL: 5, Before: 6, Bytes: passes, Address: "10.0.0.5"}},
		{name: "at once", want: &measure.Narrowing{Before: 1, Bytes: passes, Address: "10.0.0.99"}},
		{name: "last", last: far - 1, want: &measure.Narrowing{TTL: far - 1, Before: far, Bytes: passes, Address: "10.0.0.11"}},
		{name: "told", last: 4, refuses: true, want: &measure.Narrowing{TTL: 4, Before: 5, Bytes: passes, Address: "10.0.0.4", Refused: true}},
		{name: "behind silent hops", last: 5, silent: []int{5, 6}, want: &measure.Narrowing{TTL: 4, Before: 7, Bytes: passes, Address: "10.0.0.4"}},
		{name: "the end is mute", last: 3, mute: true, want: &measure.Narrowing{TTL: 3, Before: 4, Bytes: passes, Address: "10.0.0.3"}},
		{name: "all are", last: 3, silent: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, mute: true, want: &measure.Narrowing{Before: 2, Bytes: passes}},
	} {
		large := 0
		run := scriptedRun(func(size, ttl int) *mtuHeard {
			if size > passes {
				large++
			}
			switch {
			case size > passes && ttl > c.last && c.refuses:
				return &mtuHeard{from: at(c.last), reason: sock.TooBig, mtu: passes}
			case size > passes && ttl > c.last || slices.Contains(c.silent, ttl) || ttl >= far && c.mute:
				return nil
			case ttl >= far:
				return &mtuHeard{passed: true}
			}
			return &mtuHeard{from: at(ttl), reason: sock.TimeExceeded}
		})
		got, err := run.bisect(passes, at(99))
		if d := cmp.Diff(c.want, got); d != "" || err != nil || large > retrace.MostSized {
			t.Errorf("%s: %v, by %d large packets (-want +got):\n%s", c.name, err, large, d)
		}
	}
}

// made has a packet of a protocol made for each that a scripted wire sends.
type made struct {
	*scripted
	packets mtuPackets
}

func (w made) least() int { return w.packets.least() }

func (w made) send(index, size, ttl int) (time.Time, error) {
	w.packets.request(index, size)
	return w.scripted.send(index, size, ttl)
}

// Whoever asks for sizes that a protocol has no packets of is refused; from its least size on each is sought.
func TestMTUBisectLeast(t *testing.T) {
	for name, packets := range mtuWires() {
		for _, size := range []int{retrace.LeastSize, packets.least() - 1, packets.least()} {
			at := netip.MustParseAddr("192.0.2.1")
			run := scriptedRun(func(int, int) *mtuHeard { return &mtuHeard{from: at, reason: sock.TimeExceeded} })
			run.wire = made{run.wire.(*scripted), packets}
			_, err := run.bisect(size, at)
			if refused := err != nil; refused != (size < packets.least()) {
				t.Errorf("%s: %d bytes of at least %d: %v", name, size, packets.least(), err)
			}
		}
	}
}

// What a far end tells is of the size that it was asked about.
func TestToldNarrowing(t *testing.T) {
	narrow := func(n ...measure.Narrowing) retrace.Route {
		return retrace.Route{Whole: measure.RouteSample{Narrowings: n}}
	}
	for name, c := range map[string]struct {
		told retrace.Route
		want *measure.Narrowing
		fail bool
	}{
		"the size":     {told: narrow(measure.Narrowing{TTL: 2, Before: 3, Bytes: 1300}), want: &measure.Narrowing{TTL: 2, Before: 3, Bytes: 1300}},
		"another size": {told: narrow(measure.Narrowing{TTL: 2, Before: 3, Bytes: 9000}), want: &measure.Narrowing{TTL: 2, Before: 3, Bytes: 1300}},
		"none":         {},
		"a route":      {told: retrace.Route{Hops: []measure.Hop{{TTL: 1}}}, fail: true},
	} {
		got, err := toldNarrowing(c.told, 1300)
		if d := cmp.Diff(c.want, got); d != "" || (err != nil) != c.fail {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, d)
		}
	}
}
