package chart

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func number(v float64) string { return fmt.Sprintf("%g", v) }

func TestPlot(t *testing.T) {
	p := Plot{X: Scale{Label: "time", Text: number}, Y: Scale{Label: "window", Text: number},
		Lines: []Line{{"straight", []Point{{0, 0}, {10, 4}}}, {"level", []Point{{0, 2}, {10, 2}}}},
		Mark:  Point{10, 4}, Marked: "full"}
	want := strings.Split(strings.TrimPrefix(`
   window
4 |         *O
  |       ***
  |++++***++++
  | ***
0 |**
  +-----------
   0  time  10
   * straight
   + level
   O full`, "\n"), "\n")
	if diff := cmp.Diff(want, p.Draw(14, 11)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Any plot has the lines and columns that it was given, whatever its points: on axes of factors too, and without any.
func TestPlotFits(t *testing.T) {
	text := func(v float64) string { return number(v) + " µs" }
	for _, p := range []Plot{
		{},
		{Lines: []Line{{"one point", []Point{{1, 1}}}}},
		{X: Scale{Log: true}, Y: Scale{Log: true}, Lines: []Line{{"factors", []Point{{1e-3, 1}, {10, 1e6}, {0, 3}}}}, Mark: Point{0.1, 1e3}},
		{Lines: []Line{{"no numbers", []Point{{math.NaN(), 1}, {1, math.NaN()}}}}, Marked: strings.Repeat("a long legend ", 9)},
		{X: Scale{Label: strings.Repeat("long ", 40)}, Lines: []Line{{"up and down", []Point{{0, -3}, {5, 3}, {5, -3}}}}},
	} {
		p.X.Text, p.Y.Text = text, text
		got := p.Draw(70, 12)
		if len(got) != 12 {
			t.Errorf("%d lines", len(got))
		}
		for _, line := range got {
			if utf8.RuneCountInString(line) > 70 {
				t.Errorf("a line of %d: %s", utf8.RuneCountInString(line), line)
			}
		}
	}
}
