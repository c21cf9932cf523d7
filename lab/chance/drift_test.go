package chance

import (
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/lab/notation"
)

func TestDrift(t *testing.T) {
	// At eighths of the period, in thousandths of the amplitude.
	tests := map[DriftShape][9]int64{
		"":       {0, 707, 1000, 707, 0, -707, -1000, -707, 0},
		Sine:     {0, 707, 1000, 707, 0, -707, -1000, -707, 0},
		Triangle: {0, 500, 1000, 500, 0, -500, -1000, -500, 0},
		Sawtooth: {-1000, -750, -500, -250, 0, 250, 500, 750, -1000},
	}
	const set = int64(7 * time.Second)
	for shape, want := range tests {
		for eighths := range 8 {
			d := Drift{
				Amplitude: notation.Delay(time.Microsecond), Period: notation.Span(80 * time.Second), Shape: shape,
				Phase: notation.Ratio(eighths) / 8,
			}
			if err := d.Validate(); err != nil {
				t.Fatal(err)
			}
			p := d.New(set)
			for i := range 40 {
				at := set + int64(i)*int64(10*time.Second)
				if got := p.Extra(at); got != want[(i+eighths)%8] {
					t.Errorf("%s phase %d/8 after %d/8 periods: %d; want %d", shape, eighths, i, got, want[(i+eighths)%8])
				}
			}
		}
	}
	if got := (&Drift{}).New(0).Extra(5); got != 0 {
		t.Errorf("no drift adds %d ns", got)
	}
}

func TestCreep(t *testing.T) {
	const s = int64(time.Second)
	tests := []struct {
		creep Creep
		t     int64
		want  int64
	}{
		{Creep{By: 10e6, Over: 300e9, Start: 30e9}, 0, 0},
		{Creep{By: 10e6, Over: 300e9, Start: 30e9}, 30 * s, 0},
		{Creep{By: 10e6, Over: 300e9, Start: 30e9}, 60 * s, 1e6},
		{Creep{By: 10e6, Over: 300e9, Start: 30e9}, 180 * s, 5e6},
		{Creep{By: 10e6, Over: 300e9, Start: 30e9}, 330 * s, 10e6},
		{Creep{By: 10e6, Over: 300e9, Start: 30e9}, 9999 * s, 10e6},
		{Creep{By: 10e6}, -1, 0},
		{Creep{By: 10e6}, 0, 10e6},
		{Creep{}, 5 * s, 0},
	}
	const set = 1000 * s
	for _, test := range tests {
		if got := test.creep.New(set).Extra(set + test.t); got != test.want {
			t.Errorf("%v after %v: %d ns; want %d", test.creep, time.Duration(test.t), got, test.want)
		}
	}
}
