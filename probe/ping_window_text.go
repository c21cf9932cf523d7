package probe

import (
	"fmt"
	"io"
	"strings"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// The size of the drawing of windows.
const (
	windowWidth  = 72
	windowHeight = 14
)

// windowText writes windows as a table and a drawing.
func windowText(w io.Writer, windows []measure.WindowSample) {
	rows := [][]string{{"in flight", "sent", "lost", "rate", "least", "median"}}
	for _, s := range windows {
		rows = append(rows, WindowCells(s))
	}
	fmt.Fprintln(w, strings.Join(chart.Table(rows, -1), "\n"))
	fmt.Fprintln(w, strings.Join(WindowDrawing(windows), "\n"))
}

// WindowCells are a window as a row of the table has it: packets in flight, sent, lost, the rate, and the least and the median round trip.
func WindowCells(s measure.WindowSample) []string {
	return []string{fmt.Sprint(s.InFlight), fmt.Sprint(s.Sent), quantity.FormatRatio(float64(s.Lost) / float64(max(1, s.Sent))),
		quantity.FormatRate(s.BitsPerSecond), quantity.FormatSeconds(s.RTTMinSeconds), quantity.FormatSeconds(s.RTTMedianSeconds)}
}

// WindowDrawing draws the rate over the packets in flight, of one window at least.
func WindowDrawing(windows []measure.WindowSample) []string {
	var rates, offered []chart.Point
	for _, s := range windows {
		rates = append(rates, chart.Point{float64(s.InFlight), s.BitsPerSecond})
		offered = append(offered, chart.Point{float64(s.InFlight), s.BitsPerSecond / max(0.01, 1-float64(s.Lost)/float64(max(1, s.Sent)))})
	}
	plot := chart.Plot{
		X:     chart.Scale{Label: "packets in flight", Text: func(v float64) string { return fmt.Sprint(int(v)) }},
		Y:     chart.Scale{Label: "rate", Text: quantity.FormatRate},
		Lines: []chart.Line{{Label: "answered", Points: rates}, {Label: "sent", Points: offered}},
		Mark:  rates[len(rates)-1], Marked: "the last window",
	}
	return plot.Draw(windowWidth, windowHeight)
}
