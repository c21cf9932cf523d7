package link

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// pair is the two directions of a link on one medium.
type pair struct {
	ends [2]*rig
}

func newPair(t *testing.T, seed uint64, text string) *pair {
	var p pair
	m := NewMedium()
	s := shapeOf(t, text)
	if err := CheckPair(s, s); err != nil {
		t.Fatal(err)
	}
	for i := range p.ends {
		r := &rig{t: t}
		r.d = New(0, seed, i, s, &r.pool, r.out())
		r.d.Join(0, m, i)
		p.ends[i] = r
	}
	return &p
}

func (p *pair) adapters() [2]Adapter {
	return [2]Adapter{p.ends[0].d.Counts().Adapter, p.ends[1].d.Counts().Adapter}
}

// load offers both ends packets at random times, as a share of 10 Mbit/s, for 10 s.
func (p *pair) load(seed uint64, shares [2]float64) {
	r := rand.New(rand.NewPCG(seed, 0))
	const full = 1538 * 800 // ns at 10 Mbit/s
	next := [2]float64{math.Inf(1), math.Inf(1)}
	for i, share := range shares {
		if share > 0 {
			next[i] = r.ExpFloat64() * full / share
		}
	}
	for {
		i := 0
		if next[1] < next[0] {
			i = 1
		}
		if next[i] > 10*float64(second) {
			break
		}
		p.ends[i].send(int64(next[i]), 1500)
		next[i] += r.ExpFloat64() * full / shares[i]
	}
	p.ends[0].finish()
	p.ends[1].finish()
}

