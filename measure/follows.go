package measure

import "strings"

// Follows says what a metric is of, and so to which pair of hosts it belongs.
type Follows int

const (
	FollowsData Follows = iota // the way of the data: of a Result of the way Reverse, from target to source
	FollowsTrip                // a round trip, or a route, that begins at the source
	FollowsHost                // the source itself
)

// Follows returns what the metric is of. What only programs of others report follows the data, unless it begins as metrics of a
// host or of a round trip do.
func (m Metric) Follows() Follows {
	if d, known := m.Definition(); known {
		return d.Follows
	}
	switch name := string(m); {
	case strings.HasPrefix(name, "host_"):
		return FollowsHost
	case strings.HasPrefix(name, "rtt_"), strings.HasPrefix(name, "transaction_"):
		return FollowsTrip
	}
	return FollowsData
}

// reversePrefix begins the names of metrics of the other way of a Result of the way Both.
const reversePrefix = "reverse_"

// On returns as what a metric of a Result of that way is filed, and for which pair: back is from target to source. Of a Result
// of both ways reverse_throughput_bits_per_second is the throughput of the way back.
func (m Metric) On(way Way) (as Metric, back bool) {
	switch way {
	case Reverse:
		return m, m.Follows() == FollowsData
	case Both:
		if other, is := strings.CutPrefix(string(m), reversePrefix); is {
			return Metric(other), true
		}
	}
	return m, false
}

// Part is what a Result says of one way between its ends.
type Part struct {
	Source, Target Endpoint // of what it says; those of the Result or, of what went back, the other way round
	Metrics        map[Metric]float64
}

// Parts divides the metrics of a Result by the pair of hosts that they belong to. The first part, which is there even if
// nothing was measured, is that of the way of the data; of both ways there are always two.
func (r *Result) Parts() []Part {
	there := Part{Source: r.Source, Target: r.Target, Metrics: map[Metric]float64{}}
	back := Part{Source: r.Target, Target: r.Source, Metrics: map[Metric]float64{}}
	for m, v := range r.Metrics {
		if as, isBack := m.On(r.Way); isBack {
			back.Metrics[as] = v
		} else {
			there.Metrics[m] = v
		}
	}
	switch {
	case r.Way == Both:
		return []Part{there, back}
	case r.Way != Reverse:
		return []Part{there}
	case len(there.Metrics) == 0:
		return []Part{back}
	}
	return []Part{back, there}
}
