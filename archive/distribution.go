package archive

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// The distribution of the samples behind some metrics is kept like one more metric, whose values are sketches. It has a name that no
// metric may have, since a program's metric could have the distribution's own.
//
//	a run       its metrics, and its distributions
//	a bucket    of a distribution: all samples, once for all metrics that are of it
//	            of a metric: its values, those of runs that say their samples apart from those of the others
//
// Runs of before, and of programs, do not say them. What a metric was over a span is read of the samples of the one and the values of
// the others: see sum.
const distributionPrefix = "distribution/"

// distributionName is the name under which a distribution is kept.
func distributionName(m measure.Metric) measure.Metric { return distributionPrefix + m }

// samplesOf returns the name that a distribution has in a Result, from that under which it is kept; false of a metric.
func samplesOf(name measure.Metric) (measure.Metric, bool) {
	m, is := strings.CutPrefix(string(name), distributionPrefix)
	return measure.Metric(m), is
}

// on is measure.Metric.On of metrics and of distributions.
func on(name measure.Metric, way measure.Way) (as measure.Metric, back bool) {
	m, is := samplesOf(name)
	if !is {
		return name.On(way)
	}
	as, back = m.On(way)
	return distributionName(as), back
}

// distributionsIn returns those distributions of a Result that metrics are of, by name. Others stay in the Result alone.
func distributionsIn(r *measure.Result) ([]namedValue, error) {
	if len(r.Distributions) > measure.MostDistributions {
		return nil, &Invalid{r.ID, "distributions", "more", "fewer"}
	}
	var all []namedValue
	for _, name := range slices.Sorted(maps.Keys(r.Distributions)) {
		checked, err := measure.CheckDistribution(r.Distributions[name])
		if err != nil {
			return nil, &Invalid{r.ID, "distributions " + string(name), err.Error(), "a sketch of samples"}
		}
		if len(name.Sampled()) > 0 {
			all = append(all, namedValue{name: distributionName(name), sketch: checked})
		}
	}
	return all, nil
}

// sampledBy tells of metrics, by their numbers, which distribution they are of, where that has a number.
func sampledBy(names []measure.Metric) map[metricID]metricID {
	of := map[metricID]metricID{}
	numbers := map[measure.Metric]metricID{}
	for m, name := range names {
		numbers[name] = metricID(m)
	}
	for m, name := range names {
		if samples := name.Merge().Distribution; samples != "" {
			if d, known := numbers[distributionName(samples)]; known {
				of[metricID(m)] = d
			}
		}
	}
	return of
}

// withDistributions adds the distributions that wanted metrics are of, and tells which is whose.
func (g *registry) withDistributions(wanted map[metricID]bool) (all map[metricID]bool, of map[metricID]metricID) {
	all, of = maps.Clone(wanted), map[metricID]metricID{}
	for m := range wanted {
		if samples := g.metrics[m].Merge().Distribution; samples != "" {
			if d, known := g.byName[distributionName(samples)]; known {
				all[d], of[m] = true, d
			}
		}
	}
	return all, of
}

// says tells whether a run with these values, which are what the view asks for, says the samples that a metric is of.
func (v *view) says(values []value, m metricID) bool {
	d, sampled := v.of[m]
	return sampled && slices.ContainsFunc(values, func(x value) bool { return x.metric == d })
}

// longest is how long what is kept of a distribution is needed: as long as any metric that is of it.
func (all retention) longest(tool string, distribution measure.Metric) Rule {
	kept := Rule{Tool: tool, Metric: string(distributionName(distribution)), Points: Never,
		Rollups: [len(Levels)]time.Duration{Never, Never, Never, Never}}
	for _, m := range distribution.Sampled() {
		one := all.of(tool, string(m))
		kept.Points = max(kept.Points, one.Points)
		for level := range Levels {
			kept.Rollups[level] = max(kept.Rollups[level], one.Rollups[level])
		}
	}
	return kept
}
