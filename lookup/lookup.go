// Package lookup says what is known of addresses: names, the autonomous systems that announce them, who registered them, and where they are. It works offline:
//
//	names               a hosts file; see ReadHosts
//	prefixes to ASNs    a text file, as pyasn, RouteViews (pfx2as) and IPtoASN (TSV) have them, or a MaxMind DB; see OpenASNs
//	owners              a WHOIS dump of a registry, in RPSL (RFC 2622); see ReadOwners
//	places              a geofeed (RFC 8805), or a MaxMind DB; see OpenPlaces
//	ASNs by DNS         a service that answers as Team Cymru's does; asked only where a caller names its zone
//	names by DNS        reverse DNS, only where a caller says so
//
// Files are read once into a Table, which finds the longest prefix, or kept as they are where their form is made for that. What asks a server has a limit of time and of
// questions at once, and what it does not learn in time stays unknown: a lookup never fails, and never holds up what it is for. It does not watch files, and keeps no
// answers but in a Cache.
package lookup

import (
	"cmp"
	"context"
	"net/netip"
	"time"
)

// Info is what is known of an address. Zero values: not known.
type Info struct {
	Name    string       // of a hosts file, or by reverse DNS
	ASN     uint32       // that announces the prefix; of several the first
	ASName  string       // as the source writes it
	Prefix  netip.Prefix // that the ASN announces
	Country string       // of the registration, two letters (ISO 3166); not where the router stands
	Owner   string       // as registered
	Place   Place        // where its users are, or where it stands, as the source has it
}

// Finder knows something of the addresses of some prefixes.
type Finder[V any] interface {
	// Find returns what belongs to the longest prefix that holds an address.
	Find(netip.Addr) (value V, prefix netip.Prefix, ok bool)
}

// Sources are where to look. The zero value knows nothing.
type Sources struct {
	Hosts  map[netip.Addr]string // names that need no server
	ASNs   Finder[ASN]           // nil: none
	Owners Finder[Owner]         // nil: none
	Places Finder[Place]         // nil: none
	DNS    *DNS                  // nil: nobody is asked
	Names  bool                  // ask DNS for names that Hosts does not have
	Zones  *Zones                // ask DNS for ASNs that no file has; nil: not
}

// Limits of questions to servers.
const (
	// atOnce is how many questions wait for their answers: as many as the hops of a route (traceroute goes to 30).
	atOnce = 32
	// MostTime is how long all of them together may take: people wait for the route, not for its names.
	MostTime = 2 * time.Second
)

// All says what is known of addresses, by address; those of which nothing is known are not there. It returns within MostTime, or when ctx ends. unanswered is of how
// many addresses a server did not say whether it knows them: in time, or at all.
func (s Sources) All(ctx context.Context, addresses []netip.Addr) (all map[netip.Addr]Info, unanswered int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return NewCache(s).All(ctx, addresses)
}

// local is what the files say.
func (s Sources) local(a netip.Addr) (info Info) {
	info.Name = s.Hosts[a]
	if as, prefix, ok := find(s.ASNs, a); ok {
		info.ASN, info.ASName, info.Country, info.Prefix = as.Number, as.Name, as.Country, prefix
	}
	if owner, _, ok := find(s.Owners, a); ok {
		info.Owner, info.Country = owner.Name, cmp.Or(owner.Country, info.Country)
	}
	info.Place, _, _ = find(s.Places, a)
	return info
}

func find[V any](in Finder[V], a netip.Addr) (value V, prefix netip.Prefix, ok bool) {
	if in == nil {
		return value, prefix, false
	}
	return in.Find(a)
}

// ask adds to what is known of an address what servers say; answered is false where one did not say anything.
func (s Sources) ask(ctx context.Context, a netip.Addr, info Info) (_ Info, answered bool) {
	answered = true
	if s.Names && info.Name == "" {
		info.Name, answered = s.DNS.name(ctx, a)
	}
	if s.Zones == nil || info.ASN != 0 || !public(a) {
		return info, answered
	}
	origin, said := s.DNS.origin(ctx, *s.Zones, a)
	info.ASN, info.ASName, info.Prefix, info.Country = origin.ASN, origin.ASName, origin.Prefix, cmp.Or(info.Country, origin.Country)
	return info, answered && said
}

// public says that an address may be announced: a private one is nobody else's business.
func public(a netip.Addr) bool { return a.IsGlobalUnicast() && !a.IsPrivate() }

// plain is an address as sources have it: no IPv4 within IPv6, and no zone.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }
