package config

import "github.com/pathwise-net/pathwise/measure"

// What one Result adds to an archive, in bytes: line, samples, points, rollups and indices, as measured with SQLite, a few
// Results at a time and nothing deleted, of Results that hosts of a mesh brought. The estimate is to be right within a factor
// of two, which is about what lies between a path that changes little and one that does, and what PostgreSQL takes more.
const (
	pingBytes       = 880  // with 15 metrics
	echoBytes       = 14   // each echo of a ping
	defaultEchoes   = 10   // of a ping that does not say how many
	traceBytes      = 550  // with three metrics and 15 hops, most of which the one before had, too
	capacityBytes   = 580  // with five trains
	hostBytes       = 2600 // with 28 metrics
	throughputBytes = 1150 // with 11 metrics, and no samples
	// streamSecondBytes is what TCP_INFO of both ends takes, twenty times a second, of one stream.
	streamSecondBytes = 3300
	// commandBytes and valueBytes are inferred from the others. Output, which is kept with the samples, is not known before.
	commandBytes, valueBytes = 300, 70
)

// growth is by how much a Result of a tool makes an archive grow.
func (t *Tool) growth(need *measure.Demand) float64 {
	switch t.Kind {
	case KindCommand:
		return commandBytes + valueBytes*float64(len(t.Command.Parse))
	case KindHost:
		return hostBytes
	case "ping":
		return pingBytes + echoBytes*t.number("count", defaultEchoes)
	case "throughput":
		if t.Parameters["proto"] == "udp" {
			return throughputBytes
		}
		return throughputBytes + streamSecondBytes*t.number("parallel", 1)*need.DurationSeconds
	case "capacity":
		return capacityBytes
	}
	return traceBytes
}

// number is a parameter of a probe.
func (t *Tool) number(name string, otherwise float64) float64 {
	if v, ok := t.Parameters[name].(float64); ok {
		return v
	}
	return otherwise
}
