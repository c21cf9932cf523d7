package archive

import (
	"math"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// sum is what was measured in one bucket or cell of an answer.
type sum struct{ contents }

// add takes in a value of a run, which says its samples or does not, or its samples. one is to read those with.
func (s *sum) add(v value, says bool, one *stat.Sketch) error {
	switch {
	case v.sketch != nil:
		s.runs++
		_, err := mergeSketch(&s.samples, v.sketch, one)
		return err
	case says:
		s.said.Add(v.value)
	default:
		s.values.Add(v.value)
	}
	return nil
}

// count is how many runs are in it.
func (s *sum) count() uint64 { return s.values.Count() + s.said.Count() }

// settled is a sum after all has been added: what its answer is made of.
type settled struct {
	values  *stat.Sketch // of all runs
	samples *stat.Sketch // nil: no run says any
	known   uint64       // samples that runs say
}

// settle brings together what was taken in; the sum is no more to be added to. Where only a part of the runs say their samples, the
// value of each other run stands for as many as a run has on average.
func (s *sum) settle() settled {
	end := settled{values: &s.said}
	if s.runs > 0 {
		end.samples, end.known = &s.samples, s.samples.Count()
		end.samples.MergeTimes(&s.values, max(1, uint64(math.Round(float64(end.known)/float64(s.runs)))))
	}
	if s.said.Count() == 0 {
		end.values = &s.values
		return end
	}
	end.values.Merge(&s.values)
	return end
}

// answer is what is told of a sum, but for quantiles. counted is what is counted behind a ratio that its values do not say.
func (s settled) answer(how measure.Merge, counted *share) Merged {
	m := Merged{Count: s.values.Count(), Samples: s.known, Min: s.values.Min(), Mean: s.values.Mean(), Max: s.values.Max()}
	var known bool
	if m.Value, known = s.merged(how); !known {
		m.Value = counted.value(s.values)
	}
	return m
}

// merged is one number for values, and whether they alone say it: of ratios that differ, their counts do.
func (s settled) merged(how measure.Merge) (v float64, known bool) {
	switch {
	case how.How == measure.MergeQuantile && s.samples != nil:
		return ofSamples(s.samples, how.Quantile), true
	case how.How == measure.MergeSampleMean && s.samples != nil:
		return s.samples.Mean(), true
	case how.How == measure.MergeSum:
		return s.values.Sum(), true
	case how.How == measure.MergeMax:
		return s.values.Max(), true
	case how.How == measure.MergeShare && s.values.Min() != s.values.Max():
		return 0, false
	case how.How == measure.MergeShare || how.How == measure.MergeMean:
		return s.values.Mean(), true
	}
	return s.values.Quantile(0.5), true
}

// ofSamples is a quantile of samples. That in the middle is their median, as a Result has it.
func ofSamples(samples *stat.Sketch, q float64) float64 {
	if q == 0.5 {
		return samples.Median()
	}
	return samples.Quantile(q)
}

// quantiles appends those of the samples that a metric is of, where runs say them, else of the values of runs; and says whether the former.
func (s settled) quantiles(all, wanted []float64, how measure.Merge) (with []float64, samples bool) {
	samples = s.samples != nil && how.Distribution != ""
	for _, q := range wanted {
		if samples {
			all = append(all, ofSamples(s.samples, q))
		} else {
			all = append(all, s.values.Quantile(q))
		}
	}
	return all, samples
}
