package measure

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/pathwise-net/pathwise/stat"
)

// Distribution is the distribution of the samples behind metrics, such as all round-trip times of a run: a stat.Sketch in its
// binary form, which JSON has as base64. Distributions of many runs merge to that of all their samples; medians do not.
type Distribution []byte

// Bounds of a Distribution from outside.
const (
	// MostDistributions is how many a Result may have: several times those of a test that measures both ways.
	MostDistributions = 32
	// mostDistributionBytes is enough for samples of every delay from 1 ns to a day, each in its own bin of a hundred million.
	mostDistributionBytes = 16 << 10
	// mostSamples keeps the sum of 2^34 runs, which is more than an archive holds of a pair, within 64 bits.
	mostSamples = 1 << 30
)

// NewDistribution returns what a sketch holds.
func NewDistribution(s *stat.Sketch) Distribution { return s.AppendBinary(nil) }

var errDistribution = errors.New("want the base64 of a sketch")

// CheckDistribution makes a Distribution of bytes from outside, in the one form that its content has. It refuses what is no
// sketch, an empty one, and one that is larger than samples can make it.
func CheckDistribution(data []byte) (Distribution, error) {
	if len(data) > mostDistributionBytes {
		return nil, fmt.Errorf("distribution of %d bytes, want at most %d", len(data), mostDistributionBytes)
	}
	var s stat.Sketch
	rest, err := s.DecodeBinary(data)
	switch {
	case err != nil:
		return nil, fmt.Errorf("distribution: %w", err)
	case len(rest) > 0:
		return nil, fmt.Errorf("distribution has %d bytes after its end, want none", len(rest))
	case s.Count() == 0 || s.Count() > mostSamples:
		return nil, fmt.Errorf("distribution of %d samples, want 1 to %d", s.Count(), mostSamples)
	}
	checked := s.AppendBinary(make([]byte, 0, len(data)))
	if bytes.Equal(checked, data) {
		return data, nil
	}
	return checked, nil
}

// UnmarshalJSON reads a Distribution from outside, as CheckDistribution does.
func (d *Distribution) UnmarshalJSON(text []byte) error {
	if len(text) > base64.StdEncoding.EncodedLen(mostDistributionBytes)+2 || len(text) == 0 || text[0] != '"' {
		return errDistribution
	}
	var data []byte
	if err := json.Unmarshal(text, &data); err != nil {
		return fmt.Errorf("%w: %w", errDistribution, err)
	}
	checked, err := CheckDistribution(data)
	*d = checked
	return err
}

// Sketch returns what the distribution holds.
func (d Distribution) Sketch() (*stat.Sketch, error) {
	s := new(stat.Sketch)
	if _, err := s.DecodeBinary(d); err != nil {
		return nil, fmt.Errorf("read distribution: %w", err)
	}
	return s, nil
}

// quantileOf is how a quantile of samples merges.
func quantileOf(distribution Metric, quantile float64) Merge {
	return Merge{How: MergeQuantile, Distribution: distribution, Quantile: quantile}
}

var sampled = sync.OnceValue(func() map[Metric][]Metric {
	all := map[Metric][]Metric{}
	for _, d := range Definitions() {
		if of := d.Merge.Distribution; of != "" {
			all[of] = append(all[of], d.Metric)
		}
	}
	return all
})

// Sampled returns the metrics that are of a distribution of this name, in the order in which they are listed; nil: no metric is.
func (m Metric) Sampled() []Metric { return slices.Clone(sampled()[m]) }
