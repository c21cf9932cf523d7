package probe

import (
	"fmt"
	"io"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

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
	if _, any := r.Get(measure.RTTMin); any {
		var names, values []string
		for _, q := range []measure.Metric{measure.RTTMin, measure.RTTMedian, measure.RTTP95, measure.RTTP99, measure.RTTMax} {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(string(q), "rtt_"), "_seconds"))
			values = append(values, quantity.FormatSeconds(m[q]))
		}
		fmt.Fprintf(w, "round trip %s = %s\n", strings.Join(names, "/"), strings.Join(values, " / "))
	}
}
