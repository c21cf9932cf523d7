package lookup

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// DNS asks a server of names.
type DNS struct{ resolver *net.Resolver }

// NewDNS asks a server at an address with a port; "": those that this host is set to.
func NewDNS(server string) (*DNS, error) {
	if server == "" {
		return &DNS{net.DefaultResolver}, nil
	}
	if at, err := netip.ParseAddrPort(server); err != nil || at.Port() == 0 {
		return nil, fmt.Errorf("name server %q: want an address with a port, such as 192.0.2.1:53", server)
	}
	return &DNS{&net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, server)
		if err == nil { // the resolver waits for an answer until its own limit, whatever becomes of ctx
			context.AfterFunc(ctx, func() { conn.Close() })
		}
		return conn, err
	}}}, nil
}

// Zones are where a service tells autonomous systems by TXT records, as Team Cymru's does: 1.2.0.192 below V4 is "64500 | 192.0.2.0/24 | CH | ripencc | 2001-01-01", the
// same with the nibbles of an address below V6, and AS64500 below AS is "64500 | CH | ripencc | 2001-01-01 | EXAMPLE, CH".
type Zones struct{ V4, V6, AS string }

// ZonesBelow are those of a service that lays them out as Team Cymru does: origin, origin6, and the zone itself for systems.
func ZonesBelow(zone string) Zones {
	zone = strings.Trim(zone, ".")
	return Zones{V4: "origin." + zone, V6: "origin6." + zone, AS: zone}
}

// CymruZone is that of Team Cymru, for ZonesBelow. Whoever asks it tells it which addresses are on a route.
const CymruZone = "asn.cymru.com"

// name asks for the name of an address; "": it has none, or its answer did not come, or not in time, and then answered is false.
func (d *DNS) name(ctx context.Context, a netip.Addr) (name string, answered bool) {
	names, err := d.resolver.LookupAddr(ctx, a.String())
	if err != nil || len(names) == 0 {
		return "", missing(err)
	}
	return printable(strings.TrimSuffix(names[0], ".")), true
}

// missing says of the error of a question that a server answered that there is no such name.
func missing(err error) bool {
	var said *net.DNSError
	return err == nil || errors.As(err, &said) && said.IsNotFound
}

// origin is who announces an address; answered is false where no answer came, or not in time.
func (d *DNS) origin(ctx context.Context, z Zones, a netip.Addr) (info Info, answered bool) {
	zone := z.V6
	if a.Is4() {
		zone = z.V4
	}
	if zone == "" {
		return Info{}, true
	}
	records, err := d.resolver.LookupTXT(ctx, reversed(a)+"."+strings.Trim(zone, ".")+".")
	if err != nil {
		return Info{}, missing(err)
	}
	for _, r := range records { // a prefix that is announced as part of a longer one, too, has several records: the longest counts
		if found, ok := parseOrigin(r); ok && (info.ASN == 0 || found.Prefix.Bits() > info.Prefix.Bits()) {
			info = found
		}
	}
	if info.ASN == 0 || z.AS == "" {
		return info, true
	}
	records, err = d.resolver.LookupTXT(ctx, "AS"+strconv.FormatUint(uint64(info.ASN), 10)+"."+strings.Trim(z.AS, ".")+".")
	for _, r := range records {
		if fields := strings.Split(r, "|"); len(fields) >= 5 {
			info.ASName = printable(strings.TrimSpace(strings.Join(fields[4:], "|")))
		}
	}
	return info, missing(err)
}

// parseOrigin reads a record.
func parseOrigin(record string) (info Info, ok bool) {
	fields := strings.Split(record, "|")
	if len(fields) < 3 {
		return Info{}, false
	}
	numbers := strings.Fields(fields[0])
	if len(numbers) == 0 {
		return Info{}, false
	}
	n, err := strconv.ParseUint(numbers[0], 10, 32)
	prefix, wrong := netip.ParsePrefix(strings.TrimSpace(fields[1]))
	if err != nil || wrong != nil || n == 0 {
		return Info{}, false
	}
	return Info{ASN: uint32(n), Prefix: prefix, Country: country(fields[2])}, true
}

// printable leaves out what a terminal would take for a command, and what is longer than a name is.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r > 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	const most = 100
	if r := []rune(text); len(r) > most {
		return string(r[:most])
	}
	return text
}

// reversed is an address as reverse zones write it: bytes or nibbles, the last first.
func reversed(a netip.Addr) string {
	var parts []string
	for _, b := range a.AsSlice() {
		if a.Is4() {
			parts = append(parts, strconv.Itoa(int(b)))
		} else {
			parts = append(parts, strconv.FormatUint(uint64(b>>4), 16), strconv.FormatUint(uint64(b&15), 16))
		}
	}
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return strings.Join(parts, ".")
}
