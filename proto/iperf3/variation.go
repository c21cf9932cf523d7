package iperf3

import (
	"time"

	"github.com/pathwise-net/pathwise/stat"
)

// variation is how the delay of a stream's datagrams varies, in constant memory. Of datagrams that came merged it takes the first alone.
type variation struct {
	steps  stat.Histogram // of how much each differs from the one that came before it in order, in ns
	last   time.Duration  // transit of the latest one
	seq    uint64         // its number
	kept   []float64      // transits of every step-th, in s; the clocks of both ends may be apart
	step   int
	passed int // since the latest that was kept
}

// keptTransits bounds those that are kept: a 95th percentile of half as many is off by half a percent of ranks.
const keptTransits = 8192

// vary takes a datagram into account, of which transit is the time of coming less that of sending, by clocks that may be apart.
func (s *stream) vary(seq uint64, transit time.Duration) {
	v := &s.variation
	if v.seq > 0 && seq > v.seq {
		v.steps.Record(int64((transit - v.last).Abs()))
	}
	v.last, v.seq = transit, max(v.seq, seq)
	v.step = max(v.step, 1)
	if v.passed++; v.passed < v.step {
		return
	}
	v.passed = 0
	v.kept = append(v.kept, transit.Seconds())
	if len(v.kept) < keptTransits {
		return
	}
	for i := range len(v.kept) / 2 {
		v.kept[i] = v.kept[2*i]
	}
	v.kept = v.kept[:len(v.kept)/2]
	v.step *= 2
}

// p95 returns the 95th percentiles in seconds of |IPDV| (RFC 3393) and of PDV (RFC 5481); 0 of fewer than two datagrams.
func (v *variation) p95() (ipdv, pdv float64) {
	of, ok := stat.VariationOf(v.kept)
	if !ok || v.steps.Count() == 0 {
		return 0, 0
	}
	return float64(v.steps.Quantile(0.95)) / 1e9, of.PDVP95
}
