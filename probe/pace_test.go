package probe

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Packets leave by their gaps from the start, however late a timer is; after a stall they go on from there, without a burst.
func TestPace(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		left, due, late []time.Duration // when each left, when the one after it was due then, how late it was
	}{
		"a timer that is late":  {[]time.Duration{0, 12 * ms, 29 * ms, 30 * ms}, []time.Duration{10 * ms, 20 * ms, 30 * ms, 40 * ms}, []time.Duration{0, 2 * ms, 9 * ms, 0}},
		"a stall":               {[]time.Duration{0, 500 * ms, 510 * ms}, []time.Duration{10 * ms, 510 * ms, 520 * ms}, []time.Duration{0, 490 * ms, 0}},
		"a stall at the start":  {[]time.Duration{50 * ms, 60 * ms}, []time.Duration{60 * ms, 70 * ms}, []time.Duration{50 * ms, 0}},
		"a timer that is early": {[]time.Duration{0, 9 * ms}, []time.Duration{10 * ms, 20 * ms}, []time.Duration{0, 0}},
		"late by just a gap":    {[]time.Duration{0, 20 * ms, 20 * ms}, []time.Duration{10 * ms, 20 * ms, 30 * ms}, []time.Duration{0, 10 * ms, 0}},
	} {
		p := pace{gap: func() time.Duration { return 10 * ms }, interval: 10 * ms}
		var due, late []time.Duration
		for _, at := range c.left {
			late = append(late, p.leave(at))
			due = append(due, p.due)
		}
		if diff := cmp.Diff([][]time.Duration{c.due, c.late}, [][]time.Duration{due, late}); diff != "" {
			t.Errorf("%s: due and late (-want +got):\n%s", name, diff)
		}
	}
}

// Whatever stalls there are, no two packets leave together, and none is due before the one that left.
func TestPaceNeverBursts(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	p := pace{gap: func() time.Duration { return time.Millisecond }, interval: time.Millisecond}
	now, within := time.Duration(0), 0
	for range 10_000 {
		last := now
		now = max(now, p.due) + time.Duration(random.ExpFloat64()*float64(100*time.Microsecond))
		if random.IntN(100) == 0 {
			now += time.Duration(random.IntN(50)) * time.Millisecond
		}
		if now-last < time.Millisecond/2 {
			within++
		}
		p.leave(now)
	}
	if within > 500 { // a packet that is late by less than a gap may come close to the next
		t.Errorf("%d of 10000 packets within half a gap of the one before", within)
	}
}
