package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// drawing is one graph of a Result over its time.
type drawing struct {
	Title string
	unit  string
	lines []line
}

// line is what one colour of a drawing shows.
type line struct {
	label  string
	dots   bool // singletons, which no line joins
	points [][2]float64
}

// drawings are those of a Result: round trips, what a transfer moved, and what its sender had in flight.
func drawings(r *measure.Result) (all []drawing) {
	add := func(title, unit string, lines ...line) {
		var there []line
		for _, l := range lines {
			if len(l.points) > 1 {
				there = append(there, l)
			}
		}
		if len(there) > 0 {
			all = append(all, drawing{title, unit, there})
		}
	}
	add("Round trips", "seconds", echoes(r))
	add("Moved", "bits_per_second", moved(r, measure.Forward), moved(r, measure.Reverse))
	add("In flight, and what bounds it", "bytes", windows(r)...)
	return all
}

func echoes(r *measure.Result) line {
	l := line{label: "round trip", dots: true}
	for _, e := range r.Samples.Echoes {
		if e.RTTSeconds != nil {
			l.points = append(l.points, [2]float64{e.SentSeconds, *e.RTTSeconds})
		}
	}
	return l
}

// moved is what all streams of a direction moved in each interval: by the receiver's count where there is one.
func moved(r *measure.Result, direction string) line {
	l := line{label: direction}
	for _, end := range []string{measure.Receiver, measure.Sender} {
		for _, i := range r.Samples.Intervals {
			if i.Stream == 0 && i.Direction == direction && i.End == end {
				l.points = append(l.points, [2]float64{i.StartSeconds, i.BitsPerSecond}, [2]float64{i.EndSeconds, i.BitsPerSecond})
			}
		}
		if len(l.points) > 0 {
			break
		}
	}
	return l
}

// windows are the congestion window and the receiver's, of the first stream's sender.
func windows(r *measure.Result) []line {
	congestion, receiver := line{label: "congestion window"}, line{label: "receiver's window"}
	direction := ""
	for _, s := range r.Samples.TCPInfo {
		if s.End != measure.Sender || s.Stream > 1 || direction != "" && s.Direction != direction {
			continue
		}
		direction = s.Direction
		packets, one := s.Get("snd_cwnd_packets")
		segment, two := s.Get("snd_mss_bytes")
		if one && two {
			congestion.points = append(congestion.points, [2]float64{s.ElapsedSeconds, packets * segment})
		}
		if window, known := s.Get("snd_wnd_bytes"); known {
			receiver.points = append(receiver.points, [2]float64{s.ElapsedSeconds, window})
		}
	}
	return []line{congestion, receiver}
}

// The room of a drawing, in its own units: a page is twice as wide.
const (
	wide, high            = 640.0, 200.0
	left, right, top, low = 80.0, 12.0, 12.0, 28.0 // around the plot, for numbers
)

// SVG draws it; colours are those of the page's style.
func (d drawing) SVG() template.HTML {
	endX, endY := 0.0, 0.0
	for _, l := range d.lines {
		for _, p := range l.points {
			endX, endY = max(endX, p[0]), max(endY, p[1])
		}
	}
	endY = niceEnd(endY)
	x := func(v float64) float64 { return left + v/endX*(wide-left-right) }
	y := func(v float64) float64 { return high - low - v/endY*(high-low-top) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">`, wide, high, template.HTMLEscapeString(d.Title))
	for i := range 5 {
		at := endY * float64(i) / 4
		fmt.Fprintf(&b, `<path class="grid" d="M%.1f %.1fH%.1f"/><text x="%.1f" y="%.1f" text-anchor="end">%s</text>`,
			left, y(at), wide-right, left-6, y(at)+4, template.HTMLEscapeString(quantity.Format(at, d.unit)))
	}
	fmt.Fprintf(&b, `<text x="%.1f" y="%.1f">0 s</text><text x="%.1f" y="%.1f" text-anchor="end">%s</text>`,
		left, high-8, wide-right, high-8, quantity.FormatSeconds(endX))
	for i, l := range d.lines {
		if l.dots {
			for _, p := range l.points {
				fmt.Fprintf(&b, `<circle class="dot%d" cx="%.1f" cy="%.1f" r="2"/>`, i, x(p[0]), y(p[1]))
			}
			continue
		}
		path := make([]string, len(l.points))
		for j, p := range l.points {
			path[j] = fmt.Sprintf("%.1f %.1f", x(p[0]), y(p[1]))
		}
		fmt.Fprintf(&b, `<path class="line%d" d="M%s"/>`, i, strings.Join(path, "L"))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) // numbers of our own, and what is escaped above
}

// Legend names the lines where there are several.
func (d drawing) Legend() (labels []string) {
	for _, l := range d.lines {
		labels = append(labels, l.label)
	}
	return labels
}

// niceEnd is where an axis that must show v ends: 1, 2, 4 or 8 times a power of ten, whose quarters people can read.
func niceEnd(v float64) float64 {
	if v <= 0 {
		return 1
	}
	ten := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 4, 8} {
		if f*ten >= v {
			return f * ten
		}
	}
	return 10 * ten
}
