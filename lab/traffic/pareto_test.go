package traffic

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/lab/notation"
)

func TestParetoDraws(t *testing.T) {
	for _, alpha := range []float64{1.05, 1.4, 2.5} {
		p := newPareto(1e6, alpha)
		random := rand.New(rand.NewPCG(1, 2))
		times, residuals := make([]float64, packets), make([]float64, packets)
		for i := range times {
			times[i], residuals[i] = p.draw(random), p.residual(random)
		}
		if d := kolmogorov(times, paretoCDF(p.scale, alpha)); d > kolmogorovBound {
			t.Errorf("alpha %v: Kolmogorov's statistic %.3f, want below %.3f", alpha, d, kolmogorovBound)
		}
		// The integral of P(X > x) / mean.
		residual := func(v float64) float64 {
			if v < p.scale {
				return v / 1e6
			}
			return 1 - math.Pow(p.scale/v, alpha-1)/alpha
		}
		if d := kolmogorov(residuals, residual); d > kolmogorovBound {
			t.Errorf("alpha %v: residuals: Kolmogorov's statistic %.3f, want below %.3f", alpha, d, kolmogorovBound)
		}
	}
}

// What one source sends shows its on and off times to within a packet: 1/1000 of their mean.
func TestParetoOnAndOffTimes(t *testing.T) {
	const bursts, gap = 4000, 1e4
	c := &Config{
		From: "a", To: "b", Kind: Pareto, Peak: notation.Rate(1000 * nanobits / gap), Size: 1000, Sources: 1,
		On: notation.Span(10 * time.Millisecond), Off: notation.Span(20 * time.Millisecond), Shape: 1.5,
	}
	g := New(c, 2, 0)
	var on, off []float64
	begin, _, _ := g.Next()
	last := begin
	for len(on) <= bursts {
		at, _, _ := g.Next()
		if at-last > 1.5*gap {
			on, off = append(on, float64(last-begin)+gap), append(off, float64(at-last)-gap)
			begin = at
		}
		last = at
	}
	on, off = on[1:], off[1:] // the first are residuals
	if d := kolmogorov(on, paretoCDF(10e6/3, 1.5)); d > kolmogorovBound {
		t.Errorf("on: Kolmogorov's statistic %.3f, want below %.3f", d, kolmogorovBound)
	}
	if d := kolmogorov(off, paretoCDF(20e6/3, 1.5)); d > kolmogorovBound {
		t.Errorf("off: Kolmogorov's statistic %.3f, want below %.3f", d, kolmogorovBound)
	}
}

// With alpha above 2, times have a variance, and the central limit theorem for alternating renewal processes says how far
// the time that is spent on strays: for n sources over T its variance is nT (off² Var(on) + on² Var(off)) / (on + off)³ (Cox,
// Renewal Theory, section 7.3). Rates hold even where a source sends less than a packet each time that it is on.
func TestParetoMeanRate(t *testing.T) {
	for _, rate := range []notation.Rate{20e6, 50e3} {
		const alpha, sources, on, off = 2.5, 10, 500e6, 1e9
		c := &Config{From: "a", To: "b", Kind: Pareto, Rate: rate, Size: 1000, Shape: alpha, Sources: sources}
		g := New(c, 4, 0)
		var at int64
		for range packets {
			at, _, _ = g.Next()
		}
		mean := float64(rate) * float64(at) / 8e12 // packets
		relative := (alpha - 1) / alpha * (alpha - 1) / alpha * alpha / ((alpha - 1) * (alpha - 1) * (alpha - 2))
		variance := sources * float64(at) * 2 * (on * on * off * off * relative) / math.Pow(on+off, 3) // of on-time
		perOn := float64(rate) / sources * (on + off) / on / 8e12                                      // packets
		if stray := (packets - mean) / (math.Sqrt(variance) * perOn); math.Abs(stray) > normalBound {
			t.Errorf("%v: %d packets where %.0f were due: %.2f standard deviations off", rate, packets, mean, stray)
		}
	}
}

