package lab

import (
	"errors"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// A page that shows a link and offers to take changes back needs more than Set: whole shapes, of one link by its number,
// that go back to what they were, and no change that nobody has seen.
//
//	Shapes  ->  was  ->  Replace(was, now)  ->  now, or ErrStale if the link is not as it was
//	                            for > 0: after that, what the change did is taken back (link.Shape.Back)

// ErrStale means that a link is not what a caller took it for: somebody else changed it meanwhile.
var ErrStale = errors.New("the link has been changed meanwhile; look at it again")

// Shapes returns what each direction of each link does now, whole, but for what files hold (link.Shape.Bare): link i has 2i
// (forward) and 2i+1 (reverse).
func (l *Lab) Shapes() ([]Shape, error) {
	a, err := l.ask(request{Do: "shapes"})
	return a.Shapes, err
}

// Replacement is whole shapes for one link, forward and reverse, in place of those that it had.
type Replacement struct {
	Link     int           `json:"link"` // from 0, in the order of the lab file
	Was      [2]Shape      `json:"was"`  // else the error is ErrStale
	Now      [2]Shape      `json:"now"`
	Duration time.Duration `json:"duration,omitempty"` // what changed is taken back after this, so something must; 0: it stays
}

// Replace changes one link while packets flow; those that are on it already keep their fate. Files that the shapes name are
// those that Shapes has named.
func (l *Lab) Replace(r Replacement) error {
	_, err := l.ask(request{Do: "replace", Replace: &r})
	return err
}

func (e *engine) shapes() []Shape {
	e.pump.mu.Lock()
	defer e.pump.mu.Unlock()
	var bare []Shape
	for _, s := range e.pump.network.shapes {
		e.files.Note(s)
		bare = append(bare, s.Bare())
	}
	return bare
}

func (e *engine) replace(r *Replacement) error {
	if r == nil || r.Link < 0 || r.Link >= len(e.links) {
		return specErrorf("link: want one from 0 to %d", len(e.links)-1)
	}
	if r.Duration < 0 || r.Duration > 24*time.Hour {
		return specErrorf("duration: %v: want at most 24h", r.Duration)
	}
	e.pump.mu.Lock()
	defer e.pump.mu.Unlock()
	for _, s := range e.pump.network.shapes { // a file may have changed since Shapes
		e.files.Note(s)
	}
	for way := range r.Now {
		e.files.Fill(&r.Was[way])
		e.files.Fill(&r.Now[way])
	}
	if err := link.CheckPair(r.Now[0], r.Now[1]); err != nil {
		return err
	}
	if err := e.pump.network.replace(e.pump.now(), r); err != nil {
		return err
	}
	e.pump.poke()
	return nil
}

// returning is a change of one link that takes another one back.
type returning struct {
	link        int
	made        int64 // when the other was
	before, set [2]link.Shape
}

// forget has r not know of an earlier change that was taken back: else it would bring that back, for good.
func (r *returning) forget(old *returning) {
	for way := range r.before {
		r.before[way], _ = r.before[way].Back(old.before[way], old.set[way])
		r.set[way], _ = r.set[way].Back(old.before[way], old.set[way])
	}
}

func (n *Network) replace(t int64, r *Replacement) error {
	for way := range r.Was {
		if n.shapes[2*r.Link+way].String() != r.Was[way].String() {
			return ErrStale
		}
	}
	if r.Duration > 0 && r.Now[0].String() == r.Was[0].String() && r.Now[1].String() == r.Was[1].String() {
		return specErrorf("duration: %v: the link is so already, and nothing would end", r.Duration)
	}
	n.setWhole(t, r.Link, r.Now)
	if r.Duration > 0 {
		at := notation.Span(t) + notation.Span(r.Duration)
		n.timeline = append(n.timeline, event{Change{At: at}, &returning{r.Link, t, r.Was, r.Now}})
		slices.SortStableFunc(n.timeline, sooner)
		n.planTimeline()
	}
	return nil
}

// goBack takes a change back as far as nothing has changed since; if what is left would not do, nothing.
func (n *Network) goBack(t int64, r *returning) {
	var now [2]link.Shape
	for way := range now {
		now[way], _ = n.shapes[2*r.link+way].Back(r.before[way], r.set[way])
	}
	if link.CheckPair(now[0], now[1]) != nil {
		return
	}
	n.setWhole(t, r.link, now)
	for _, e := range n.timeline {
		if later := e.back; later != nil && later.link == r.link && later.made >= r.made {
			later.forget(r)
		}
	}
}

func (n *Network) setWhole(t int64, l int, shapes [2]link.Shape) {
	for way, shape := range shapes {
		id := 2*l + way
		n.shapes[id] = link.Shape{}
		n.setDirection(t, id, &shape)
	}
}
