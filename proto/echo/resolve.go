package echo

import (
	"context"
	"fmt"
	"sync"

	"github.com/pathwise-net/pathwise/sock"
)

// lookups is how many names are looked up at once: a resolver of a site bears that.
const lookups = 32

// Unresolved is a target that has no address that can be asked.
type Unresolved struct {
	Target
	Err error
}

// Resolve gives each target its address, the first of the family in the order of sock.Addresses. Of names that have the same address the first
// stays; the others join Repeats. A target that has no such address leaves the list, and is among those returned, in the order of the list.
// find may be nil: the system's resolver.
func (t *Targets) Resolve(ctx context.Context, find sock.Lookup, family sock.Family) (unresolved []Unresolved) {
	errs := make([]error, len(t.All))
	slots := make(chan struct{}, lookups)
	var all sync.WaitGroup
	for i := range t.All {
		if t.All[i].Address.IsValid() && family.Has(t.All[i].Address) {
			continue
		}
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			errs[i] = t.All[i].resolve(ctx, find, family)
		})
	}
	all.Wait()
	found := t.All
	t.All, t.first = nil, nil
	for i, target := range found {
		if errs[i] == nil {
			errs[i] = t.add(target)
		}
		if errs[i] != nil {
			unresolved = append(unresolved, Unresolved{target, errs[i]})
		}
	}
	return unresolved
}

// resolve looks one target up.
func (t *Target) resolve(ctx context.Context, find sock.Lookup, family sock.Family) error {
	addresses, err := sock.Addresses(ctx, find, t.Name, family)
	switch {
	case err != nil && t.Where != "":
		return fmt.Errorf("%s: %w", t.Where, err)
	case err != nil:
		return err
	}
	t.Address = addresses[0]
	return nil
}
