package window

import (
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// The rate of a window is of its second half, and a burst shows in the first quarter.
func TestFigures(t *testing.T) {
	var echoes []measure.Echo
	for i := range 11 { // answers at 10 to 110 ms
		echoes = append(echoes, measure.Echo{SentSeconds: 0.01 * float64(i), RTTSeconds: new(0.01)})
	}
	got := Figures(3, append(echoes, measure.Echo{SentSeconds: 0.2}), 1000)
	if got.InFlight != 3 || got.Sent != 12 || got.Lost != 1 || got.RTTMinSeconds != 0.01 || got.RTTMedianSeconds != 0.01 ||
		got.BitsPerSecond < 0.7e6 || got.BitsPerSecond > 1e6 || got.EarlyBits < 0.7e6 || got.EarlyBits > 1.3e6 {
		t.Errorf("%+v", got)
	}
	if got := Figures(1, []measure.Echo{{}}, 1000); got != (measure.WindowSample{InFlight: 1, Sent: 1, Lost: 1}) {
		t.Errorf("without answers: %+v", got)
	}
}
