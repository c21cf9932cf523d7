package measure

import "sync"

// Definition is all that is known of one metric. What shows, exports, merges, judges or explains metrics reads it here, so that
// a new metric is one entry of one of the lists in this package.
type Definition struct {
	Metric Metric
	Label  string // in lists, tables and legends; what a graph of several quantiles is called ends at its first comma
	Group  string // the heading that it is listed under

	// What it means. Help is one sentence for exports; receivers take another sentence for another metric, so it stays as it is.
	Help   string
	Text   string   // for people, at more length
	Shows  string   // what to read from it; "": nothing beyond Text
	See    []string // IDs of entries of the knowledge base that help to understand it
	Source string   // RFC and section, or paper; "": none

	Better  Better
	Follows Follows
	Merge   Merge // zero: of ratios the mean, of all else the median

	// Warn and Bad are where an engineer on duty wants to be told of it, wherever the path leads, in the metric's unit; both 0:
	// it is judged by its past alone.
	Warn, Bad float64

	Draw Draw
	Loss Metric // of DrawSmoke: what is drawn below it
}

// Draw is how a graph of one pair or host draws a metric.
type Draw string

const (
	DrawNone  Draw = "" // only where somebody asks for it, as a line
	DrawLine  Draw = "line"
	DrawBars  Draw = "bars"  // of what is 0 as a rule
	DrawSteps Draw = "steps" // of what stays the same for long
	// DrawSmoke is of a median whose least, 95th percentile and largest value are metrics, too, as shades around it.
	DrawSmoke Draw = "smoke"
)

// lists are the metrics in the order in which they are listed.
var lists = []func() []Definition{delayMetrics, oneWayMetrics, variationMetrics, lossMetrics, transferMetrics, tcpMetrics,
	pathMetrics, diagnosisMetrics, hostMetrics}

var table = sync.OnceValue(func() map[Metric]Definition {
	all := map[Metric]Definition{}
	for _, d := range Definitions() {
		all[d.Metric] = d
	}
	return all
})

// Definitions returns all metrics that Pathwise knows, in the order in which they are listed.
func Definitions() (all []Definition) {
	for _, list := range lists {
		all = append(all, list()...)
	}
	return all
}

// Definition returns what is known of a metric; false of one that only a program of others reports.
func (m Metric) Definition() (Definition, bool) {
	d, known := table()[m]
	return d, known
}
