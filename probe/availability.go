package probe

import (
	"fmt"
	"io"
	"time"

	"github.com/pathwise-net/pathwise/analysis/passage"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/stat"
)

// mostGaps is for how many intervals the fate of one packet stands: the longest of a million exponential intervals is 14 times their mean. What is
// beyond is a pause of the test, as of a machine that slept, in which nothing is known of the path.
const mostGaps = 20

// addAvailability adds connectivity (RFC 2678) and outages to metrics: of a way, or with "" of requests and their answers. The last packet stands for an
// interval, as the others do for about one.
func addAvailability(metrics map[measure.Metric]float64, way string, passages []stat.Passage, interval time.Duration) {
	if len(passages) == 0 {
		return
	}
	connectivity, availability, longest, outages := measure.Connectivity, measure.Availability, measure.OutageLongest, measure.Outages
	if way != "" {
		connectivity, availability = measure.ConnectivityOn(way), measure.AvailabilityOn(way)
		longest, outages = measure.OutageLongestOn(way), measure.OutagesOn(way)
	}
	last := passages[len(passages)-1].Sent
	connected, _ := stat.Connected(passages, passages[0].Sent, last)
	metrics[connectivity] = 0
	if connected {
		metrics[connectivity] = 1
	}
	if interval == 0 {
		return
	}
	step := interval.Seconds()
	a, _ := stat.AvailabilityOf(passages, last+step, stat.OutageRule{Stands: mostGaps * step})
	if !connected && len(a.Outages) == 0 { // too short a test to tell an outage from loss
		return
	}
	metrics[availability], metrics[longest], metrics[outages] = a.Ratio(), a.Longest(), float64(len(a.Outages))
}

// echoPassages are echoes as tries of connectivity both ways.
func echoPassages(echoes []measure.Echo) []stat.Passage {
	passages := make([]stat.Passage, len(echoes))
	for i, e := range echoes {
		passages[i] = stat.Passage{Sent: e.SentSeconds, Arrived: stat.Lost}
		if e.RTTSeconds != nil {
			passages[i].Arrived = e.SentSeconds + *e.RTTSeconds
		}
	}
	return passages
}

// owdPassages are packets as tries of connectivity: both ways, and of each way where it is known by which they were lost. Of the last packets, if nothing
// came back after them, it is not. All times are this host's, and an answer is taken to leave when the packet did that it answers.
func owdPassages(packets []owdPacket, began time.Time, ways passage.Ways) (both, forward, reverse []stat.Passage) {
	try := func(p *owdPacket, made bool) stat.Passage {
		sent := p.sent.User.Sub(began).Seconds()
		if !made {
			return stat.Passage{Sent: sent, Arrived: stat.Lost}
		}
		return stat.Passage{Sent: sent, Arrived: sent}
	}
	for i := range packets {
		p := &packets[i]
		both = append(both, try(p, p.answeredInTime()))
		if !ways.Counted || i >= len(ways.Forward) {
			continue
		}
		forward = append(forward, try(p, !ways.Forward[i]))
		if !ways.Forward[i] {
			reverse = append(reverse, try(p, p.answeredInTime()))
		}
	}
	return both, forward, reverse
}

// outageText says that there were outages, where there were, and for which share of the time there were none.
func outageText(w io.Writer, r *measure.Result) {
	say := func(where string, outages, longest, availability measure.Metric) {
		n := r.Metrics[outages]
		if n == 0 {
			return
		}
		text := fmt.Sprintf("one outage of %s", quantity.FormatSeconds(r.Metrics[longest]))
		if n > 1 {
			text = fmt.Sprintf("%.0f outages, the longest of %s", n, quantity.FormatSeconds(r.Metrics[longest]))
		}
		fmt.Fprintf(w, "%s%s: available for %s of the time\n", text, where, quantity.FormatRatio(r.Metrics[availability]))
	}
	say("", measure.Outages, measure.OutageLongest, measure.Availability)
	for _, way := range []string{measure.Forward, measure.Reverse} {
		say(" on the "+way+" way", measure.OutagesOn(way), measure.OutageLongestOn(way), measure.AvailabilityOn(way))
	}
}
