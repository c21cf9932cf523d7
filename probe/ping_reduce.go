package probe

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/stat"
)

// reduceEchoes turns echoes, in order of sending, and the sequence numbers of their replies, in order of arrival and
// without duplicates, into metrics. An echo without a round-trip time is lost, whatever ICMP error it met. Without echoes
// there are no metrics; without replies none of delay and reordering.
func reduceEchoes(echoes []measure.Echo, arrivals []uint64) map[measure.Metric]float64 {
	if len(echoes) == 0 {
		return map[measure.Metric]float64{}
	}
	var rtts []float64
	lost := make([]bool, len(echoes))
	duplicates := 0
	for i, e := range echoes {
		duplicates += e.Duplicates
		if lost[i] = e.RTTSeconds == nil; lost[i] {
			continue
		}
		rtts = append(rtts, *e.RTTSeconds)
	}
	metrics := fatesOf(lost).metrics()
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
		if n := hopsOf(e.TTL); n > 0 && e.RTTSeconds != nil {
			hops = append(hops, n)
		}
	}
	if len(hops) == 0 {
		return 0
	}
	slices.Sort(hops)
	return hops[len(hops)/2]
}

// hopsOf is over how many hops a packet came that arrived with a time to live; 0: it is none.
func hopsOf(ttl int) int {
	first, _ := slices.BinarySearch(initialTTLs, ttl)
	if ttl <= 0 || first == len(initialTTLs) {
		return 0
	}
	return initialTTLs[first] - ttl + 1
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

// EchoLine is an echo as it is told on the way.
func EchoLine(e measure.Echo) string {
	switch {
	case e.Error != "":
		return fmt.Sprintf("%5d  %s", e.Seq, refusalText(e))
	case e.RTTSeconds == nil:
		return fmt.Sprintf("%5d  lost", e.Seq)
	}
	return fmt.Sprintf("%5d  %s", e.Seq, quantity.FormatSeconds(*e.RTTSeconds))
}

// refusalText is the error that an echo met, and who said so where that is known.
func refusalText(e measure.Echo) string {
	if e.From == "" {
		return e.Error
	}
	return e.Error + ", said " + e.From
}

// leastOf is how many samples a quantile takes to be told to people: of fewer it is the largest of them.
var leastOf = map[measure.Metric]float64{measure.RTTP95: 20, measure.RTTP99: 100}

// pingText writes what people want to know of a ping.
func pingText(w io.Writer, r *measure.Result) {
	m := r.Metrics
	fmt.Fprintf(w, "%s (%s): %.0f sent, %.0f received, %.0f lost (%s)", r.Target.Name, r.Target.Address, m[measure.SentPackets],
		m[measure.ReceivedPackets], m[measure.LostPackets], quantity.FormatRatio(m[measure.LossRatio]))
	for _, extra := range []struct {
		metric measure.Metric
		name   string
	}{{measure.DuplicatePackets, "duplicates"}, {measure.ReorderedPackets, "reordered"}} {
		if n := m[extra.metric]; n > 0 {
			fmt.Fprintf(w, ", %.0f %s", n, extra.name)
		}
	}
	fmt.Fprintln(w)
	if len(r.Samples.Windows) > 0 {
		windowText(w, r.Samples.Windows)
		return
	}
	if len(r.Samples.Sizes) > 0 {
		defer sizesText(w, r)
	}
	if extent, burst := r.Get(measure.ReorderingExtent); burst {
		defer fmt.Fprintf(w, "reordering   %s of the answers, extent %.0f, up to %.0f-reordered\n", quantity.FormatRatio(m[measure.ReorderingRatio]), extent,
			m[measure.ReorderingN])
	}
	if _, any := r.Get(measure.RTTMin); any {
		var names, values []string
		for _, q := range []measure.Metric{measure.RTTMin, measure.RTTMedian, measure.RTTP95, measure.RTTP99, measure.RTTMax} {
			if m[measure.ReceivedPackets] < leastOf[q] {
				continue
			}
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(string(q), "rtt_"), "_seconds"))
			values = append(values, quantity.FormatSeconds(m[q]))
		}
		fmt.Fprintf(w, "round trip %s = %s\n", strings.Join(names, "/"), strings.Join(values, " / "))
	}
	outageText(w, r)
}
