package config

import (
	"net/netip"
	"strings"
)

// Lookup is where the controller looks up what is known of the addresses on routes, beside the names that it asks its resolver for. The zero value: nowhere. Files are
// read when the controller starts, and may be packed by gzip.
type Lookup struct {
	Names      string // a hosts file
	ASN        string // prefixes and their autonomous systems, as text or a MaxMind DB; or who is asked for them: AskCymru, or AskZone and a zone
	Owners     string // a WHOIS dump in RPSL (RFC 2622)
	Places     string // a geofeed (RFC 8805) or a MaxMind DB
	NameServer string // address and port of who is asked; "": the servers that the controller's machine is set to
}

// What Lookup.ASN asks: Team Cymru, or a zone that is laid out like theirs. Who is asked then knows the addresses on routes.
const (
	AskCymru = "cymru"
	AskZone  = "dns:"
)

// Asks says that somebody is asked for autonomous systems.
func (l Lookup) Asks() bool { return l.ASN == AskCymru || strings.HasPrefix(l.ASN, AskZone) }

func readLookup(n node, l *Lookup) {
	given := n.fields("{asn: GeoLite2-ASN.mmdb}", fields{
		"names":       into(&l.Names, parseText),
		"asn":         into(&l.ASN, parseASN),
		"owners":      into(&l.Owners, parseText),
		"places":      into(&l.Places, parseText),
		"name_server": into(&l.NameServer, parseNameServer),
	})
	if at, has := given["name_server"]; has && !l.Asks() {
		at.fail("", "asn: %s or %sZONE as well: it is asked for that", AskCymru, AskZone)
	}
}

// parseASN reads the name of a file, or who is asked.
func parseASN(s string) (string, error) {
	if zone, asks := strings.CutPrefix(s, AskZone); asks && strings.Trim(zone, ".") == "" {
		return "", bad(s, "a file, "+AskCymru+", or "+AskZone+" with a zone behind it, such as "+AskZone+"asn.cymru.com")
	}
	return parseText(s)
}

func parseNameServer(s string) (string, error) {
	if at, err := netip.ParseAddrPort(s); err != nil || at.Port() == 0 {
		return "", bad(s, "an address with a port, such as 192.0.2.53:53")
	}
	return s, nil
}
