package probe

import (
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// reduceEchoes turns echoes, in order of sending, and the sequence numbers of their replies, in order of arrival and
// without duplicates, into metrics. An echo without a round-trip time is lost, whatever ICMP error it met. Without echoes
// there are no metrics; without replies none of delay and reordering.
func reduceEchoes(echoes []measure.Echo, arrivals []uint64) map[measure.Metric]float64 {
	metrics := map[measure.Metric]float64{}
	if len(echoes) == 0 {
		return metrics
	}
	var rtts []float64
	lost := make([]bool, len(echoes))
	losses, duplicates := 0, 0
	for i, e := range echoes {
		duplicates += e.Duplicates
		if lost[i] = e.RTTSeconds == nil; lost[i] {
			losses++
			continue
		}
		rtts = append(rtts, *e.RTTSeconds)
	}
	burst := 0
	if runs := stat.LossRuns(lost); len(runs) > 0 {
		burst = slices.Max(runs)
	}
	metrics[measure.SentPackets] = float64(len(echoes))
	metrics[measure.ReceivedPackets] = float64(len(rtts))
	metrics[measure.LostPackets] = float64(losses)
	metrics[measure.LossRatio] = float64(losses) / float64(len(echoes))
	metrics[measure.LossBurstMax] = float64(burst)
	metrics[measure.DuplicatePackets] = float64(duplicates)
	if len(rtts) == 0 {
		return metrics
	}
	reordered := float64(stat.Reordered(arrivals))
	metrics[measure.ReorderedPackets] = reordered
	metrics[measure.ReorderingRatio] = reordered / float64(len(rtts))
	s := stat.Summarize(rtts)
	metrics[measure.RTTMin] = s.Min
	metrics[measure.RTTMean] = s.Mean
	metrics[measure.RTTMedian] = s.Median
	metrics[measure.RTTP95] = s.P95
	metrics[measure.RTTP99] = s.P99
	metrics[measure.RTTMax] = s.Max
	metrics[measure.RTTStddev] = s.Stddev
	if hops := hopsBack(echoes); hops > 0 {
		metrics[measure.ReverseHopCount] = float64(hops)
	}
	return metrics
}

// hopsBack is the median of the hops that answers came by; 0: no answer tells its time to live.
func hopsBack(echoes []measure.Echo) int {
	var hops []int
	for _, e := range echoes {
		if e.RTTSeconds != nil && 0 < e.TTL && e.TTL <= initialTTLs[len(initialTTLs)-1] {
			first, _ := slices.BinarySearch(initialTTLs, e.TTL)
			hops = append(hops, initialTTLs[first]-e.TTL+1)
		}
	}
	if len(hops) == 0 {
		return 0
	}
	slices.Sort(hops)
	return hops[len(hops)/2]
}

// initialTTLs are the times to live that hosts send with: Linux and its kin 64 (which RFC 1700 recommends), Windows 128, routers 255.
var initialTTLs = []int{64, 128, 255}

// echoDistributions is the distribution of the round-trip times of echoes; nil where none returned.
func echoDistributions(echoes []measure.Echo) map[measure.Metric]measure.Distribution {
	var rtts stat.Sketch
	for _, e := range echoes {
		if e.RTTSeconds != nil {
			rtts.Add(*e.RTTSeconds)
		}
	}
	if rtts.Count() == 0 {
		return nil
	}
	return map[measure.Metric]measure.Distribution{measure.RTTs: measure.NewDistribution(&rtts)}
}
