package measure

import "strings"

// Better says which way a metric is to be wished for.
type Better string

const (
	BetterLow  Better = "low"
	BetterHigh Better = "high"
	BetterNone Better = "" // it only describes: a count of packets that were sent, a buffer's size
)

// Better returns which way the metric is better. What only programs of others report is judged by the words in its name.
func (m Metric) Better() Better {
	if d, known := m.Definition(); known {
		return d.Better
	}
	name := string(m)
	for _, rule := range betterRules {
		if strings.Contains(name, rule.part) {
			return rule.way
		}
	}
	switch m.Unit() {
	case "seconds":
		return BetterLow
	case "bits_per_second", "bytes_per_second", "packets_per_second":
		return BetterHigh
	}
	return BetterNone
}

// betterRules are tried in order; what none of them has goes by its unit.
var betterRules = []struct {
	part string
	way  Better
}{
	{"lost", BetterLow}, {"loss", BetterLow}, {"duplicate", BetterLow}, {"reorder", BetterLow}, {"retransm", BetterLow},
	{"drops", BetterLow}, {"errors", BetterLow}, {"limited", BetterLow}, {"cpu", BetterLow}, {"load", BetterLow}, {"busy", BetterLow},
	{"swap", BetterLow}, {"free", BetterHigh}, {"available", BetterHigh},
}
