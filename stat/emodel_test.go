package stat

import (
	"math"
	"slices"
	"testing"
)

func within(t *testing.T, what string, got, want, by float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > by {
		t.Errorf("%s: %.4f, want %v within %v", what, got, want, by)
	}
}

// largest collects how far figures are from those of a table.
type largest struct{ difference, at float64 }

func (l *largest) hold(at, got, want float64) {
	if d := math.Abs(got - want); !(d <= l.difference) { // NaN is the largest
		*l = largest{d, at}
	}
}

func (l largest) report(t *testing.T, what string, most float64) {
	t.Helper()
	t.Logf("%s: largest difference %.4f, at %v", what, l.difference, l.at)
	if !(l.difference <= most) {
		t.Errorf("%s: off by %.4f at %v, want at most %v", what, l.difference, l.at, most)
	}
}

// Which score each rating stands for: table B.1 of ITU-T G.107, G.109's categories, and both ends. The table has two digits, and 4.03 for a
// rating of 80, for which the formula of the same annex gives 4.024.
func TestMOS(t *testing.T) {
	var l largest
	for r, mos := range map[float64]float64{93.2: 4.41, 90: 4.34, 80: 4.03, 70: 3.60, 60: 3.10, 50: 2.58, 0: 1, -10: 1, 100: 4.5, 130: 4.5} {
		l.hold(r, MOS(r), mos)
	}
	l.report(t, "MOS against table B.1 of G.107", 0.0065)
	for r := 0.0; r < 100; r += 0.1 {
		if MOS(r+0.1) < MOS(r) {
			t.Errorf("MOS falls from %v at a rating of %v", MOS(r), r)
		}
	}
}

// Ratings are those that the formulas of ITU-T G.107 (2015, section 7) give, written out with all their parameters at the defaults of its table 2, which
// it says come to 93.2.
func TestRating(t *testing.T) {
	within(t, "R of the defaults", R(0, 0, 1, G711), 93.2, 0.05)
	var l largest
	for ms := 0.0; ms <= 2000; ms++ {
		l.hold(ms, R(ms/1000, 0, 1, G711), defaultRating(ms))
	}
	l.report(t, "R against G.107's formulas, by milliseconds of delay", 0.001)
}

// defaultRating is R of G.107 without loss for T = Ta = Tr/2 of so many ms.
func defaultRating(ms float64) float64 {
	const (
		slr, rlr, stmr, lstr, ds = 8, 2, 15, 18, 3 // dB
		telr, wepl, qdu          = 65, 110, 1
		nc, nfor, ps, pr         = -70, -64, 35, 35
	)
	ten := func(x float64) float64 { return math.Pow(10, x/10) }
	root := func(x, n float64) float64 { return math.Pow(1+math.Pow(x, n), 1/n) }
	const olr = slr + rlr
	nos := ps - slr - ds - 100 + 0.004*math.Pow(ps-olr-ds-14, 2)
	pre := pr + 10*math.Log10(1+ten(10-lstr))
	nor := rlr - 121 + pre + 0.008*math.Pow(pre-35, 2)
	no := 10 * math.Log10(ten(nc)+ten(nos)+ten(nor)+ten(nfor+rlr))
	ro := 15 - 1.5*(slr+no)

	xolr := olr + 0.2*(64+no-rlr)
	iolr := 20 * (root(xolr/8, 8) - xolr/8)
	stmro := -10 * math.Log10(ten(-stmr)+math.Exp(-ms/4)*ten(-telr))
	ist := 12*root((stmro-13)/6, 8) - 28*root((stmro+1)/19.4, 35) - 13*root((stmro-3)/33, 13) + 29
	q := 37 - 15*math.Log10(qdu)
	g := 1.07 + 0.258*q + 0.0602*q*q
	iq := 15 * math.Log10(1+math.Pow(10, (ro-100)/15+46/8.4-g/9)+math.Pow(10, 46./30-g/40))
	is := iolr + ist + iq

	roe := -1.5 * (no - rlr)
	terv := telr - 40*math.Log10((1+ms/10)/(1+ms/150)) + 6*math.Exp(-0.3*ms*ms)
	apart := roe - (80 + 2.5*(terv-14))
	idte := (apart/2 + math.Sqrt(apart*apart/4+100) - 1) * (1 - math.Exp(-ms))
	apart = ro - 10.5*(wepl+7)*math.Pow(2*ms+1, -0.25)
	idle := apart/2 + math.Sqrt(apart*apart/4+169)
	idd := 0.0
	if ms > 100 {
		x := math.Log10(ms/100) / math.Log10(2)
		idd = 25 * (root(x, 6) - 3*root(x/3, 6) + 2)
	}
	return ro - is - idte - idle - idd
}

