package chance

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/lab/notation"
)

const spread = 2 * time.Millisecond

var measured = []notation.Delay{0, 1e5, 3e5, 4e6, 4e6, 9e6}

// jitters has every distribution, with its distribution function and its quantile at the probability of a normal score,
// in nanoseconds, both written down from the definition.
var jitters = map[string]struct {
	jitter   Jitter
	below    func(x float64) float64
	quantile func(z float64) float64
	mean     float64 // of the spread
}{
	"uniform": {
		Jitter{Spread: notation.Delay(spread)},
		func(x float64) float64 { return min(1, max(0, (x+2e6)/4e6)) },
		func(z float64) float64 { return 2e6 * math.Erf(z/math.Sqrt2) }, 0,
	},
	"normal": {
		Jitter{Spread: notation.Delay(spread), Distribution: Normal},
		func(x float64) float64 { return (1 + math.Erf(x/2e6/math.Sqrt2)) / 2 },
		func(z float64) float64 { return 2e6 * z }, 0,
	},
	"exponential": {
		Jitter{Spread: notation.Delay(spread), Distribution: Exponential},
		func(x float64) float64 { return 1 - math.Exp(-max(0, x)/2e6) },
		func(z float64) float64 { return -2e6 * math.Log(math.Erfc(z/math.Sqrt2)/2) }, 1,
	},
	"pareto": {
		Jitter{Spread: notation.Delay(spread), Distribution: Pareto},
		func(x float64) float64 { return 1 - math.Pow(1+max(0, x)/4e6, -3) },
		func(z float64) float64 { return 4e6 * (math.Pow(math.Erfc(z/math.Sqrt2)/2, -1./3) - 1) }, 1,
	},
	"paretonormal": {
		Jitter{Spread: notation.Delay(spread), Distribution: ParetoNormal},
		paretoNormalBelow, paretoNormalQuantile, 0,
	},
	"table": {
		Jitter{Table: measured},
		measuredBelow, func(z float64) float64 { return measuredQuantile(1 - math.Erfc(z/math.Sqrt2)/2) },
		(0.5*0 + 1e5 + 3e5 + 4e6 + 4e6 + 0.5*9e6) / 5 / 2e6,
	},
}

func paretoNormalQuantile(z float64) float64 {
	return 2e6 * (z/4 + math.Pow(math.Erfc(z/math.Sqrt2)/2, -1./3) - 1.5)
}

// paretoNormalGrid has the quantiles at the scores -9, -8.999, ..., 9.
var paretoNormalGrid = func() (x []float64) {
	for i := range 18_001 {
		x = append(x, paretoNormalQuantile(float64(i)/1000-9))
	}
	return x
}()

// paretoNormalBelow inverts the quantile, to the thousandth of a score and straight between.
func paretoNormalBelow(x float64) float64 {
	i := min(max(1, sort.SearchFloat64s(paretoNormalGrid, x)), len(paretoNormalGrid)-1)
	low, high := paretoNormalGrid[i-1], paretoNormalGrid[i]
	z := (float64(i-1)+(x-low)/(high-low))/1000 - 9
	return (1 + math.Erf(z/math.Sqrt2)) / 2
}

// measuredBelow is the share of packets at or below x: where two entries are equal, the table has a step, whose top
// this is.
func measuredBelow(x float64) float64 {
	i := sort.Search(len(measured), func(i int) bool { return float64(measured[i]) > x })
	switch {
	case i == 0:
		return 0
	case i == len(measured):
		return 1
	}
	low, high := float64(measured[i-1]), float64(measured[i])
	return (float64(i-1) + (x-low)/(high-low)) / float64(len(measured)-1)
}

func measuredQuantile(p float64) float64 {
	i := min(int(p*5), 4)
	low, high := float64(measured[i]), float64(measured[i+1])
	return low + (p*5-float64(i))*(high-low)
}

// continuous replaces the values of a step by uniform ones within its probability, so that Kolmogorov's test, which is
// for continuous distributions, holds (the randomized probability integral transform).
func continuous(samples []float64, below func(float64) float64, random *rand.Rand) []float64 {
	for i, x := range samples {
		p := below(x)
		if x == 4e6 {
			p = 0.6 + 0.2*random.Float64()
		}
		samples[i] = p
	}
	return samples
}

func draws(p *JitterProcess, n, thin int) []float64 {
	x := make([]float64, n)
	for i := range x {
		for range thin {
			x[i] = float64(p.Extra(0))
		}
	}
	return x
}

func TestJitterDistributions(t *testing.T) {
	seed := uint64(0)
	for name, test := range jitters {
		// With correlation every fifth packet is looked at: at 25 % two such have 0.001 in common, and the 200,000
		// samples are worth (1-0.001)/(1+0.001) as many independent ones.
		for correlation, thin := range map[notation.Ratio]int{0: 1, 0.25: 5} {
			jitter := test.jitter
			jitter.Correlation = correlation
			if err := jitter.Validate(); err != nil {
				t.Fatal(err)
			}
			samples := draws(jitter.New(seeded(seed)), packets, thin)
			if name == "table" {
				checkKS(t, name+" "+correlation.String(), continuous(samples, test.below, seeded(7)),
					func(p float64) float64 { return p })
				continue
			}
			checkKS(t, name+" "+correlation.String(), samples, test.below)
		}
	}
}

