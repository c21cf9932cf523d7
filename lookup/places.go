package lookup

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"strconv"
	"strings"
)

// Place is where an address is, as a source has it. Databases of places are often wrong about routers: they mostly tell where a network's users are, or its office.
type Place struct {
	City                string
	Country             string  // two letters
	Latitude, Longitude float64 // degrees, north and east of zero
	Located             bool    // the two are known
}

// ReadPlaces reads a geofeed (RFC 8805, section 2.1): CSV with a prefix or an address, country, region, city and postal code, of which all but the prefix may be missing.
// Two fields more, which are not of the RFC, are latitude and longitude in degrees. A line that begins with # is a remark; a last field that is missing is not known.
//
//	192.0.2.0/24,CH,CH-GE,Geneva,,46.20,6.14
func ReadPlaces(r io.Reader) (*Table[Place], error) {
	in := csv.NewReader(r)
	in.Comment, in.FieldsPerRecord, in.ReuseRecord, in.LazyQuotes = '#', -1, true, true
	var all []span[Place]
	names := map[string]string{}
	for {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			return newTable(all), nil
		}
		if err != nil {
			return nil, fmt.Errorf("read places: %w", err)
		}
		n, _ := in.FieldPos(0)
		if len(all) == mostRanges {
			return nil, fmt.Errorf("line %d: more than %d prefixes", n, mostRanges)
		}
		s, err := placeOf(fields)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		s.value.City, s.value.Country = once(names, s.value.City), once(names, s.value.Country)
		if s.value != (Place{}) {
			all = append(all, s)
		}
	}
}

// placeOf reads the fields of a line.
func placeOf(fields []string) (s span[Place], err error) {
	field := func(i int) string {
		if i < len(fields) {
			return strings.TrimSpace(fields[i])
		}
		return ""
	}
	prefix, err := netip.ParsePrefix(field(0))
	if a, single := netip.ParseAddr(field(0)); single == nil && a.Zone() == "" {
		prefix, err = netip.PrefixFrom(a, a.BitLen()), nil
	}
	if err != nil {
		return s, fmt.Errorf("%q: want a prefix or an address", short(field(0)))
	}
	place := Place{City: printable(field(3)), Country: country(field(1))}
	if field(5) != "" || field(6) != "" {
		if place.Latitude, err = degrees(field(5), 90); err != nil {
			return s, err
		}
		if place.Longitude, err = degrees(field(6), 180); err != nil {
			return s, err
		}
		place.Located = true
	}
	return spanOf(prefix, place), nil
}

// degrees reads an angle of at most so many to either side of zero.
func degrees(text string, most float64) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.Abs(v) > most {
		return 0, fmt.Errorf("%q: want degrees from -%g to %g", short(text), most, most)
	}
	return v, nil
}
