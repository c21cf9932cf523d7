package probe

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/stat"
)

// reduceApp adds to a Result what answers tell beside their round trips.
func reduceApp(r *measure.Result, answers []appAnswer, now time.Time) {
	if len(answers) == 0 {
		return
	}
	r.Parameters["answers"] = saidText(answers)
	reducePhases(r, answers)
	if c := answers[len(answers)-1].certificate; c != nil {
		r.Metrics[measure.CertificateLeft] = math.Trunc(c.expires.Sub(now).Seconds())
		if c.fault != "" {
			r.Note("a client would not trust the certificate: " + c.fault)
		}
	}
	reduceClock(r, answers)
}

// saidText is what servers said, with how often where it was not the same each time: "200 OK", "200 OK (9), 404 Not Found (1)".
func saidText(answers []appAnswer) string {
	var said []string
	times := map[string]int{}
	for _, a := range answers {
		if times[a.said] == 0 {
			said = append(said, a.said)
		}
		times[a.said]++
	}
	if len(said) == 1 {
		return said[0]
	}
	for i, text := range said {
		said[i] = fmt.Sprintf("%s (%d)", text, times[text])
	}
	return strings.Join(said, ", ")
}

// reducePhases adds what the parts of an exchange took.
func reducePhases(r *measure.Result, answers []appAnswer) {
	phase := func(of func(appAnswer) time.Duration) (seconds []float64) {
		for _, a := range answers {
			if d := of(a); d > 0 {
				seconds = append(seconds, d.Seconds())
			}
		}
		slices.Sort(seconds)
		return seconds
	}
	if connect := phase(func(a appAnswer) time.Duration { return a.connect }); len(connect) > 0 {
		s := stat.Summarize(connect)
		r.Metrics[measure.ConnectMin], r.Metrics[measure.ConnectMedian], r.Metrics[measure.ConnectMax] = s.Min, s.Median, s.Max
		r.Distributions[measure.ConnectTimes] = distributionOf(connect)
	}
	if secure := phase(func(a appAnswer) time.Duration { return a.secure }); len(secure) > 0 {
		r.Metrics[measure.HandshakeTime] = stat.Median(secure)
	}
	if first := phase(func(a appAnswer) time.Duration { return a.first }); len(first) > 0 {
		r.Metrics[measure.FirstByte] = stat.Median(first)
	}
}

// reduceClock adds what the answers of a time server say of its clock: the offset by the answer that was on its way for the least time, since
// what both ways may differ by is bounded by that.
func reduceClock(r *measure.Result, answers []appAnswer) {
	var best *ntpReading
	for _, a := range answers {
		if a.clock != nil && (best == nil || a.clock.roundTrip < best.roundTrip) {
			best = a.clock
		}
	}
	if best == nil {
		return
	}
	r.Metrics[measure.ServerStratum] = float64(best.stratum)
	offset, within := best.offset()
	r.Metrics[measure.ClockOffset], r.Metrics[measure.ClockOffsetError] = offset.Seconds(), within.Seconds()
	clock := measure.NewClock(best.root, best.synchronised)
	clock.AheadSeconds = &[2]float64{(offset - within).Seconds(), (offset + within).Seconds()}
	r.TargetClock = &clock
	if !best.synchronised {
		r.Note("the server says that its clock is not synchronised: it is good for round trips, and not to set a clock by")
	}
}

// appText writes what people want to know of round trips with a service.
func appText(w io.Writer, r *measure.Result) {
	pingText(w, r)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-12s "+format+"\n", append([]any{name}, args...)...)
	}
	if said, is := r.Parameters["answers"].(string); is {
		line("answers", "%s", said)
	}
	var parts []string
	for _, p := range []struct {
		metric measure.Metric
		name   string
	}{{measure.ConnectMedian, "to connect"}, {measure.HandshakeTime, "for TLS"}, {measure.FirstByte, "until the answer begins"}} {
		if v, is := r.Get(p.metric); is {
			parts = append(parts, quantity.FormatSeconds(v)+" "+p.name)
		}
	}
	if len(parts) > 0 {
		line("of which", "%s", strings.Join(parts, ", "))
	}
	if left, is := r.Get(measure.CertificateLeft); is {
		line("certificate", "%s", leftText(left))
	}
	if far := r.TargetClock; far != nil && far.AheadSeconds != nil {
		line("its clock", "ahead by %s to %s, %s if the ways are alike", quantity.FormatSeconds(far.AheadSeconds[0]),
			quantity.FormatSeconds(far.AheadSeconds[1]), quantity.FormatSeconds(r.Metrics[measure.ClockOffset]))
	}
}

// leftText is how long a certificate is good for.
func leftText(seconds float64) string {
	const day = 24 * 60 * 60
	if seconds < 0 {
		return fmt.Sprintf("expired %.1f days ago", -seconds/day)
	}
	return fmt.Sprintf("good for %.1f days", seconds/day)
}