// What a delay alone takes from the rating, as Cole and Rosenbluth (2001) tabulate it from G.107: by seconds.
func TestDelayImpairment(t *testing.T) {
	var l largest
	for delay, id := range map[float64]float64{0: 0, 0.05: 1.5, 0.1: 2.6, 0.15: 3.7, 0.2: 7.4, 0.25: 14.1, 0.3: 20.6, 0.35: 26.2, 0.4: 31} {
		l.hold(delay, R(0, 0, 1, G711)-R(delay, 0, 1, G711), id)
	}
	l.report(t, "delay impairment", 0.1)
}

// What random loss takes, as ITU-T G.113 appendix I tabulates it from listening tests: the formula follows them to within some units.
func TestEquipmentImpairment(t *testing.T) {
	for name, c := range map[string]struct {
		codec Codec
		by    float64
		ie    map[float64]float64 // by loss in percent
	}{
		"G.711":   {G711, 3, map[float64]float64{0: 0, 1: 5, 2: 7, 3: 10, 5: 15, 7: 20, 10: 25, 15: 35, 20: 45}},
		"G.729A":  {G729A, 1, map[float64]float64{0: 11, 0.5: 13, 1: 15, 1.5: 17, 2: 19, 3: 23, 4: 26, 8: 36, 16: 49}},
		"G.723.1": {G7231, 1.5, map[float64]float64{0: 15, 0.5: 17, 1: 19, 1.5: 22, 2: 24, 3: 27, 4: 32, 8: 41, 16: 55}},
		"GSM EFR": {GSMEFR, 3, map[float64]float64{0: 5, 1: 16, 2: 21, 3: 26, 5: 33}},
	} {
		for percent, want := range c.ie {
			within(t, name, equipment(percent/100, 1, c.codec), want, c.by)
		}
	}
	// Losses in bursts of twice the length are worse: of 10 %, 95·10/(10/2+25.1).
	within(t, "bursts", equipment(0.1, 2, G711), 31.56, 0.01)
	within(t, "no burst ratio", equipment(0.1, 0, G711), 27.07, 0.01)
}

func TestSpeechOver(t *testing.T) {
	lost := make([]bool, 100)
	clear := SpeechOver(0.075, Variation{Buffer: 0.05}, lost)
	within(t, "delay", clear.Delay, 0.15, 1e-12)
	within(t, "R", clear.R, 93.2-3.7, 0.1)
	within(t, "MOS", clear.MOS, 4.33, 0.01)
	lost[10], lost[11] = true, true
	within(t, "R with 2 of 100 lost in a burst", SpeechOver(0.075, Variation{Buffer: 0.05}, lost).R, clear.R-95*2/(2/1.96+25.1), 1e-9)
	half := append(make([]bool, 100), slices.Repeat([]bool{true}, 100)...)
	if got, want := SpeechOver(1, Variation{}, half), (Speech{0, 1, 1 + SpeechCoding}); got != want {
		t.Errorf("a second on the way, half of it lost: %+v, want %+v", got, want)
	}
	within(t, "clocks that make a delay negative", SpeechOver(-5, Variation{}, nil).R, R(SpeechCoding, 0, 1, G711), 0)
}
