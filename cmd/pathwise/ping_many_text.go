package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/quantity"
)

// standing is what a target does.
type standing int

const (
	answersAll standing = iota // so far
	losesSome
	staysSilent
	notAsked // it has no address, or this host cannot send to it
	notKnown // nothing has become of a request yet
)

// standings are how a sentence says how many do it.
var standings = map[standing]struct{ one, many string }{
	answersAll: {"answers all", "answer all"}, losesSome: {"loses some", "lose some"}, staysSilent: {"is silent", "are silent"},
	notAsked: {"could not be asked", "could not be asked"}, notKnown: {"has not answered yet", "have not answered yet"},
}

func (t *manyTarget) standing() standing {
	switch {
	case t.rtts.Count() > 0 && t.lost == 0:
		return answersAll
	case t.rtts.Count() > 0:
		return losesSome
	case t.lost > 0:
		return staysSilent
	case t.failed != nil:
		return notAsked
	}
	return notKnown
}

// of are the targets that do something, in their order.
func (m *manyPing) of(all ...standing) (these []*manyTarget) {
	for _, t := range m.targets {
		if slices.Contains(all, t.standing()) {
			these = append(these, t)
		}
	}
	return these
}

// sentence says how many targets do what, and which is slowest.
func (m *manyPing) sentence() string {
	var parts []string
	for s := answersAll; s <= notKnown; s++ {
		switch n := len(m.of(s)); n {
		case 0:
		case 1:
			parts = append(parts, "1 "+standings[s].one)
		default:
			parts = append(parts, fmt.Sprint(n, " ", standings[s].many))
		}
	}
	text := fmt.Sprintf("%s: %s.", quantity.FormatCount(len(m.targets), "target"), strings.Join(parts, ", "))
	if there := m.of(answersAll, losesSome); len(there) > 1 {
		slowest := slices.MaxFunc(there, func(a, b *manyTarget) int { return cmp.Compare(a.rtts.Median(), b.rtts.Median()) })
		text += fmt.Sprintf(" The slowest, %s, takes %s as a rule.", slowest.Name, quantity.FormatSeconds(slowest.rtts.Median()))
	}
	return text
}

// printRows prints a line for each target, and what they do.
func (m *manyPing) printRows(w io.Writer) {
	rows := [][]string{{"target", "sent", "answered", "lost", "min", "median", "p95", "max", ""}}
	for _, t := range m.targets {
		name := t.Name
		if address := t.Address.String(); t.Address.IsValid() && address != name {
			name += " (" + address + ")"
		}
		row := []string{name, fmt.Sprint(t.sent), fmt.Sprint(t.rtts.Count()), "-", "-", "-", "-", "-", t.said}
		if t.lost > 0 || t.rtts.Count() > 0 {
			row[3] = quantity.FormatRatio(t.lossRatio())
		}
		if t.rtts.Count() > 0 {
			for i, rtt := range []float64{t.rtts.Min(), t.rtts.Median(), t.rtts.Quantile(0.95), t.rtts.Max()} {
				row[4+i] = quantity.FormatSeconds(rtt)
			}
			if t.rtts.Count() < leastOfP95 {
				row[6] = "-"
			}
		}
		if t.failed != nil {
			row[8] = t.failed.Error()
		}
		rows = append(rows, row)
	}
	printTable(w, rows, 8)
	fmt.Fprintln(w, m.sentence())
}

// lossRatio is the share of its requests that were lost, of those of which it is known.
func (t *manyTarget) lossRatio() float64 {
	return float64(t.lost) / max(1, float64(t.lost)+float64(t.rtts.Count()))
}