// TestJitterMean: the doc's means hold, within the standard error of a Pareto's mean, the widest.
func TestJitterMean(t *testing.T) {
	for name, test := range jitters {
		sum := 0.0
		for _, x := range draws(test.jitter.New(seeded(3)), packets, 1) {
			sum += x / float64(spread) / packets
		}
		if margin := z9995 * 1.74 / math.Sqrt(packets); math.Abs(sum-test.mean) > margin {
			t.Errorf("%s: mean %.4f of the spread; want %.4f within %.4f", name, sum, test.mean, margin)
		}
	}
}

// copula returns the autocorrelation that values have, given that of their normal scores, and their standard deviation.
// With a(k) the coefficients of the quantile function in Hermite polynomials the correlation is the sum of a(k)² rho^k
// over that of a(k)² (Mehler 1866).
func copula(quantile func(z float64) float64) (correlation func(rho float64) float64, deviation float64) {
	const terms, reach, width = 40, 9.0, 0.002
	var a [terms]float64
	variance := 0.0
	for z := -reach; z <= reach; z += width {
		weight := width * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
		q := quantile(z)
		variance += weight * q * q
		before, h := 0.0, 1.0 // normalised Hermite polynomials
		for k := range a {
			a[k] += weight * q * h
			before, h = h, (z*h-math.Sqrt(float64(k))*before)/math.Sqrt(float64(k+1))
		}
	}
	variance -= a[0] * a[0]
	correlation = func(rho float64) float64 {
		sum := 0.0
		for k := 1; k < terms; k++ {
			sum += a[k] * a[k] * math.Pow(rho, float64(k))
		}
		return sum / variance
	}
	return correlation, math.Sqrt(variance)
}

func TestJitterAutocorrelation(t *testing.T) {
	for name, test := range jitters {
		want, _ := copula(test.quantile)
		for _, rho := range []float64{0.25, 0.5, 0.9} {
			jitter := test.jitter
			jitter.Correlation = notation.Ratio(rho)
			x := draws(jitter.New(seeded(1)), packets, 1)
			for _, lag := range []int{1, 2, 5} {
				got, want := autocorrelation(x, lag), want(math.Pow(rho, float64(lag)))
				// Bartlett's standard error of a first-order process is at most sqrt((1+r²)/(1-r²)/n): 0.007 at 90 %.
				// A Pareto of shape 3 has no fourth moment, its sample autocorrelation strays farther.
				margin := z9995 * math.Sqrt((1+rho*rho)/(1-rho*rho)/packets)
				if test.jitter.Distribution == Pareto || test.jitter.Distribution == ParetoNormal {
					margin = 0.04
				}
				if math.Abs(got-want) > margin {
					t.Errorf("%s %v lag %d: autocorrelation %.4f; want %.4f within %.4f", name, rho, lag, got, want, margin)
				}
			}
		}
	}
}

// TestJitterDoc holds the figures in the documentation of Jitter and Distribution.
func TestJitterDoc(t *testing.T) {
	tests := map[string]struct{ at25, at50, deviation float64 }{
		"uniform":      {6 / math.Pi * math.Asin(0.125), 6 / math.Pi * math.Asin(0.25), 1 / math.Sqrt(3)},
		"normal":       {0.25, 0.5, 1},
		"exponential":  {0.215, 0.453, 1},
		"pareto":       {0.136, 0.324, math.Sqrt(3)},
		"paretonormal": {0.172, 0.381, 1.05},
	}
	for name, want := range tests {
		correlation, deviation := copula(jitters[name].quantile)
		at25, at50, deviation := correlation(0.25), correlation(0.5), deviation/float64(spread)
		if math.Abs(at25-want.at25) > 0.001 || math.Abs(at50-want.at50) > 0.001 ||
			math.Abs(deviation-want.deviation) > 0.005 {
			t.Errorf("%s: autocorrelation %.4f and %.4f, deviation %.4f; the documentation has %.4f",
				name, at25, at50, deviation, want)
		}
	}
}

// extremes draws only the smallest or the largest word.
type extremes uint64

func (e extremes) Uint64() uint64 { return uint64(e) }

func TestJitterExtremes(t *testing.T) {
	for name, test := range jitters {
		for _, correlation := range []notation.Ratio{0, 0.99} {
			for _, word := range []extremes{0, math.MaxUint64} {
				jitter := test.jitter
				jitter.Correlation = correlation
				p := jitter.New(rand.New(word))
				for range 1000 { // the autoregression gathers
					p.Extra(0)
				}
				x := p.Extra(0)
				if x < -1e12 || x > 1e18 {
					t.Errorf("%s %v: extra of %d ns", name, correlation, x)
				}
				if test.mean > 0 && x < 0 {
					t.Errorf("%s %v: %d ns; want 0 or more", name, correlation, x)
				}
			}
		}
	}
}

func TestJitterDraws(t *testing.T) {
	for name, test := range jitters {
		for _, correlation := range []notation.Ratio{0, 0.5} {
			jitter := test.jitter
			jitter.Correlation = correlation
			source := &words{from: rand.NewPCG(1, 2)}
			p := jitter.New(rand.New(source))
			source.n = 0
			for range 1000 {
				p.Extra(0)
			}
			if source.n != 1000 {
				t.Errorf("%s: 1000 packets took %d words", name, source.n)
			}
		}
	}
}

func TestZeroJitter(t *testing.T) {
	p := (&Jitter{}).New(seeded(0))
	for range 1000 {
		if x := p.Extra(0); x != 0 {
			t.Fatalf("extra of %d ns; want none", x)
		}
	}
}
