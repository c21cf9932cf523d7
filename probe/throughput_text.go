package probe

import (
	"fmt"
	"io"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// IntervalLine is an interval as it is told on the way.
func IntervalLine(i measure.Interval) string {
	line := fmt.Sprintf("%3s  %6.2f - %6.2f s  %10s  %14s", streamName(i.Stream), i.StartSeconds, i.EndSeconds,
		quantity.FormatSize(i.Bytes), quantity.FormatRate(i.BitsPerSecond))
	if i.Retransmits != nil {
		line += fmt.Sprintf("  %5d resent", *i.Retransmits)
	}
	if i.Direction == measure.Reverse {
		line += "  (reverse)"
	}
	return line
}

func streamName(n int) string {
	if n == 0 {
		return "sum"
	}
	return fmt.Sprint(n)
}

// throughputText writes how fast data moved, and what held it back.
func throughputText(w io.Writer, r *measure.Result) {
	line := func(name string, m measure.Metric, format func(float64) string) {
		if v, ok := r.Get(m); ok {
			fmt.Fprintf(w, "%-22s %s\n", name, format(v))
		}
	}
	count := func(v float64) string { return fmt.Sprintf("%.0f packets", v) }
	size := func(v float64) string { return quantity.FormatSize(int64(v)) }
	line("throughput", measure.Throughput, quantity.FormatRate)
	line("reverse throughput", measure.ReverseThroughput, quantity.FormatRate)
	line("received", measure.ReceivedBytes, size)
	line("sent", measure.SentBytes, size)
	line("retransmitted", measure.Retransmits, count)
	line("lost", measure.LossRatio, quantity.FormatRatio)
	line("jitter", measure.Jitter, quantity.FormatSeconds)
	line("held by receive window", measure.RwndLimitedRatio, percent)
	line("held by send buffer", measure.SndbufLimitedRatio, percent)
	line("largest cwnd", measure.CwndMax, size)
	line("sender's CPU", measure.CPUSender, percent)
	line("receiver's CPU", measure.CPUReceiver, percent)
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }
