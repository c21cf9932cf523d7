package measure

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
	// MergeQuantile is of a quantile of the samples that a run took: of many runs it is that quantile of all their samples, since
	// the median of medians is the median of nothing. Of runs that do not say their samples it is the median.
	MergeQuantile
	// MergeSampleMean is the like of the mean of samples.
	MergeSampleMean
)

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
