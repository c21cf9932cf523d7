package stat

import (
	"math"
	"testing"
)

func within(t *testing.T, what string, got, want, by float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > by {
		t.Errorf("%s: %.4f, want %v within %v", what, got, want, by)
	}
}

// ITU-T G.107 says that its defaults come to 93.2, and which score each rating stands for (table B.1 and G.109).
func TestMOS(t *testing.T) {
	within(t, "R of the defaults", R(0, 0, 1, G711), 93.2, 0.05)
	for _, c := range []struct{ r, mos float64 }{{93.2, 4.41}, {90, 4.34}, {80, 4.03}, {70, 3.60}, {60, 3.10}, {50, 2.58}, {0, 1}, {-10, 1}, {100, 4.5}, {130, 4.5}} {
		within(t, "MOS", MOS(c.r), c.mos, 0.01)
	}
}

// What a delay alone takes from the rating, as Cole and Rosenbluth (2001) tabulate it from G.107: by seconds.
func TestDelayImpairment(t *testing.T) {
	for _, c := range []struct{ delay, id float64 }{{0, 0}, {0.05, 1.5}, {0.1, 2.6}, {0.15, 3.7}, {0.2, 7.4}, {0.25, 14.1}, {0.3, 20.6}, {0.35, 26.2}, {0.4, 31}} {
		within(t, "Id", R(0, 0, 1, G711)-R(c.delay, 0, 1, G711), c.id, 0.5)
	}
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
	within(t, "clocks that make a delay negative", SpeechOver(-5, Variation{}, nil).R, R(SpeechCoding, 0, 1, G711), 0)
}
