// Package lookup says what is known of addresses: names, the autonomous systems that announce them, who registered them, and where that is. It works offline:
//
//	prefixes to ASNs    a text file, as pyasn, RouteViews (pfx2as) and IPtoASN (TSV) have them; see ReadASNs
//	owners              a WHOIS dump of a registry, in RPSL (RFC 2622); see ReadOwners
//	ASNs by DNS         a service that answers as Team Cymru's does; asked only where a caller names its zone
//	names               reverse DNS, only where a caller says so
//
// Files are read once into a Table, which finds the longest prefix. What asks a server has a limit of time and of questions at once, and what it does not learn in time
// stays unknown: a lookup never fails, and never holds up what it is for. It does not watch files, and keeps no answers between calls.
package lookup

import (
	"cmp"
	"context"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Info is what is known of an address. Zero values: not known.
type Info struct {
	Name    string       `json:"name,omitempty"`    // by reverse DNS
	ASN     uint32       `json:"asn,omitempty"`     // that announces the prefix; of several the first
	ASName  string       `json:"as_name,omitempty"` // as the source writes it
	Prefix  netip.Prefix `json:"prefix,omitzero"`   // that the ASN announces
	Country string       `json:"country,omitempty"` // of the registration, two letters (ISO 3166); not where the router stands
	Owner   string       `json:"owner,omitempty"`   // as registered
}

// String is what there is in a few words, such as "AS2613 SWITCH, CH".
func (i Info) String() string {
	var words []string
	if i.ASN > 0 {
		words = append(words, "AS"+strconv.FormatUint(uint64(i.ASN), 10))
	}
	if who := cmp.Or(i.Owner, i.ASName); who != "" {
		words = append(words, who)
	}
	text := strings.Join(words, " ")
	if i.Country != "" && text != "" {
		return text + ", " + i.Country
	}
	return text + i.Country
}

// Sources are where to look. The zero value knows nothing.
type Sources struct {
	ASNs   *Table[ASN]   // nil: none
	Owners *Table[Owner] // nil: none
	DNS    *DNS          // nil: nobody is asked
	Names  bool          // ask DNS for names
	Zones  *Zones        // ask DNS for ASNs that no file has; nil: not
}

// Limits of questions to servers.
const (
	// atOnce is how many questions wait for their answers: as many as the hops of a route (traceroute goes to 30).
	atOnce = 32
	// mostTime is how long all of them together may take: people wait for the route, not for its names.
	mostTime = 2 * time.Second
)

// All says what is known of addresses, by address; those of which nothing is known are not there. It returns within the limit, or when ctx ends.
func (s Sources) All(ctx context.Context, addresses []netip.Addr) map[netip.Addr]Info {
	all := map[netip.Addr]Info{}
	for _, a := range addresses {
		a = a.Unmap().WithZone("")
		if info := s.local(a); info != (Info{}) {
			all[a] = info
		}
	}
	if s.DNS == nil {
		return all
	}
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	var (
		wait  sync.WaitGroup
		lock  sync.Mutex
		place = make(chan struct{}, atOnce)
		asked = map[netip.Addr]Info{} // with what is known before any answer
	)
	for _, a := range addresses {
		if a = a.Unmap().WithZone(""); a.IsValid() {
			asked[a] = all[a]
		}
	}
	for a, known := range asked {
		wait.Go(func() {
			select {
			case place <- struct{}{}:
				defer func() { <-place }()
			case <-ctx.Done():
				return
			}
			if info := s.ask(ctx, a, known); info != (Info{}) {
				lock.Lock()
				defer lock.Unlock()
				all[a] = info
			}
		})
	}
	wait.Wait()
	return all
}

// local is what the files say.
func (s Sources) local(a netip.Addr) (info Info) {
	if as, prefix, ok := s.ASNs.Find(a); ok {
		info.ASN, info.ASName, info.Country, info.Prefix = as.Number, as.Name, as.Country, prefix
	}
	if owner, _, ok := s.Owners.Find(a); ok {
		info.Owner, info.Country = owner.Name, cmp.Or(owner.Country, info.Country)
	}
	return info
}

// ask adds to what is known of an address what servers say.
func (s Sources) ask(ctx context.Context, a netip.Addr, info Info) Info {
	if s.Names {
		info.Name = s.DNS.name(ctx, a)
	}
	if s.Zones != nil && info.ASN == 0 && public(a) {
		origin := s.DNS.origin(ctx, *s.Zones, a)
		info.ASN, info.ASName, info.Prefix, info.Country = origin.ASN, origin.ASName, origin.Prefix, cmp.Or(info.Country, origin.Country)
	}
	return info
}

// public says that an address may be announced: a private one is nobody else's business.
func public(a netip.Addr) bool { return a.IsGlobalUnicast() && !a.IsPrivate() }
