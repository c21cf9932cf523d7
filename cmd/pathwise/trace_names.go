package main

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/lookup"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/quantity"
)

// knownFlags are the flags of trace that name where to look up what is known of the addresses on a route. They are of the command alone, not parameters of the probe: a
// caller of an agent shall neither name files of its host nor servers that it asks.
type knownFlags struct {
	names string // a hosts file, byDNS, or "" for no names
	knownSources

	sources lookup.Sources
	cache   *lookup.Cache // of sources; open makes it
}

// knownNames are the names of these flags.
var knownNames = []string{"names", "asn", "owners", "places", "name-server"}

// byDNS is what --names takes in place of a file, and what it is without a value.
const byDNS = "dns"

func (f *knownFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.names, "names", "", "names of hops: by reverse DNS of this host, or with =FILE from a hosts file")
	flags.Lookup("names").NoOptDefVal = byDNS
	flags.StringVar(&f.asn, "asn", "", "autonomous systems of hops, from FILE (text or MaxMind DB), or asked of Team Cymru (cymru) or a zone like theirs (dns:ZONE), which then knows the hops")
	flags.StringVar(&f.owners, "owners", "", "registered owners of hops, from this WHOIS dump (RPSL)")
	flags.StringVar(&f.places, "places", "", "where hops are, from this geofeed or MaxMind DB")
	flags.StringVar(&f.server, "name-server", "", "ADDRESS:PORT: of --names and --asn, ask this name server in place of those of this host")
}

// given says that there is somewhere to look.
func (f *knownFlags) given() bool { return cmp.Or(f.names, f.asn, f.owners, f.places) != "" }

// open reads the files, so that what is wrong with them is said before anything is sent.
func (f *knownFlags) open() error {
	from := f.knownSources
	if from.reverse = f.names == byDNS; !from.reverse {
		from.hosts = f.names
	}
	sources, flag, err := from.open()
	if err != nil {
		return badFlag(flag, err)
	}
	f.sources, f.cache = sources, lookup.NewCache(sources)
	return nil
}

// tell adds to a Result what is known of the addresses on its route, beside what it has of them already. It takes as long as lookup.MostTime at most, and says in a note
// where that was not enough.
func (f *knownFlags) tell(ctx context.Context, r *measure.Result) {
	addresses := probe.RouteAddresses(r)
	found, unanswered := f.cache.All(ctx, addresses)
	f.put(r, addresses, found)
	switch {
	case unanswered == 0:
	case ctx.Err() != nil: // it was left before the time was over
		r.Note(fmt.Sprintf("name servers said nothing so far of %d of %d addresses", unanswered, len(addresses)))
	default:
		r.Note(fmt.Sprintf("name servers said nothing of %d of %d addresses within %s", unanswered, len(addresses), quantity.FormatSeconds(lookup.MostTime.Seconds())))
	}
}

// tellNow is tell without waiting: it adds what is known by now, and has the rest looked up for the next time.
func (f *knownFlags) tellNow(ctx context.Context, r *measure.Result) {
	addresses := probe.RouteAddresses(r)
	f.cache.Begin(ctx, addresses)
	found := map[netip.Addr]lookup.Info{}
	for _, a := range addresses {
		found[a.Unmap().WithZone("")] = f.cache.Now(a)
	}
	f.put(r, addresses, found)
}

// now is what is known by now of an address, which is looked up if it was not yet.
func (f *knownFlags) now(ctx context.Context, address string) measure.AddressInfo {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return measure.AddressInfo{}
	}
	f.cache.Begin(ctx, []netip.Addr{a})
	return addressInfo(a, f.cache.Now(a), measure.AddressInfo{})
}

// name is the name of an address, once it was looked up: see nameFinder.
func (f *knownFlags) name(ctx context.Context, address string) (name string, answered bool) {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return "", true
	}
	_, unanswered := f.cache.All(ctx, []netip.Addr{a})
	name = f.cache.Now(a).Name
	return name, name != "" || unanswered == 0
}

// put adds what was found of addresses to a Result.
func (f *knownFlags) put(r *measure.Result, addresses []netip.Addr, found map[netip.Addr]lookup.Info) {
	had := map[string]measure.AddressInfo{}
	for _, info := range r.Samples.Addresses {
		had[info.Address] = info
	}
	r.Samples.Addresses = nil
	for _, a := range addresses {
		if info := addressInfo(a, found[a.Unmap().WithZone("")], had[a.String()]); info != (measure.AddressInfo{Address: info.Address}) {
			r.Samples.Addresses = append(r.Samples.Addresses, info)
		}
	}
}

// addressInfo is what was found of an address as a Result has it; what was not found stays as it was.
func addressInfo(a netip.Addr, found lookup.Info, was measure.AddressInfo) measure.AddressInfo {
	info := measure.AddressInfo{Address: a.String(), Name: cmp.Or(found.Name, was.Name), ASN: was.ASN, ASName: was.ASName, Prefix: was.Prefix,
		Owner: cmp.Or(found.Owner, was.Owner), Country: cmp.Or(found.Country, was.Country), Place: was.Place}
	if found.ASN != 0 {
		info.ASN, info.ASName, info.Prefix = found.ASN, found.ASName, found.Prefix.String()
	}
	if p := found.Place; p != (lookup.Place{}) {
		info.Place = &measure.Place{City: p.City, Country: p.Country}
		if p.Located {
			info.Place.Position = &measure.Position{Latitude: p.Latitude, Longitude: p.Longitude}
		}
	}
	return info
}
