package main

import (
	"fmt"
	"strings"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/lookup"
)

// knownSources say where to look up what is known of addresses. Flags of trace and the mesh file fill them.
type knownSources struct {
	hosts, asn, owners, places string // files; asn may also say whom to ask
	reverse                    bool   // names are asked of name servers
	server                     string // in place of the name servers of this machine
}

// open reads the files. field names which of the sources is wrong.
func (k knownSources) open() (s lookup.Sources, field string, err error) {
	zone := ""
	switch {
	case k.asn == config.AskCymru:
		zone = lookup.CymruZone
	case strings.HasPrefix(k.asn, config.AskZone):
		if zone = strings.TrimPrefix(k.asn, config.AskZone); strings.Trim(zone, ".") == "" {
			return s, "asn", fmt.Errorf("%q: want a zone, such as %s%s", k.asn, config.AskZone, lookup.CymruZone)
		}
	case k.asn != "":
		if s.ASNs, err = lookup.OpenASNs(k.asn); err != nil {
			return s, "asn", err
		}
	}
	if k.owners != "" {
		if s.Owners, err = lookup.OpenOwners(k.owners); err != nil {
			return s, "owners", err
		}
	}
	if k.places != "" {
		if s.Places, err = lookup.OpenPlaces(k.places); err != nil {
			return s, "places", err
		}
	}
	if k.hosts != "" {
		if s.Hosts, err = lookup.OpenNames(k.hosts); err != nil {
			return s, "names", err
		}
	}
	if zone != "" {
		zones := lookup.ZonesBelow(zone)
		s.Zones = &zones
	}
	s.Names = k.reverse
	switch asks := k.reverse || zone != ""; {
	case asks:
		s.DNS, err = lookup.NewDNS(k.server)
	case k.server != "":
		err = fmt.Errorf("%q: it is asked for --names, --asn %s and --asn %sZONE; give one of them", k.server, config.AskCymru, config.AskZone)
	}
	return s, "name-server", err
}
