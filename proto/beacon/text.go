package beacon

import (
	"math"
	"strconv"
	"time"

	"github.com/pathwise-net/pathwise/chart"
)

// Quantity is what a table of a Report shows of each pair.
type Quantity int

// The quantities.
const (
	Loss       Quantity = iota // in percent
	Delays                     // the median, in ms
	Variations                 // the 95th percentile of PDV, in ms
	Reordering                 // probes
	Copies                     // probes
	Hops                       // the least
)

// Quantities are all of them, in the order in which they are shown.
var Quantities = []Quantity{Loss, Delays, Variations, Reordering, Copies, Hops}

// String is the heading of the quantity's table.
func (q Quantity) String() string {
	return map[Quantity]string{Loss: "loss, %", Delays: "delay, median, ms", Variations: "delay variation, p95 of PDV, ms",
		Reordering: "reordered, probes", Copies: "duplicates, probes", Hops: "hops"}[q]
}

// none stands where nothing is known.
const none = "-"

// Of is the quantity of one pair as a number; NaN where it is not known.
func (q Quantity) Of(p *Pair) float64 {
	f := &p.Figures
	switch {
	case !p.Told || f.Judged() == 0:
		return math.NaN()
	case q == Loss:
		return 100 * f.Loss()
	case f.Received == 0, q == Variations && f.Received == 1, q == Hops && f.Hops < 0:
		return math.NaN()
	case q == Delays:
		return milliseconds(f.Delay.Median)
	case q == Variations:
		return milliseconds(f.Variation.PDV)
	case q == Reordering:
		return float64(f.Reordered)
	case q == Copies:
		return float64(f.Duplicates)
	}
	return float64(f.Hops)
}

// cell is the quantity of a pair as text, followed by ~ where it is not final.
func (q Quantity) cell(p *Pair) string {
	v := q.Of(p)
	if math.IsNaN(v) {
		return none
	}
	digits := map[Quantity]int{Loss: 1, Delays: 2, Variations: 2}[q]
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if !p.Final {
		text += "~"
	}
	return text
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Table is the matrix of a quantity as lines: a row for each sender, with its number and name, and a column for each receiver, by number. What is
// not known is "-"; what more probes may still change ends in "~".
func (r *Report) Table(q Quantity) []string {
	heading := []string{"from \\ to", ""}
	for i := range r.Members {
		heading = append(heading, strconv.Itoa(i+1))
	}
	rows := [][]string{heading}
	next := 0 // of the pairs, which are in the order of the members
	for i, sender := range r.Members {
		row := []string{strconv.Itoa(i+1) + " " + sender.Name, sender.address()}
		for j := range r.Members {
			if i == j {
				row = append(row, "")
				continue
			}
			row = append(row, q.cell(&r.Pairs[next]))
			next++
		}
		rows = append(rows, row)
	}
	return chart.Table(rows, 1)
}

// address is where a member's packets come from, as text.
func (m *Member) address() string {
	switch {
	case m.Self:
		return "here"
	case m.Address.IsValid():
		return m.Address.String()
	}
	return none // never heard here
}