// A quiet half-duplex wire is like any other.
func TestHalfDuplexAlone(t *testing.T) {
	p := newPair(t, 1, "{rate: 10mbit, delay: 1ms, duplex: half}")
	p.ends[1].send(0, 1500)
	p.ends[1].send(0, 1500)
	p.ends[1].finish()
	want := []int64{1538*800 + millisecond, 2*1538*800 + millisecond}
	if diff := cmp.Diff(want, p.ends[1].times()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([2]Adapter{}, p.adapters()); diff != "" {
		t.Error(diff)
	}
}

// Who hears the wire in use waits for its end; who begins within 240 bit times collides, and both get through later.
func TestHalfDuplexSense(t *testing.T) {
	const frame, slot, way = 1538 * 800, 51_200, 24_000 // ns
	p := newPair(t, 1, "{rate: 10mbit, duplex: half}")
	p.ends[0].send(0, 1500)
	p.ends[1].send(way, 1500)
	p.ends[0].finish()
	if diff := cmp.Diff([2]Adapter{{}, {Deferred: 1}}, p.adapters()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int64{2 * frame}, p.ends[1].times()); diff != "" {
		t.Error(diff)
	}
	p = newPair(t, 1, "{rate: 10mbit, duplex: half}")
	p.ends[0].send(0, 1500)
	p.ends[1].send(way-1, 1500)
	p.ends[0].finish()
	a := p.adapters()
	if a[0].Collisions == 0 || a[0].Collisions != a[1].Collisions || a[0].LateCollisions+a[1].LateCollisions != 0 {
		t.Errorf("adapters counted %+v", a)
	}
	// The first to get through begins some slots after the first collision, jam (32 bit times) and gap (96) of each added.
	first := min(p.ends[0].times()[0], p.ends[1].times()[0])
	if slots := first - frame - (way - 1) - int64(a[0].Collisions)*12_800; slots < 0 || slots%slot != 0 {
		t.Errorf("the first frame began after a backoff of %d ns; want a number of slots", slots)
	}
	if len(p.ends[0].times()) != 1 || len(p.ends[1].times()) != 1 {
		t.Errorf("delivered %v and %v", p.ends[0].times(), p.ends[1].times())
	}
}

// Both ends together get no more than the rate out of a half-duplex wire, and not much less where collisions are few.
func TestHalfDuplexLoad(t *testing.T) {
	for _, c := range []struct {
		shares [2]float64
		least  float64 // of the rate
	}{{[2]float64{0.2, 0.2}, 0.35}, {[2]float64{0.9, 0.05}, 0.85}, {[2]float64{2, 2}, 0.8}, {[2]float64{2, 0}, 0.999}} {
		p := newPair(t, 3, "{rate: 10mbit, duplex: half, queue: 20p}")
		p.load(1, c.shares)
		busy := 0.0
		for _, end := range p.ends {
			busy += float64(end.d.Counts().Delivered) * 1538 * 800
		}
		last := float64(max(p.ends[0].fates[len(p.ends[0].fates)-1].t, 10*second))
		if len(p.ends[1].fates) > 0 {
			last = max(last, float64(p.ends[1].fates[len(p.ends[1].fates)-1].t))
		}
		if share := busy / last; share > 1 || share < c.least {
			t.Errorf("offered %v: %.3f of the rate used, want %.2f to 1; %+v", c.shares, share, c.least, p.adapters())
		}
		a := p.adapters()
		if a[0].Collisions != a[1].Collisions || a[0].LateCollisions != 0 || (c.shares[1] == 0) != (a[0].Collisions == 0) {
			t.Errorf("offered %v: %+v", c.shares, a)
		}
	}
}

// A duplex mismatch shows under load both ways, and only then.
func TestMismatch(t *testing.T) {
	for _, one := range [][2]float64{{0.9, 0}, {0, 0.9}} {
		p := newPair(t, 3, "{rate: 10mbit, duplex: mismatch}")
		p.load(1, one)
		if diff := cmp.Diff([2]Adapter{}, p.adapters()); diff != "" {
			t.Errorf("one way, %v: %s", one, diff)
		}
		if n := dropped(p.ends[0].d.Counts()) + dropped(p.ends[1].d.Counts()); n != 0 {
			t.Errorf("one way, %v: %d dropped", one, n)
		}
	}
	p := newPair(t, 3, "{rate: 10mbit, duplex: mismatch}")
	p.load(1, [2]float64{0.3, 0.3})
	full, half := p.ends[0].d.Counts(), p.ends[1].d.Counts()
	if full.Adapter.Collisions+full.Adapter.LateCollisions+full.Adapter.Deferred != 0 {
		t.Errorf("the end set to full counted %+v", full.Adapter)
	}
	if half.Adapter.LateCollisions == 0 || half.Adapter.Deferred == 0 {
		t.Errorf("the end set to half counted %+v", half.Adapter)
	}
	if lost := half.Dropped[packet.Collision]; lost != half.Adapter.LateCollisions+half.Adapter.ExcessiveCollisions ||
		full.Adapter.FCSErrors != half.Adapter.LateCollisions || full.Adapter.Runts != half.Adapter.Collisions {
		t.Errorf("%d of half's frames lost; full counted %+v, half %+v", lost, full.Adapter, half.Adapter)
	}
	if lost := full.Dropped[packet.FrameError]; lost == 0 || lost != half.Adapter.FCSErrors {
		t.Errorf("%d of full's frames lost, half counted %+v", lost, half.Adapter)
	}
}

// What exactly a late collision does.
func TestLateCollision(t *testing.T) {
	p := newPair(t, 1, "{rate: 10mbit, duplex: mismatch}")
	p.ends[1].send(0, 1500)
	p.ends[0].send(51_200, 1500)
	p.ends[0].send(51_200, 1500)
	p.ends[0].finish()
	want := [2][]fate{
		{{1, 51_200, 51_200 + 1538*800, packet.FrameError}, {2, 51_200, 51_200 + 2*1538*800, packet.Kept}},
		{{1, 0, 51_200 + 3200, packet.Collision}},
	}
	if diff := cmp.Diff(want, [2][]fate{p.ends[0].fates, p.ends[1].fates}, cmp.AllowUnexported(fate{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([2]Adapter{{FCSErrors: 1}, {LateCollisions: 1, FCSErrors: 1}}, p.adapters()); diff != "" {
		t.Error(diff)
	}
}

// After a collision the half end has heard the other, and waits for the end of its frame.
func TestAfterLateCollision(t *testing.T) {
	const frame = 1538 * 800
	p := newPair(t, 1, "{rate: 10mbit, duplex: mismatch}")
	p.ends[1].send(0, 1500)
	p.ends[1].send(0, 1500)
	p.ends[0].send(51_200, 1500)
	p.ends[0].finish()
	if diff := cmp.Diff([]int64{51_200 + 2*frame}, p.ends[1].times()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([2]Adapter{{FCSErrors: 1}, {LateCollisions: 1, FCSErrors: 1}}, p.adapters()); diff != "" {
		t.Error(diff)
	}
}

// Against an end set to full that sends all the time, a frame of the half end gives up after 16 collisions.
func TestExcessiveCollisions(t *testing.T) {
	p := newPair(t, 1, "{rate: 10mbit, duplex: mismatch, queue: 2000p}")
	for range 1000 {
		p.ends[0].send(0, 1500)
	}
	p.ends[1].send(100_000, 1500)
	p.ends[0].finish()
	want := [2]Adapter{{Runts: 16}, {Collisions: 16, ExcessiveCollisions: 1, Deferred: 1, FCSErrors: 16}}
	if diff := cmp.Diff(want, p.adapters()); diff != "" {
		t.Error(diff)
	}
	if n := p.ends[1].d.Counts().Dropped[packet.Collision]; n != 1 {
		t.Errorf("%d frames given up", n)
	}
	if n := p.ends[0].d.Counts().Dropped[packet.FrameError]; n != 16 {
		t.Errorf("%d frames of the full end lost", n)
	}
}

// A link may be set from one mode to another under load, and loses nothing uncounted.
func TestDuplexChanges(t *testing.T) {
	p := newPair(t, 1, "{rate: 10mbit, duplex: full}")
	modes := []string{"half", "mismatch", "full", "mismatch", "half"}
	for i := range int64(5000) {
		p.ends[i%2].send(i*700*microsecond, 1500)
		if i%301 == 300 {
			s := shapeOf(t, "{rate: 10mbit, duplex: "+modes[i/301%5]+"}")
			p.ends[0].d.Set(i*700*microsecond+5, s)
			p.ends[1].d.Set(i*700*microsecond+5, s)
		}
		p.ends[0].balance()
		p.ends[1].balance()
	}
	p.ends[0].finish()
	p.ends[1].finish()
	if a := p.adapters(); a[1].Collisions == 0 || a[1].LateCollisions == 0 {
		t.Errorf("%+v: the modes did not take", a)
	}
}
