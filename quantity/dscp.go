package quantity

import (
	"fmt"
	"strconv"
	"strings"
)

// codepoints are the names of differentiated services code points: EF (RFC 3246), AF11 to AF43 (RFC 2597), CS0 to CS7 (RFC 2474), VA (RFC 5865),
// LE (RFC 8622), and default, also BE or DF, for 0. Of several names of a value the first is the one that is written.
var codepoints = []struct {
	name  string
	value int
}{
	{"default", 0}, {"BE", 0}, {"DF", 0}, {"LE", 1}, {"VA", 44}, {"EF", 46},
	{"CS0", 0}, {"CS1", 8}, {"CS2", 16}, {"CS3", 24}, {"CS4", 32}, {"CS5", 40}, {"CS6", 48}, {"CS7", 56},
	{"AF11", 10}, {"AF12", 12}, {"AF13", 14}, {"AF21", 18}, {"AF22", 20}, {"AF23", 22},
	{"AF31", 26}, {"AF32", 28}, {"AF33", 30}, {"AF41", 34}, {"AF42", 36}, {"AF43", 38},
}

// ParseDSCP reads a differentiated services code point: a name, in any case, or a number from 0 to 63.
func ParseDSCP(text string) (int, error) {
	for _, c := range codepoints {
		if strings.EqualFold(c.name, text) {
			return c.value, nil
		}
	}
	v, err := strconv.ParseUint(text, 10, 8)
	if err != nil || v > 63 {
		return 0, fmt.Errorf("%q: want a DSCP: 0 to 63, or a name like EF, AF11, CS1, LE or default", text)
	}
	return int(v), nil
}

// FormatDSCP is the name, or the number if there is none; ParseDSCP reads it back.
func FormatDSCP(dscp int) string {
	for _, known := range codepoints {
		if known.value == dscp {
			return known.name
		}
	}
	return strconv.Itoa(dscp)
}
