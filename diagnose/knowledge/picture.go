package knowledge

import (
	"math"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/calc"
)

// Picture is what a formula makes of an example, as a drawing: for the page as for the terminal.
type Picture struct {
	calc.Drawing
	Marked string `json:"marked" doc:"What the mark is of"`
	Text   string `json:"text" doc:"The example, and what to see in its drawing"`
}

// pictured are the entries that have a picture beside those of formulas, which have their first example's.
var pictured = []struct {
	ids  []string
	draw func() Picture
}{
	{[]string{"slow-start", "slow-start-limited"}, drawSlowStart},
	{[]string{"congestion-avoidance", "cubic", "reno", "sawtooth"}, drawAvoidance},
	{[]string{"bandwidth-delay-product", "receive-window", "receive-window-limited", "sliding-window"}, drawWindow},
	{[]string{"bufferbloat", "queueing-delay", "working-latency"}, drawStanding},
	{[]string{"token-bucket", "traffic-policing", "policer"}, drawTokenBucket},
	{[]string{"nagle", "delayed-ack", "nagle-delayed-ack"}, drawNagle},
	{[]string{"packet-pair", "packet-dispersion"}, drawPair},
	{[]string{"delay-variation", "ipdv", "packet-delay-variation"}, drawVariation},
	{[]string{"random-loss", "loss-budget"}, drawMathis},
	{[]string{"sack", "sack-recovery", "newreno", "no-sack"}, drawMending},
}

// illustrate gives entries their pictures.
func illustrate(all []Entry) {
	for i := range all {
		e := &all[i]
		if e.Kind == Formula {
			p := example(e.ID)
			e.Picture = &p
		}
		for _, with := range pictured {
			if slices.Contains(with.ids, e.ID) {
				p := slim(with.draw())
				e.Picture = &p
			}
		}
	}
}

// example is the picture of a formula's first example.
func example(name string) Picture {
	f, err := calc.Find(name)
	if err != nil {
		return Picture{}
	}
	words := strings.Fields(f.Examples[0])
	given := map[string]string{}
	for i := 0; i+1 < len(words); i += 2 {
		given[strings.TrimPrefix(words[i], "--")] = words[i+1]
	}
	drawings := drawn(name, given)
	if len(drawings) == 0 {
		return Picture{}
	}
	return slim(Picture{drawings[0], "the example", "The example: pathwise calc " + name + " " + f.Examples[0] + "."})
}

// drawn are the drawings of a formula; the tests see to it that the inputs here are right.
func drawn(name string, given map[string]string) []calc.Drawing {
	f, err := calc.Find(name)
	if err != nil {
		return nil
	}
	_, drawings, err := f.Draw(given)
	if err != nil {
		return nil
	}
	return drawings
}

const (
	mostPoints = 41 // of a line: what a small picture shows of a curve
	digits     = 5  // of a coordinate: more than any screen has places
)

// slim leaves out of a picture what nobody sees: every entry is sent to a page at once.
func slim(p Picture) Picture {
	p.Series = slices.Clone(p.Series)
	for i, s := range p.Series {
		every := (len(s.Points) + mostPoints - 3) / (mostPoints - 1)
		var kept []calc.Point
		for n, at := range s.Points {
			if every <= 1 || n%every == 0 || n == len(s.Points)-1 {
				kept = append(kept, calc.Point{rounded(at[0]), rounded(at[1])})
			}
		}
		p.Series[i].Points = kept
	}
	p.Mark = calc.Point{rounded(p.Mark[0]), rounded(p.Mark[1])}
	return p
}

func rounded(v float64) float64 {
	if v == 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-digits+1)
	if unit < 1 {
		return math.Round(v*math.Round(1/unit)) / math.Round(1/unit) // so that decimal fractions have few digits
	}
	return math.Round(v/unit) * unit
}
