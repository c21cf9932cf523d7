package twin

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// ReportSchema names the JSON layout of a Report.
const ReportSchema = "pathwise.twin/1"

// Report compares a twin with what it was made from.
type Report struct {
	Schema  string            `json:"schema"`
	OK      bool              `json:"ok"` // every row is
	Rows    []Row             `json:"rows"`
	Results []*measure.Result `json:"results"` // of the twin
	Notes   []string          `json:"notes"`   // what was not compared
}

// note adds a remark, once.
func (r *Report) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.Notes, text) {
		r.Notes = append(r.Notes, text)
	}
}

// Row is one metric of one Result. A metric that the twin's Result lacks is 0 there, and not OK. Difference is the
// twin's less the original's; Allowed is its largest size that is still OK, all three in the unit that the metric's
// name ends in.
type Row struct {
	Kind       string  `json:"kind"`
	ID         string  `json:"id"` // of the original Result
	Metric     string  `json:"metric"`
	Original   float64 `json:"original"`
	Twin       float64 `json:"twin"`
	Difference float64 `json:"difference"`
	Allowed    float64 `json:"allowed"`
	OK         bool    `json:"ok"`
}

// What may differ.
const (
	// sameDelay is the share by which delays may differ, and leastDelay the least such difference: what a busy machine
	// adds to an echo.
	sameDelay  = 0.05
	leastDelay = 0.0005
	// sameRate is for goodput.
	sameRate = 0.10
	// confidence is that of the intervals that samples of this size allow: one fair row in a hundred is outside.
	confidence = 0.99
)

// compare makes the rows of a Result and its repetition on the twin, where packets were handed over late by up to so
// many seconds in 99 of 100 cases: most of the time by far less, so only the upper quantile is allowed it.
func compare(original, twin *measure.Result, late float64) []Row {
	var rows []Row
	add := func(m measure.Metric, allowed float64) {
		a, have := original.Get(m)
		b, alsoHave := twin.Get(m)
		if !have {
			return
		}
		rows = append(rows, Row{Kind: original.Kind, ID: original.ID, Metric: string(m), Original: a, Twin: b,
			Difference: b - a, Allowed: allowed, OK: alsoHave && math.Abs(b-a) <= allowed})
	}
	switch original.Kind {
	case "ping":
		sorted := roundTrips(original)
		add(measure.RTTMin, delayAllowed(original.Metrics[measure.RTTMin], 0))
		add(measure.RTTMedian, delayAllowed(original.Metrics[measure.RTTMedian], samplingError(sorted, 0.5)))
		add(measure.RTTP95, delayAllowed(original.Metrics[measure.RTTP95], samplingError(sorted, 0.95))+late)
		c := echoLosses([]*measure.Result{original})
		add(measure.LossRatio, ratioAllowed(c.ratio(), len(twin.Samples.Echoes), c.burstFactor()))
		if came := int(twin.Metrics[measure.ReceivedPackets]); original.Metrics[measure.ReorderedPackets] > 0 {
			add(measure.ReorderingRatio, ratioAllowed(original.Metrics[measure.ReorderingRatio], came, 1))
		}
	case "trace":
		add(measure.HopCount, 0)
	case "throughput":
		add(measure.Throughput, max(sameRate, lossLuck(original))*original.Metrics[measure.Throughput])
		add(measure.ReverseThroughput, sameRate*original.Metrics[measure.ReverseThroughput])
		if sent, ok := twin.Get(measure.SentPackets); ok {
			add(measure.LossRatio, ratioAllowed(original.Metrics[measure.LossRatio], int(sent), 1))
		}
	}
	return rows
}

// lossLuck is the share by which the rates of two transfers may differ that losses held: a rate goes with 1/sqrt(losses),
// and n losses of one transfer may as well be n +- sqrt(n) of the next. One that filled a link was held by that.
func lossLuck(r *measure.Result) float64 {
	const deviations = 2.576 // of a normal law, either side of 99 %
	v := view(r)
	if _, filled := v.filled(0); filled || !v.lossLimited() {
		return 0
	}
	return deviations * math.Sqrt2 / (2 * math.Sqrt(v.repeated))
}

func delayAllowed(delay, sampling float64) float64 { return max(leastDelay, sameDelay*delay, sampling) }

func roundTrips(r *measure.Result) []float64 {
	var all []float64
	for _, s := range r.Samples.Echoes {
		if s.RTTSeconds != nil {
			all = append(all, *s.RTTSeconds)
		}
	}
	slices.Sort(all)
	return all
}

// samplingError is how far a sample's quantile may lie from that of another sample of the same distribution and size:
// the width from the quantile to the farther end of its confidence interval, which is made of the values whose rank a
// binomial allows, times the square root of 2, for both are samples.
func samplingError(sorted []float64, q float64) float64 {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	lo, hi := stat.BinomialInterval(n, q, confidence)
	at := stat.Quantile(sorted, q)
	return math.Sqrt2 * max(at-sorted[max(0, min(n-1, lo-1))], sorted[min(n-1, hi)]-at)
}

// ratioAllowed is how far the share of n packets may lie from a ratio. Where they come in bursts, n packets tell no
// more than n divided by the factor that their count's variance exceeds that of independent ones by.
//
// None of n is no proof of never: what would be missed by all of them once in a hundred samples is allowed.
func ratioAllowed(ratio float64, n int, factor float64) float64 {
	effective := int(float64(n) / factor)
	switch {
	case effective == 0:
		return 1
	case ratio == 0:
		return 1 - math.Pow(1-confidence, 1/float64(effective))
	}
	lo, hi := stat.BinomialInterval(effective, min(1, ratio), confidence)
	return max(ratio-float64(lo)/float64(effective), float64(hi)/float64(effective)-ratio)
}

// Print writes the rows as a table for people.
func (r *Report) Print(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "kind\tmetric\toriginal\ttwin\tdifference\tallowed\t\t")
	for _, row := range r.Rows {
		verdict := "ok"
		if !row.OK {
			verdict = "differs"
		}
		fmt.Fprintf(table, "%s\t%s\t%.6g\t%.6g\t%+.3g\t±%.3g\t%s\t\n", row.Kind, row.Metric, row.Original, row.Twin,
			row.Difference, row.Allowed, verdict)
	}
	err := table.Flush()
	for _, note := range r.Notes {
		_, noteErr := fmt.Fprintln(w, "note: "+note)
		err = errors.Join(err, noteErr)
	}
	if err != nil {
		return fmt.Errorf("print comparison: %w", err)
	}
	return nil
}
