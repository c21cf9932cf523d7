package probe

import (
	"math"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/analysis/passage"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// owdFigures is what packets add up to. Everything in it follows from them alone.
type owdFigures struct {
	metrics       map[measure.Metric]float64
	distributions map[measure.Metric]measure.Distribution
	ways          passage.Ways
	exchanges     []stat.Exchange // that clocks follow from
	clocks        stat.Clocks
	halfTrip      float64 // half of the shortest round trip, in seconds
	known         bool    // clocks is: something was answered
	contradicted  bool    // the packets allow no clocks as right as claimed
}

// reduceOWD turns packets, in the order of sending, and the answers, in the order of arrival, into figures. claim is the most in seconds that both
// clocks together are off by their kernels' word; NaN: they say nothing. Times are counted from began.
func reduceOWD(packets []owdPacket, arrivals []passage.Answer, began time.Time, claim float64) owdFigures {
	return reducePackets(packets, passage.Of(len(packets), arrivals), nil, began, claim)
}

// reducePackets is reduceOWD of packets of which it is known by which ways they were lost. before are exchanges of the same session just before, of
// what the clocks tell as well.
func reducePackets(packets []owdPacket, ways passage.Ways, before []stat.Exchange, began time.Time, claim float64) owdFigures {
	f := owdFigures{metrics: map[measure.Metric]float64{}, ways: ways}
	if len(packets) == 0 {
		return f
	}
	forward, reverse := make([]float64, len(packets)), make([]float64, len(packets))
	lost := make([]bool, len(packets))
	var trips []float64
	exchanges := slices.Clone(before)
	copies := 0
	for i := range packets {
		p := &packets[i]
		forward[i], reverse[i] = stat.Lost, stat.Lost
		if lost[i] = !p.answeredInTime(); lost[i] {
			continue
		}
		copies += p.copies
		var trip float64
		forward[i], reverse[i], trip = p.delays()
		trips = append(trips, trip)
		since := func(t time.Time) float64 { return t.Sub(began).Seconds() }
		exchanges = append(exchanges, stat.Exchange{Sent: since(wall(p.sent)), Arrived: since(p.arrived), Answered: since(p.answered),
			Received: since(wall(p.received))})
	}
	f.metrics = fatesOf(lost).metrics()
	f.metrics[measure.DuplicatePackets] = float64(copies)
	f.addWayLosses()
	if len(trips) == 0 {
		return f
	}
	f.metrics[measure.ReorderedPackets] = f.metrics[measure.ReorderedOn(measure.Forward)] + f.metrics[measure.ReorderedOn(measure.Reverse)]
	f.addTrips(trips)
	f.halfTrip = f.metrics[measure.RTTMin] / 2
	f.exchanges = exchanges
	f.addClocks(exchanges, claim)
	f.addWay(measure.Forward, forward, f.ways.Forward)
	f.addWay(measure.Reverse, reverse, f.ways.Reverse)
	return f
}

// addWayLosses adds what is known of each way's losses, copies and order.
func (f *owdFigures) addWayLosses() {
	for _, w := range []struct {
		way  string
		lost []bool
		seqs []uint64
	}{{measure.Forward, f.ways.Forward, f.ways.There}, {measure.Reverse, f.ways.Reverse, f.ways.Back}} {
		if len(w.seqs) == 0 {
			continue
		}
		order, copies := stat.Ordering(w.seqs), stat.Duplication(w.seqs)
		f.metrics[measure.ReorderedOn(w.way)] = float64(order.Reordered)
		f.metrics[measure.ExtentOn(w.way)] = float64(order.MaxExtent)
		f.metrics[measure.LargestNOn(w.way)] = float64(order.MaxN)
		f.metrics[measure.DuplicateOn(w.way)] = float64(copies.Extra)
		if !f.ways.Counted {
			continue
		}
		fates := fatesOf(w.lost)
		f.metrics[measure.SentOn(w.way)], f.metrics[measure.LostOn(w.way)] = float64(fates.sent), float64(fates.lost)
		f.metrics[measure.LossOn(w.way)] = float64(fates.lost) / float64(max(1, fates.sent))
		f.metrics[measure.LossBurstOn(w.way)] = float64(fates.longest)
		if fates.runs > 0 {
			f.metrics[measure.LossPeriodOn(w.way)] = float64(fates.lost) / float64(fates.runs)
		}
		if distances := stat.LossDistances(w.lost); len(distances) > 0 {
			all := make([]float64, len(distances))
			for i, d := range distances {
				all[i] = float64(d)
			}
			slices.Sort(all)
			f.metrics[measure.LossDistanceOn(w.way)] = stat.Median(all)
		}
	}
}

// addTrips adds the figures of round trips.
func (f *owdFigures) addTrips(trips []float64) {
	s := stat.Summarize(trips)
	for m, v := range map[measure.Metric]float64{measure.RTTMin: s.Min, measure.RTTMean: s.Mean, measure.RTTMedian: s.Median,
		measure.RTTP95: s.P95, measure.RTTP99: s.P99, measure.RTTMax: s.Max, measure.RTTStddev: s.Stddev} {
		f.metrics[m] = v
	}
	f.distribute(measure.RTTs, trips)
}

// distribute adds the distribution of values; lost ones are none.
func (f *owdFigures) distribute(name measure.Metric, values []float64) {
	var s stat.Sketch
	for _, v := range values {
		s.Add(v)
	}
	if f.distributions == nil {
		f.distributions = map[measure.Metric]measure.Distribution{}
	}
	f.distributions[name] = measure.NewDistribution(&s)
}

// addClocks adds what the packets tell of the clocks.
func (f *owdFigures) addClocks(exchanges []stat.Exchange, claim float64) {
	f.clocks, f.known = stat.CompareClocks(exchanges)
	var most float64
	most, f.contradicted = f.clocks.Error(claim)
	f.metrics[measure.OneWayError] = most
	if fit := f.clocks.Fit; fit != nil {
		f.metrics[measure.ClockOffset], f.metrics[measure.ClockSkew] = fit.Offset, fit.Skew
	}
}

// speechError, in seconds, is how wrong a one-way delay may be for the clocks that speech quality is reckoned from: 10 ms take 0.3 of the
// rating's 93.
const speechError = 0.01

// addWay adds the figures of a way's delays, in the order of sending, and of the speech that it could carry.
func (f *owdFigures) addWay(way string, delays []float64, lost []bool) {
	arrived := slices.DeleteFunc(slices.Clone(delays), math.IsNaN)
	s := stat.Summarize(arrived)
	for part, v := range map[string]float64{"min": s.Min, "median": s.Median, "p95": s.P95, "p99": s.P99, "max": s.Max} {
		f.metrics[measure.OneWay(way, part)] = v
	}
	f.distribute(measure.OneWayDelays(way), arrived)
	v, ok := stat.VariationOf(delays)
	if !ok {
		return
	}
	f.metrics[measure.IPDVP95(way)], f.metrics[measure.PDVP95(way)] = v.IPDVP95, v.PDVP95
	f.metrics[measure.OneWaySpread(way)], f.metrics[measure.Playout(way)] = v.Spread, v.Buffer
	if !f.ways.Counted {
		return
	}
	least := s.Min
	if f.metrics[measure.OneWayError] > speechError {
		least = f.halfTrip
	}
	speech := stat.SpeechOver(least, v, lost)
	f.metrics[measure.MOS(way)], f.metrics[measure.Rating(way)] = speech.MOS, speech.R
}
