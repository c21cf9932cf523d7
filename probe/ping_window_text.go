package probe

import (
	"fmt"
	"io"
	"strings"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// sentence says what the shape means.
func (r windowReading) sentence() string {
	rate := quantity.FormatRate(r.capacity)
	queue := fmt.Sprintf("%d packets waited at most, and none was lost", r.queue)
	if r.full {
		queue = fmt.Sprintf("a queue of about %d packets overflows beyond", r.queue)
	}
	switch r.shape {
	case shapeNormal:
		return fmt.Sprintf("normal: %d packets in flight fill the path with %s; %s", r.knee, rate, queue)
	case shapeNoQueue:
		return fmt.Sprintf("no queue: %d packets in flight fill the path with %s, and more are lost instead of waiting", r.knee, rate)
	case shapeShaper:
		return fmt.Sprintf("shaper: a burst passes faster, then %s; %s", rate, queue)
	case shapePolicer:
		return fmt.Sprintf("policer: a burst passes faster, then all above %s is dropped", rate)
	case shapeLossy:
		return "constant loss: packets are lost however few are in flight, so that it is no queue that overflows"
	case shapeDuplex:
		return "duplex fault: alone packets pass, and when both ways are busy so many are lost that the rate falls: one end of a link probably is half duplex"
	case shapeRising:
		return "no limit reached: the rate grows with the packets in flight to the end; ask for a larger window"
	}
	return "the shape is none of those that are known"
}

// The size of the drawing of windows.
const (
	windowWidth  = 72
	windowHeight = 14
)

// windowText writes windows as a table and a drawing.
func windowText(w io.Writer, windows []measure.WindowSample) {
	rows := [][]string{{"in flight", "sent", "lost", "rate", "least", "median"}}
	var rates, offered []chart.Point
	for _, s := range windows {
		rows = append(rows, []string{fmt.Sprint(s.InFlight), fmt.Sprint(s.Sent), quantity.FormatRatio(float64(s.Lost) / float64(max(1, s.Sent))),
			quantity.FormatRate(s.BitsPerSecond), quantity.FormatSeconds(s.RTTMinSeconds), quantity.FormatSeconds(s.RTTMedianSeconds)})
		rates = append(rates, chart.Point{float64(s.InFlight), s.BitsPerSecond})
		offered = append(offered, chart.Point{float64(s.InFlight), s.BitsPerSecond / max(0.01, 1-float64(s.Lost)/float64(max(1, s.Sent)))})
	}
	fmt.Fprintln(w, strings.Join(chart.Table(rows, -1), "\n"))
	plot := chart.Plot{
		X:     chart.Scale{Label: "packets in flight", Text: func(v float64) string { return fmt.Sprint(int(v)) }},
		Y:     chart.Scale{Label: "rate", Text: quantity.FormatRate},
		Lines: []chart.Line{{Label: "answered", Points: rates}, {Label: "sent", Points: offered}},
		Mark:  rates[len(rates)-1], Marked: "the last window",
	}
	fmt.Fprintln(w, strings.Join(plot.Draw(windowWidth, windowHeight), "\n"))
}
