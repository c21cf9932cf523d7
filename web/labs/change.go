package labs

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/link"
)

// Change is a change of a link that was made here.
type Change struct {
	ID        int       `json:"id" doc:"Of this lab, rising"`
	At        time.Time `json:"at"`
	By        string    `json:"by"`
	Link      int       `json:"link"`
	Direction Direction `json:"direction"`
	What      string    `json:"what" doc:"The settings, or the name of a fault"`
	Seconds   float64   `json:"for_seconds,omitempty" doc:"After which it ends by itself"`

	before, after [2]link.Shape
}

// Direction says which ways of a link are meant.
type Direction string

// The values of Direction. Empty is Both.
const (
	Both    Direction = "both"
	Forward Direction = "forward"
	Reverse Direction = "reverse"
)

// mostChanges is how many changes of a lab can be taken back: an afternoon's of who tries things out.
const mostChanges = 100

// mostSeconds is the longest that a change may be for.
const mostSeconds = 3600

// ErrNothing means that there is nothing to take back.
var ErrNothing = errors.New("there is nothing to undo here: " +
	"nothing was changed on this page since the controller began, or all of it is undone")

// Wish is what somebody wants of a link: settings, or a fault.
type Wish struct {
	Link      int
	Direction Direction
	Settings  []string // KEY=VALUE as `pathwise lab set` takes them; KEY= alone leaves the key to its default
	Fault     string   // the name of a fault, instead
	Seconds   float64  // after which the change ends by itself; 0: it stays
	By        string   // who wishes it
}

// Change does what somebody wishes, all of it or nothing, and keeps it for Undo.
func (s *Labs) Change(name string, w Wish) (*Lab, error) {
	what := strings.Join(w.Settings, " ")
	if w.Fault != "" {
		f, err := faultNamed(w.Fault)
		if err != nil {
			return nil, err
		}
		w.Seconds = cmp.Or(w.Seconds, f.Seconds)
		if f.Whole {
			w.Direction = Both
		}
		w.Settings, what = f.Settings, f.Title
	}
	switch {
	case len(w.Settings) == 0:
		return nil, input.Errorf("settings: none; want KEY=VALUE such as loss=1%%, or a fault")
	case !(w.Seconds >= 0 && w.Seconds <= mostSeconds):
		return nil, input.Errorf("for_seconds: %v: want 0, for good, to %d", w.Seconds, mostSeconds)
	}
	l, k, done, err := s.open(name)
	if err != nil {
		return nil, err
	}
	defer done()
	was, err := k.stand(l, w.Link)
	if err != nil {
		return nil, err
	}
	now := was
	for _, setting := range w.Settings {
		if now, err = apply(now, w.Direction, setting); err != nil {
			return nil, err
		}
	}
	r := lab.Replacement{Link: w.Link, Was: was, Now: now, Duration: time.Duration(w.Seconds * float64(time.Second))}
	if err := l.Replace(r); err != nil {
		return nil, err
	}
	k.keep(&Change{0, time.Now(), w.By, w.Link, w.Direction, what, w.Seconds, was, now})
	return k.look(l)
}

// oneMove is how soon after another a change of the same thing is one with it: a slider that is moved key by key.
const oneMove = 2 * time.Second

// keep notes a change, so that it can be taken back.
func (k *known) keep(c *Change) {
	if n := len(k.changes); n > 0 && c.continues(k.changes[n-1]) {
		c.before = k.changes[n-1].before
		k.changes = k.changes[:n-1]
	}
	k.last++
	c.ID = k.last
	k.changes = append(k.changes, c)
	k.changes = k.changes[max(0, len(k.changes)-mostChanges):]
}

// continues says whether a change goes on where another ended: the same person sets the same single key of the same link.
func (c *Change) continues(last *Change) bool {
	key, _, set := strings.Cut(c.What, "=")
	before, _, _ := strings.Cut(last.What, "=")
	return set && key == before && !strings.Contains(key, " ") && strings.Count(c.What+last.What, "=") == 2 &&
		c.By == last.By && c.Link == last.Link && c.Direction == last.Direction && c.Seconds == 0 && last.Seconds == 0 &&
		c.At.Sub(last.At) < oneMove && c.before[0].String() == last.after[0].String() && c.before[1].String() == last.after[1].String()
}

// stand returns what a link does now, and sees to it that what is kept is of the lab that is up.
func (k *known) stand(l *lab.Lab, n int) (ways [2]link.Shape, err error) {
	if _, err := k.look(l); err != nil {
		return ways, err
	}
	shapes, err := l.Shapes()
	if err != nil {
		return ways, err
	}
	if n < 0 || n >= len(shapes)/2 {
		return ways, input.Errorf("link: %d: lab %s has links 0 to %d", n, l.Name, len(shapes)/2-1)
	}
	return [2]link.Shape{shapes[2*n], shapes[2*n+1]}, nil
}

// apply puts one setting over the two directions of a link.
func apply(ways [2]link.Shape, d Direction, setting string) ([2]link.Shape, error) {
	key, value, _ := strings.Cut(setting, "=")
	if strings.TrimSpace(value) == "" && strings.Contains(setting, "=") {
		return without(ways, d, key)
	}
	forward, reverse, err := link.ParseSetting(setting)
	if err != nil {
		return ways, err
	}
	if forward.NamesFile() || reverse.NamesFile() {
		return ways, input.Errorf("%s: names a file, which a page cannot; use `pathwise lab set` on the lab's machine", key)
	}
	if d != Reverse {
		ways[0] = ways[0].Over(&forward)
	}
	if d != Forward {
		ways[1] = ways[1].Over(&reverse)
	}
	return ways, nil
}

func without(ways [2]link.Shape, d Direction, key string) ([2]link.Shape, error) {
	for i, own := range []Direction{Forward, Reverse} {
		if d != own && d != Both && d != "" {
			continue
		}
		shape, ok := ways[i].Without(key)
		if !ok {
			return ways, input.Errorf("%q: want a key such as loss", key)
		}
		ways[i] = shape
	}
	return ways, nil
}
