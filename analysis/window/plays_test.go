package window

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// play is a windowed ping over a path of the lab.
type play struct {
	Name    string        // of the path: shape, Mbit/s, ms each way, and which play of it
	Shape   Shape         // of the path
	Link    string        // as the lab file had it
	Rate    float64       // bit/s at the IP layer, where the shape tells one
	Windows [][12]float64 // as measure.WindowSample has it, in kbit/s and µs
}

func (p play) steps() (steps []measure.WindowSample) {
	for _, w := range p.Windows {
		steps = append(steps, measure.WindowSample{InFlight: int(w[0]), Sent: int(w[1]), Lost: int(w[2]), BitsPerSecond: w[3] * 1e3,
			RTTMinSeconds: w[4] / 1e6, RTTMedianSeconds: w[5] / 1e6, RTTP95Seconds: w[6] / 1e6,
			Burst:        measure.WindowBurst{Passed: int(w[7]), Lost: int(w[8]), LeftSeconds: w[9] / 1e6, BitsPerSecond: w[10] * 1e3},
			MissingRatio: w[11] / 1e3})
	}
	return steps
}

// tally is what became of the plays of a shape.
type tally struct{ Right, CannotTell, Wrong int }

// Of the plays of each shape at several rates, delays and strengths most are read right, and the others so that it is said that nothing can be told. Some
// were played on a host that had too much else to do to keep 100 Mbit/s up. With -v the plays that are not read right are listed.
func TestPlays(t *testing.T) {
	text, err := os.ReadFile("testdata/plays.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	got := map[Shape]tally{}
	for line := range bytes.Lines(text) {
		var p play
		if err := json.Unmarshal(line, &p); err != nil {
			t.Fatal(err)
		}
		const size = 1028 // bytes of a packet at the IP layer
		r := Read(p.steps(), 8*size)
		n := got[p.Shape]
		switch r.Shape {
		case p.Shape:
			n.Right++
			if r.BitsPerSecond > 0 && math.Abs(r.BitsPerSecond-p.Rate) > 0.1*p.Rate {
				t.Errorf("%s: %v bit/s, want %v", p.Name, r.BitsPerSecond, p.Rate)
			}
		case Unknown, Busy, SlowEnd:
			n.CannotTell++
			t.Logf("%s (%s): %s", p.Name, p.Link, r.Sentence())
		default:
			n.Wrong++
			t.Logf("%s (%s): %s", p.Name, p.Link, r.Sentence())
		}
		got[p.Shape] = n
	}
	want := map[Shape]tally{Normal: {24, 8, 0}, NoQueue: {28, 0, 0}, Policer: {22, 2, 0}, Shaper: {27, 1, 0}, Lossy: {31, 1, 0}, Duplex: {24, 0, 0},
		"half duplex": {0, 4, 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("plays (-want +got):\n%s", diff)
	}
}
