package main

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/lookup"
	"github.com/pathwise-net/pathwise/measure"
)

const (
	// knownHolds is how long what servers said of addresses is taken for true: prefixes change hands in days.
	knownHolds = 6 * time.Hour
	// mostKnown bounds how many addresses servers are asked of meanwhile, as far ends may tell any: as many as the controller remembers names of.
	mostKnown = 20_000
)

// routerLookup is what a controller knows of the addresses on routes. Any goroutine may ask it.
type routerLookup struct {
	sources lookup.Sources

	mu    sync.Mutex
	cache *lookup.Cache
	until time.Time // when the cache is forgotten
}

// openLookup reads what a mesh file names; it returns nil where that is nothing.
func openLookup(l config.Lookup) (*routerLookup, error) {
	if l == (config.Lookup{}) {
		return nil, nil
	}
	sources, field, err := knownSources{hosts: l.Names, asn: l.ASN, owners: l.Owners, places: l.Places, server: l.NameServer}.open()
	if err != nil {
		return nil, input.Errorf("controller.lookup.%s: %w", strings.ReplaceAll(field, "-", "_"), err)
	}
	return &routerLookup{sources: sources}, nil
}

// find says what is known of addresses, of those alone of which something is, within lookup.MostTime: of none where l is nil.
func (l *routerLookup) find(ctx context.Context, addresses []netip.Addr) (known []measure.AddressInfo) {
	if l == nil {
		return nil
	}
	cache := l.remembered(time.Now())
	cache.Begin(context.WithoutCancel(ctx), addresses) // a page that is left takes no answer from the next; each question ends within lookup.MostTime of its turn
	found, _ := cache.All(ctx, addresses)              // what is not answered is asked again: see lookup.AskAgain
	for _, a := range addresses {
		if info := addressInfo(a, found[a.Unmap().WithZone("")], measure.AddressInfo{}); info != (measure.AddressInfo{Address: info.Address}) {
			known = append(known, info)
		}
	}
	return known
}

// listed is the name of an address in the hosts file, if it has one there; where l is nil, it has none.
func (l *routerLookup) listed(a netip.Addr) string {
	if l == nil {
		return ""
	}
	return l.sources.Hosts[a.Unmap().WithZone("")]
}

// remembered is the cache, a new one where the last is too old.
func (l *routerLookup) remembered(now time.Time) *lookup.Cache {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cache == nil || now.After(l.until) {
		l.cache, l.until = lookup.NewCache(l.sources), now.Add(knownHolds)
		l.cache.Most = mostKnown
	}
	return l.cache
}