// The sources begin as if they had been there for ever: early on, the mean over many seeds is that of any time.
func TestParetoBeginsStationary(t *testing.T) {
	const seeds = 4000
	var sum, squares float64
	for seed := range uint64(seeds) {
		c := &Config{From: "a", To: "b", Kind: Pareto, Rate: 8e6, Size: 1000, Stop: notation.Span(50 * time.Millisecond)}
		g, n := New(c, seed, 0), 0.0
		for _, _, ok := g.Next(); ok; _, _, ok = g.Next() {
			n++
		}
		sum, squares = sum+n, squares+n*n
	}
	mean := sum / seeds
	deviation := math.Sqrt((squares/seeds - mean*mean) / seeds)
	if stray := (mean - 50) / deviation; math.Abs(stray) > normalBound {
		t.Errorf("%.2f packets in the first 50 ms, want 50: %.2f standard deviations off", mean, stray)
	}
}

// With sizes that vary a source is found in the gap before a large packet more often, as that gap is longer: early on, the
// mean over many seeds is 8 Mbit/s all the same.
func TestParetoOfSizesBeginsStationary(t *testing.T) {
	const seeds, span = 4000, 2 * time.Millisecond
	var sum, squares float64
	for seed := range uint64(seeds) {
		c := &Config{From: "a", To: "b", Kind: Pareto, Rate: 8e6, Sizes: Sizes{{40, 0.9}, {1500, 0.1}}, Stop: notation.Span(span)}
		g, bytes := New(c, seed, 0), 0.0
		for _, size, ok := g.Next(); ok; _, size, ok = g.Next() {
			bytes += float64(size)
		}
		sum, squares = sum+bytes, squares+bytes*bytes
	}
	mean := sum / seeds
	deviation := math.Sqrt((squares/seeds - mean*mean) / seeds)
	if stray := (mean - 2000) / deviation; math.Abs(stray) > normalBound {
		t.Errorf("%.0f bytes in the first %v, want 2000: %.2f standard deviations off", mean, span, stray)
	}
}

// The slope of the variance-time plot (log of the variance of means over m bins against log m) is 2H - 2: H is (3-alpha)/2
// for on/off sources and 1/2 for Poisson traffic. Bins must be long beside on and off times, where alone the law holds.
func TestHurstExponent(t *testing.T) {
	bursty := &Config{
		From: "a", To: "b", Kind: Pareto, Size: 1000, Rate: 8e6, Sources: 10, Shape: 1.4,
		On: notation.Span(10 * time.Millisecond), Off: notation.Span(10 * time.Millisecond),
	}
	for _, c := range []struct {
		name   string
		config *Config
		want   float64
	}{
		{"pareto 1.4", bursty, 0.8},
		{"poisson", &Config{From: "a", To: "b", Kind: Poisson, Rate: 8e6, Size: 1000}, 0.5},
	} {
		const bins, width = 1 << 14, 100e6
		counts := make([]float64, bins)
		g := New(c.config, 5, 0)
		for at, _, _ := g.Next(); at < bins*width; at, _, _ = g.Next() {
			counts[at/width]++
		}
		var x, y []float64
		for m := 1; m <= bins/64; m *= 2 {
			x, y = append(x, math.Log(float64(m))), append(y, math.Log(varianceOfMeans(counts, m)))
		}
		hurst := 1 + slope(x, y)/2
		t.Logf("%s: H = %.3f", c.name, hurst)
		if math.Abs(hurst-c.want) > 0.1 {
			t.Errorf("%s: H = %.3f, want %.2f within 0.1", c.name, hurst, c.want)
		}
	}
}

func varianceOfMeans(counts []float64, m int) float64 {
	var sum, squares, n float64
	for ; len(counts) >= m; counts = counts[m:] {
		var mean float64
		for _, c := range counts[:m] {
			mean += c / float64(m)
		}
		sum, squares, n = sum+mean, squares+mean*mean, n+1
	}
	return squares/n - sum/n*sum/n
}

// slope is how steep the least-squares line through points is.
func slope(x, y []float64) float64 {
	var sx, sy, sxx, sxy float64
	for i := range x {
		sx, sy, sxx, sxy = sx+x[i], sy+y[i], sxx+x[i]*x[i], sxy+x[i]*y[i]
	}
	n := float64(len(x))
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
