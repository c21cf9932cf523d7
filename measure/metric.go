package measure

import (
	"cmp"
	"strings"
	"sync"
)

// Metric is the name of one number that a Result may carry: lower-case words and digits joined by "_", of which the
// last are its unit.
type Metric string

// Units are what the name of a Metric may end in, with "_" before it.
var Units = []string{
	"bits_per_second", "bytes_per_second", "packets_per_second", "seconds", "bytes", "ratio", "packets", "score", "count",
}

// Unit returns which of Units the name ends in, or "" if the name is none that a Metric may have.
func (m Metric) Unit() string {
	if strings.Trim(string(m), "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return ""
	}
	for _, unit := range Units {
		if name, found := strings.CutSuffix(string(m), "_"+unit); found && name != "" && 'a' <= name[0] && name[0] <= 'z' {
			return unit
		}
	}
	return ""
}

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
	// it is judged by its past, or by the others of a matrix. Rates have none, since lines differ.
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
var lists = []func() []Definition{delayMetrics, oneWayMetrics, clockMetrics, variationMetrics, speechMetrics, lossMetrics, availabilityMetrics, groupMetrics, transferMetrics,
	tcpMetrics, loadMetrics, socketMetrics, transactionMetrics, connectionMetrics, pathMetrics, diagnosisMetrics, hostMetrics}

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

// places are where Definitions lists metrics.
var places = sync.OnceValue(func() map[Metric]int {
	all := map[Metric]int{}
	for i, d := range Definitions() {
		all[d.Metric] = i
	}
	return all
})

// Compare orders metrics as Definitions lists them, for people to read; those that only programs of others report come last, by name.
func (m Metric) Compare(o Metric) int {
	return cmp.Or(cmp.Compare(m.place(), o.place()), cmp.Compare(m, o))
}

func (m Metric) place() int {
	if i, known := places()[m]; known {
		return i
	}
	return len(places())
}

// Better says which way a metric is to be wished for.
type Better string

const (
	BetterLow  Better = "low"
	BetterHigh Better = "high"
	BetterNone Better = "" // it only describes: a count of packets that were sent, a buffer's size
)

// Better returns which way the metric is better. What only programs of others report is judged by the words in its name.
func (m Metric) Better() Better {
	if d, known := m.Definition(); known {
		return d.Better
	}
	name := string(m)
	for _, rule := range betterRules {
		if strings.Contains(name, rule.part) {
			return rule.way
		}
	}
	switch m.Unit() {
	case "seconds":
		return BetterLow
	case "bits_per_second", "bytes_per_second", "packets_per_second":
		return BetterHigh
	}
	return BetterNone
}

// betterRules are tried in order; what none of them has goes by its unit.
var betterRules = []struct {
	part string
	way  Better
}{
	{"lost", BetterLow}, {"loss", BetterLow}, {"duplicate", BetterLow}, {"reorder", BetterLow}, {"retransm", BetterLow},
	{"drops", BetterLow}, {"errors", BetterLow}, {"limited", BetterLow}, {"cpu", BetterLow}, {"load", BetterLow}, {"busy", BetterLow},
	{"swap", BetterLow}, {"free", BetterHigh}, {"available", BetterHigh},
}

// Merge says what one number stands for many values of a metric: those of a span of time, of several pairs or tools.
type Merge struct {
	How MergeHow

	// Of MergeShare: the ratio is the sum of Over by the sum of Under, of the same runs.
	Over, Under Metric

	// Of MergeQuantile and MergeSampleMean: the name of the distribution of the samples, as in Result.Distributions.
	Distribution Metric
	Quantile     float64 // of MergeQuantile, 0..1: which one of it the metric is
}

// MergeHow is a way to merge.
type MergeHow int

const (
	MergeMedian MergeHow = iota // of the values: what a run usually came to
	// MergeShare is of ratios that have counts behind them: so many of so many, over all runs. The median of ratios would say
	// 0 of a host that loses 2 packets in each hundred but sends ten at a time. A run without the counts weighs as much as the
	// others do on average.
	MergeShare
	// MergeMean is of ratios that are shares of time: the mean of the runs, each of which stands for the time until the next.
	MergeMean
	// MergeQuantile is of a quantile of the samples that a run took: over many runs it is the same quantile of all their samples
	// together, since a median of medians is no median of samples. Of runs without a distribution it is the median of their values.
	MergeQuantile
	// MergeSampleMean is of the mean of the samples that a run took: over many runs it is the mean of all their samples together. Of
	// runs without a distribution it is the median of their values.
	MergeSampleMean
	// MergeSum is of what happened so often in a run, such as outages: over many runs so often in all.
	MergeSum
	// MergeMax is of the longest or largest of a run, such as the longest outage: over many runs it is that of them all.
	MergeMax
)

// Grows tells whether a longer span has more of it by itself, so that it says nothing against a span of another length.
func (m Merge) Grows() bool { return m.How == MergeSum || m.How == MergeMax }

// Merge returns how values of the metric merge. Ratios of programs of others have no counts that are known of.
func (m Metric) Merge() Merge {
	if d, _ := m.Definition(); d.Merge != (Merge{}) {
		return d.Merge
	}
	if m.Unit() == "ratio" {
		return Merge{How: MergeMean}
	}
	return Merge{How: MergeMedian}
}
