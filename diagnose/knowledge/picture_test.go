package knowledge

import (
	order "cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/calc"
)

// Every formula has a picture, and so has every entry that is listed; each has lines that can be drawn and says what it shows.
func TestPictures(t *testing.T) {
	var want, got []string
	for _, f := range calc.All() {
		want = append(want, f.Name)
	}
	for _, with := range pictured {
		want = append(want, with.ids...)
	}
	for _, e := range Entries() {
		if e.Picture == nil {
			continue
		}
		got = append(got, e.ID)
		p := e.Picture
		if p.Title == "" || p.Marked == "" || p.Text == "" || len(p.Series) == 0 || len(p.Series) > 3 {
			t.Errorf("%s: %q, %q, %q, %d lines", e.ID, p.Title, p.Marked, p.Text, len(p.Series))
		}
		for _, s := range p.Series {
			if len(s.Points) < 2 || len(s.Points) > mostPoints+1 || s.Label == "" {
				t.Errorf("%s: %q has %d points", e.ID, s.Label, len(s.Points))
			}
			if !slices.IsSortedFunc(s.Points, func(a, b calc.Point) int { return order.Compare(a[0], b[0]) }) {
				t.Errorf("%s: x of %q goes back", e.ID, s.Label)
			}
			for _, at := range append(s.Points, p.Mark) {
				if math.IsNaN(at[0]+at[1]) || math.IsInf(at[0]+at[1], 0) {
					t.Errorf("%s: %q has a point %v", e.ID, s.Label, at)
				}
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries with pictures (-listed +got):\n%s", diff)
	}
}

// What the texts say is what the models make of the examples: the places of the marks, and ends of lines.
func TestPicturesSayWhatTheyShow(t *testing.T) {
	for id, want := range map[string]calc.Point{
		"slow-start":              {6, 625000},
		"congestion-avoidance":    {204.16, 5833},
		"bandwidth-delay-product": {0.05, 10486000},
		"bufferbloat":             {75000, 0.03},
		"token-bucket":            {0.044444, 555560},
		"nagle":                   {0.06, 0},
		"packet-pair":             {0.000288, 5},
		"random-loss":             {0.0001, 16218000},
		"sack":                    {10, 0},
	} {
		e, err := Find(Entries(), id)
		if err != nil || e.Picture == nil {
			t.Errorf("%s: no picture, %v", id, err)
			continue
		}
		if diff := cmp.Diff(want, e.Picture.Mark); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
	pair := drawPair().Series
	if apart := (pair[1].Points[4][0] - pair[0].Points[4][0]) * 1e6; math.Abs(apart-120) > 1e-6 {
		t.Errorf("the pair arrives %v µs apart, want 120", apart)
	}
	if most := drawStanding().Series[0].Points[28][1]; most != 0.23 {
		t.Errorf("the long queue makes %v s, want 0.23", most)
	}
	cubic := drawAvoidance().Series[1].Points
	if i := slices.IndexFunc(cubic, func(at calc.Point) bool { return at[1] == avoidanceFull }); cubic[i][0] < 16 || cubic[i-1][0] > 16.4 {
		t.Errorf("CUBIC is back between %v and %v s, want 16", cubic[i-1][0], cubic[i][0])
	}
	if p := drawVariation(); p.Mark[0] < 2*1.2e-3 || p.Mark[0] > 10*1.2e-3 || !strings.Contains(p.Series[0].Label, "PDV") {
		t.Errorf("95 %% of the packets wait less than %v s, want some packets' times", p.Mark[0])
	}
}

func TestSlim(t *testing.T) {
	long := calc.Series{Label: "long"}
	for i := range 121 {
		long.Points = append(long.Points, calc.Point{float64(i) / 3, 123456.789})
	}
	got := slim(Picture{Drawing: calc.Drawing{Series: []calc.Series{long, {Label: "short", Points: []calc.Point{{0, 0}, {1e-7 / 3, -2}}}}}})
	if n := len(got.Series[0].Points); n != mostPoints {
		t.Errorf("%d points, want %d", n, mostPoints)
	}
	last := []calc.Point{got.Series[0].Points[mostPoints-1], got.Series[1].Points[1]}
	if diff := cmp.Diff([]calc.Point{{40, 123460}, {3.3333e-8, -2}}, last); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(long.Points) != 121 {
		t.Error("the drawing that was given is another now")
	}
}
