package quantity

import (
	"math"
	"strconv"
	"strings"
)

// metres says how long the units of distances are. A mile is the statute mile of 1959.
var metres = []struct {
	unit   string
	length float64
}{{"km", 1000}, {"mi", 1609.344}, {"m", 1}}

// ParseDistance reads a distance with its unit, such as "1200km", "3mi" or "2.4m", and returns metres.
func ParseDistance(s string) (float64, error) {
	number, unit := split(s)
	for _, u := range metres {
		if !strings.EqualFold(unit, u.unit) {
			continue
		}
		v, err := strconv.ParseFloat(number, 64)
		if err == nil && v > 0 && !math.IsInf(v*u.length, 0) {
			return v * u.length, nil
		}
	}
	return 0, &Error{Value: s, Want: "a distance above zero with its unit, such as 1200km, 750mi or 100m"}
}

// FormatDistance prints metres with three significant digits: "2.40 m", "965 m", "42,857 km".
func FormatDistance(m float64) string {
	switch {
	case m < 1000:
		return significant(m, 3) + " m"
	case m < 1e6:
		return significant(m/1000, 3) + " km"
	}
	return strconv.FormatFloat(m/1000, 'f', 0, 64) + " km"
}
