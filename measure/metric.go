package measure

import "strings"

// Metric is the name of one number that a Result may carry: lower-case words and digits joined by "_", of which the
// last are its unit.
type Metric string

// Units are what the name of a Metric may end in, with "_" before it.
var Units = []string{
	"bits_per_second", "bytes_per_second", "packets_per_second", "seconds", "bytes", "ratio", "packets", "count",
}

// Unit returns which of Units the name ends in, or "" if the name is none that a Metric may have.
func (m Metric) Unit() string {
	if strings.Trim(string(m), "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return ""
	}
	for _, unit := range Units {
		if name, found := strings.CutSuffix(string(m), "_"+unit); found && name != "" && 'a' <= name[0] && name[0] <= 'z' {
			return unit
		}
	}
	return ""
}
