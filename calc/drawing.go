package calc

import "math"

// Drawing shows an answer among its neighbours: how one value goes with another, all else as it was asked for.
type Drawing struct {
	Title  string   `json:"title"`
	X      Axis     `json:"x"`
	Y      Axis     `json:"y"`
	Series []Series `json:"series"`
	Mark   Point    `json:"mark" doc:"What was asked for"`
}

// Axis says what one direction of a drawing means.
type Axis struct {
	Label string `json:"label"`
	Unit  string `json:"unit" doc:"Of SI, as in the names of metrics; empty for a number of round trips"`
	Log   bool   `json:"log" doc:"Equal steps are equal factors"`
}

// Series is one line of a drawing.
type Series struct {
	Label  string  `json:"label"`
	Points []Point `json:"points" doc:"By rising x, to be joined by straight lines"`
}

// Point is x and y.
type Point [2]float64

// samples is how many points a curve has: more than a screen shows as corners, and few enough to send while one types.
const samples = 121

// add puts a curve into the drawing: f at points from and to and between them, evenly as the x axis goes. Where f or the axes
// have no value, there is no point.
func (d *Drawing) add(label string, from, to float64, f func(x float64) float64) {
	s := Series{Label: label, Points: []Point{}}
	for i := range samples {
		share := float64(i) / (samples - 1)
		x := from + share*(to-from)
		if d.X.Log {
			x = from * math.Pow(to/from, share)
		}
		if i == samples-1 {
			x = to // not beyond it by rounding
		}
		s.Points = append(s.Points, Point{x, f(x)})
	}
	d.join(s)
}

// level puts a line across the drawing.
func (d *Drawing) level(label string, from, to, y float64) {
	d.join(Series{Label: label, Points: []Point{{from, y}, {to, y}}})
}

func (d *Drawing) join(s Series) {
	kept := []Point{}
	for _, p := range s.Points {
		if there(p[0], d.X) && there(p[1], d.Y) {
			kept = append(kept, p)
		}
	}
	s.Points = kept
	d.Series = append(d.Series, s)
}

func there(v float64, a Axis) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) && (v > 0 || !a.Log) }
