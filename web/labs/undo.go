package labs

import (
	"cmp"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/lab"
)

// history is the changes that can be taken back, newest first.
func (k *known) history() []Change {
	all := []Change{}
	for _, c := range slices.Backward(k.changes) {
		all = append(all, *c)
	}
	return all
}

// Undo takes changes back, newest first: the last one or all, of a lab or, with number not nil, of one link. What a change
// set and somebody else changed since is theirs and stays.
func (s *Labs) Undo(name string, number *int, all bool) (*Lab, error) {
	l, k, done, err := s.open(name)
	if err != nil {
		return nil, err
	}
	defer done()
	if _, err := k.look(l); err != nil {
		return nil, err
	}
	undone := 0
	var left error
	for i := len(k.changes) - 1; i >= 0 && (all || undone == 0); i-- {
		c := k.changes[i]
		if number != nil && c.Link != *number {
			continue
		}
		err := k.takeBack(l, i)
		switch {
		case input.Bad(err): // the link became what cannot do without it; those before it can still be undone
			left = input.Errorf("%s cannot be undone any more: %w", c.What, err)
		case err != nil:
			return nil, err
		}
		k.changes = slices.Delete(k.changes, i, i+1)
		undone++
	}
	if undone == 0 {
		return nil, ErrNothing
	}
	doc, err := k.look(l)
	return doc, cmp.Or(left, err)
}

// takeBack undoes a change by its place.
func (k *known) takeBack(l *lab.Lab, at int) error {
	c := k.changes[at]
	was, err := k.stand(l, c.Link)
	if err != nil {
		return err
	}
	before, after := c.before, c.after
	for _, old := range slices.Backward(k.changes[:at]) {
		if old.Link == c.Link && old.endedSince(c.At) { // the link is not to be again what that made of it
			for way := range before {
				before[way], _ = before[way].Back(old.before[way], old.after[way])
				after[way], _ = after[way].Back(old.before[way], old.after[way])
			}
		}
	}
	now, same := was, true
	for i := range now {
		now[i], _ = was[i].Back(before[i], after[i])
		same = same && now[i].String() == was[i].String()
	}
	if same { // it ended by itself, or others changed what it did
		return nil
	}
	return l.Replace(lab.Replacement{Link: c.Link, Was: was, Now: now})
}

// endedSince says whether a change ended by itself between then and now.
func (c *Change) endedSince(then time.Time) bool {
	end := c.At.Add(time.Duration(c.Seconds * float64(time.Second)))
	return c.Seconds > 0 && end.After(then) && end.Before(time.Now())
}
