package lookup

import (
	"fmt"
	"math"
	"net/netip"

	"github.com/oschwald/maxminddb-golang/v2"
)

// asnRecord is what a MaxMind DB of autonomous systems has of a prefix: GeoLite2 ASN, GeoIP2 ISP, and those that others make in their form.
type asnRecord struct {
	Number uint32 `maxminddb:"autonomous_system_number"`
	Name   string `maxminddb:"autonomous_system_organization"`
}

func (r asnRecord) value() (ASN, bool) {
	return ASN{Number: r.Number, Name: printable(r.Name)}, r.Number != 0
}

// placeRecord is what a MaxMind DB of places has of a prefix: GeoLite2 and GeoIP2 City and Country, and those that others make in their form.
type placeRecord struct {
	City    placeNames `maxminddb:"city"`
	Country struct {
		Code string `maxminddb:"iso_code"`
	} `maxminddb:"country"`
	Location struct {
		Latitude  *float64 `maxminddb:"latitude"`
		Longitude *float64 `maxminddb:"longitude"`
	} `maxminddb:"location"`
}

// placeNames are those of a place; of the languages only that of this program.
type placeNames struct {
	Names struct {
		English string `maxminddb:"en"`
	} `maxminddb:"names"`
}

func (r placeRecord) value() (Place, bool) {
	p := Place{City: printable(r.City.Names.English), Country: country(r.Country.Code)}
	if at := r.Location; at.Latitude != nil && at.Longitude != nil && math.Abs(*at.Latitude) <= 90 && math.Abs(*at.Longitude) <= 180 {
		p.Latitude, p.Longitude, p.Located = *at.Latitude, *at.Longitude, true
	}
	return p, p != Place{}
}

// record is what a MaxMind DB has of a prefix; ok is false where that is nothing of what is asked for.
type record[V any] interface{ value() (v V, ok bool) }

// mmdb finds in a MaxMind DB, whose records are R.
type mmdb[R record[V], V any] struct{ reader *maxminddb.Reader }

// Limits of the search for a record of what is asked for.
const (
	// mostTried is how many records are looked at: none of a file without what is asked for says anything.
	mostTried = 1000
	// mostWays is how many ways may lead to each leaf of the tree of prefixes. A tree has one leaf more than nodes, and that of IPv4 hangs in that of IPv6 at a few
	// places more. In a file that was made to be searched without end, any number of ways leads from node to node.
	mostWays = 8
)

// newMMDB reads a file that is whole in memory, and refuses one whose records have nothing of what is asked for, such as one of places for systems.
func newMMDB[R record[V], V any](db []byte, what string) (Finder[V], error) {
	reader, err := maxminddb.OpenBytes(db)
	if err != nil {
		return nil, fmt.Errorf("read MaxMind DB: %w", err)
	}
	m, seen, leaves := &mmdb[R, V]{reader}, 0, uint64(0)
	for result := range reader.Networks(maxminddb.IncludeNetworksWithoutData(), maxminddb.IncludeAliasedNetworks()) {
		if _, ok, err := m.decode(result); ok {
			return m, nil
		} else if err != nil {
			return nil, err
		}
		if result.Found() {
			seen++
		}
		if leaves++; seen == mostTried || leaves > mostWays*(uint64(reader.Metadata.NodeCount)+1) {
			break
		}
	}
	return nil, fmt.Errorf("a MaxMind DB of type %q, which has no %s", printable(reader.Metadata.DatabaseType), what)
}

func (m *mmdb[R, V]) decode(result maxminddb.Result) (value V, ok bool, err error) {
	var r R
	if err := result.Decode(&r); err != nil {
		return value, false, fmt.Errorf("read MaxMind DB: %w", err)
	}
	value, ok = r.value()
	return value, ok, nil
}

// Find returns what the file has of an address. A record that cannot be read is none.
func (m *mmdb[R, V]) Find(a netip.Addr) (value V, prefix netip.Prefix, ok bool) {
	result := m.reader.Lookup(plain(a))
	if result.Err() != nil || !result.Found() {
		return value, prefix, false
	}
	value, ok, _ = m.decode(result)
	return value, result.Prefix(), ok
}
