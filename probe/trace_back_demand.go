package probe

import (
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/proto/retrace"
)

// TraceBackDemand is what this host sends at the most when it does TraceBack, and how fast: of a measure.Demand it has Bytes and BitsPerSecond.
func TraceBackDemand(to netip.Addr, ask retrace.Ask) measure.Demand {
	if ask.Size == 0 {
		t := traceBack(to, ask)
		d := t.demand()
		return measure.Demand{Bytes: d.Bytes / 2, BitsPerSecond: d.BitsPerSecond} // half of which are answers
	}
	const small = 46.0 // what follows the IP header in the least frame of Ethernet, above what the least packets have
	large := float64(ask.Size + 1 + model.EthernetFraming)
	return measure.Demand{Bytes: retrace.MostSized*large + mtuTries*mtuHops*wire(to.String(), "", small), BitsPerSecond: 8 * large / mtuGap.Seconds()}
}

// PaceTraceBack is an ask whose packets go slowly enough for a rate in bit/s; 0: any. They are never farther apart than retrace.MostInterval, and those of a search by
// large packets go as they do.
func PaceTraceBack(to netip.Addr, ask retrace.Ask, rate float64) retrace.Ask {
	if would := TraceBackDemand(to, ask).BitsPerSecond; ask.Size == 0 && rate > 0 && would > rate {
		ask.Interval = min(time.Duration(float64(ask.Interval)*would/rate)+1, retrace.MostInterval)
	}
	return ask
}
