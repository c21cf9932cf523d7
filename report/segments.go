package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/quantity"
)

// parts are those of the path, as a reader sees them.
type parts struct {
	*diagnose.Parts
	Rows []part
	Left [][2]string // points that do not divide the path, and why
}

// part is one of them: a row of the table.
type part struct {
	*diagnose.Segment
	RTT, Loss, Within, Rate, Leaves, Outcome string
	Blamed                                   bool
}

// outcomeWords are what came of a part, as people read it.
var outcomeWords = map[diagnose.Outcome]string{diagnose.Passes: "pass", diagnose.Fails: "fail", diagnose.Untold: "cannot tell"}

// partsOf makes the table; nil: the path was not divided.
func partsOf(p *diagnose.Parts) *parts {
	if p == nil {
		return nil
	}
	all := &parts{Parts: p}
	for i := range p.Segments {
		s := &p.Segments[i]
		row := part{Segment: s, RTT: ifKnown(s.RTTSeconds, quantity.FormatSeconds), Rate: ifKnown(s.Throughput, quantity.FormatRate),
			Loss: "-", Within: "-", Leaves: "-", Outcome: outcomeWords[s.Outcome], Blamed: slices.Contains(p.Blamed, s.Name())}
		if l := s.LossRatio; l != nil {
			row.Loss = percentage(l.Value)
			row.Within = percentage(l.Low) + " to " + percentage(l.High)
		}
		if s.CouldReach != nil {
			row.Leaves = quantity.FormatRate(s.CouldReach.Value)
		}
		all.Rows = append(all.Rows, row)
	}
	for _, point := range p.Points {
		if point.State != diagnose.PointUsed {
			all.Left = append(all.Left, [2]string{point.Name, point.Means})
		}
	}
	return all
}

// ifKnown prints a number, or a dash where it is not known.
func ifKnown(v *float64, format func(float64) string) string {
	if v == nil {
		return "-"
	}
	return format(*v)
}

// percentage prints a small ratio in as many digits as its neighbours.
func percentage(ratio float64) string { return fmt.Sprintf("%.3f %%", 100*ratio) }

// The room of the drawing of the parts, in its own units.
const (
	barsWide  = 640.0
	barsLeft  = 210.0 // for the names
	barsRight = 80.0  // for the rates
	barRow    = 30.0
	barHigh   = 12.0
	barsLow   = 24.0 // for the axis
	// longestBarName is how many letters of a name have room.
	longestBarName = 32
)

// SVG draws what the whole path could reach through each part, with its 95 % interval, beside what each must leave to it.
func (p *parts) SVG() template.HTML {
	end := p.NeededBitsPerSecond
	for _, row := range p.Rows {
		if c := row.CouldReach; c != nil {
			end = max(end, c.Value, c.High)
		}
	}
	end = niceEnd(end)
	bottom := barRow * float64(len(p.Rows))
	x := func(v float64) float64 { return barsLeft + v/end*(barsWide-barsLeft-barsRight) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="What the whole path could reach through each part">`, barsWide, bottom+barsLow)
	for i, row := range p.Rows {
		y := barRow*float64(i) + barRow/2
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="end">%s</text>`, barsLeft-8, y+4, template.HTMLEscapeString(short(row.Name())))
		c := row.CouldReach
		if c == nil {
			fmt.Fprintf(&b, `<text x="%.1f" y="%.1f">%s</text>`, barsLeft+4, y+4, row.Outcome)
			continue
		}
		fmt.Fprintf(&b, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, row.Segment.Outcome, barsLeft, y-barHigh/2, x(c.Value)-barsLeft, barHigh)
		fmt.Fprintf(&b, `<path class="within" d="M%.1f %.1fH%.1f"/>`, x(c.Low), y, x(c.High))
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f">%s</text>`, barsWide-barsRight+6, y+4, template.HTMLEscapeString(row.Leaves))
	}
	fmt.Fprintf(&b, `<path class="grid" d="M%.1f 0V%.1fH%.1f"/>`, barsLeft, bottom, barsWide-barsRight)
	if needed := p.NeededBitsPerSecond; needed > 0 {
		fmt.Fprintf(&b, `<path class="needed" d="M%.1f 0V%.1f"/><text x="%.1f" y="%.1f" text-anchor="middle">needed: %s</text>`,
			x(needed), bottom, min(max(x(needed), barsLeft+60), barsWide-60), bottom+16, template.HTMLEscapeString(quantity.FormatRate(needed)))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) // numbers of our own, and what is escaped above
}

// short is a name for which there is room.
func short(name string) string {
	letters := []rune(name)
	if len(letters) <= longestBarName {
		return name
	}
	return string(letters[:longestBarName-1]) + "…"
}
