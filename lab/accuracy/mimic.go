package accuracy

import "slices"

// mimics are pairs of causes that show alike.
var mimics = [][2]string{
	{"random-loss", "shallow-buffer"}, {"random-loss", "policer"}, {"random-loss", "cross-traffic"},
	{"shallow-buffer", "policer"}, {"shallow-buffer", "cross-traffic"}, {"policer", "cross-traffic"},
	{"send-buffer-limited", "application-limited"}, {"receive-window-limited", "application-limited"},
	{"duplex-mismatch", "random-loss"}, {"wan-bit-errors", "random-loss"},
	{"chatty-application", "nagle-delayed-ack"}, {"chatty-application", "proxy-holds-answer"}, {"nagle-delayed-ack", "proxy-holds-answer"},
	{"reordering-harmful", "random-loss"}, {"outage", pathChange}, {"pmtu-blackhole", "random-loss"},
}

// mimicRows counts how well each pair is told apart.
func mimicRows(single []*Outcome) (all []MimicRow) {
	for _, pair := range mimics {
		var of []*Outcome
		for _, o := range single {
			if slices.Contains(pair[:], o.Sample.Cause) {
				of = append(of, o)
			}
		}
		all = append(all, MimicRow{Pair: pair, Right: shareIn(of, (*Outcome).Right), Apart: shareIn(of, func(o *Outcome) bool {
			other := pair[0]
			if o.Sample.Cause == other {
				other = pair[1]
			}
			return o.Verdict != other
		})})
	}
	return all
}
