package archive

import (
	"context"
	"slices"
	"time"
)

// Pairs implements Archive.
func (k *keeper) Pairs(context.Context) ([]Pair, error) {
	if err := k.enter(); err != nil {
		return nil, err
	}
	defer k.leave()
	k.memory.RLock()
	defer k.memory.RUnlock()
	pairs := make([]Pair, 0, len(k.names.pairs))
	for _, i := range k.names.inOrder() {
		pairs = append(pairs, k.names.pairs[i])
	}
	return pairs, nil
}

// Keys implements Archive.
func (k *keeper) Keys(ctx context.Context, m Match) ([]Key, error) {
	latest, err := k.Latest(ctx, m)
	if err != nil {
		return nil, err
	}
	keys := make([]Key, len(latest))
	for i := range latest {
		keys[i] = latest[i].Key
	}
	return keys, nil
}

// Latest implements Archive.
func (k *keeper) Latest(_ context.Context, m Match) ([]Latest, error) {
	if err := k.enter(); err != nil {
		return nil, err
	}
	defer k.leave()
	s, err := m.selector()
	if err != nil {
		return nil, err
	}
	all := k.latest(s)
	slices.SortFunc(all, func(a, b Latest) int {
		if order := a.Key.compare(b.Key); order != 0 {
			return order
		}
		return b.Time.Compare(a.Time)
	})
	// Streams that differ in nothing but their kind are one series.
	return slices.CompactFunc(all, func(a, b Latest) bool { return a.Key == b.Key }), nil
}

func (k *keeper) latest(s selector) []Latest {
	k.memory.RLock()
	defer k.memory.RUnlock()
	wanted := k.names.findMetrics(s)
	all := []Latest{}
	for _, found := range k.names.find(s) {
		for _, l := range found.latest {
			if wanted[l.metric] {
				all = append(all, Latest{k.names.key(found, l.metric), Point{time.Unix(0, l.time).UTC(), l.value}})
			}
		}
	}
	return all
}
