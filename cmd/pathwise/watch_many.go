package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/quantity"
)

// The size of what is drawn of many targets: with the names of those that are silent, and of those that could not be asked, it fits a terminal
// of 24 lines.
const (
	manyRows  = 12 // of the table
	manyNamed = 3  // lines of names
)

// view is the drawing of many targets as it is now: those that are silent by their names, of the others the worst in a table.
func (m *manyPing) view(columns int) []string {
	if m.round == 0 {
		return []string{m.screen().Faint(fmt.Sprintf("pinging %s…", quantity.FormatCount(len(m.targets), "target")))}
	}
	lines := append(m.named("silent", staysSilent, columns), m.named("not asked", notAsked, columns)...)
	if there := m.ranked(); len(there) > 0 {
		lines = append(lines, m.worst(there)...)
	}
	if m.round < uint32(m.pinger.Count) {
		lines = append(lines, m.screen().Faint(fmt.Sprintf("request %d of %d", m.round, m.pinger.Count)))
	}
	return append(lines, strings.Split(chart.Fold(m.sentence(), "", columns-1), "\n")...)
}

// printScreen prints what stands at the end, in place of the drawing.
func (m *manyPing) printScreen(w io.Writer) {
	lines := m.view(m.screen().Width())
	fmt.Fprintln(w, strings.Join(lines, "\n"))
}

// ranked are the targets that answer: those that lose most first, then the slowest.
func (m *manyPing) ranked() []*manyTarget {
	there := m.of(answersAll, losesSome)
	medians := make(map[*manyTarget]float64, len(there))
	for _, t := range there {
		medians[t] = t.rtts.Median()
	}
	slices.SortStableFunc(there, func(a, b *manyTarget) int {
		return cmp.Or(cmp.Compare(b.lossRatio(), a.lossRatio()), cmp.Compare(medians[b], medians[a]))
	})
	return there
}

// worst is a table of the first of them, and a line about the others.
func (m *manyPing) worst(there []*manyTarget) []string {
	var rows []pingFigures
	for _, t := range there[:min(manyRows, len(there))] {
		rows = append(rows, pingFigures{name: m.screen().Clipped(t.Name, maxHostShown), sent: t.sent, lost: t.lost, latest: t.recent,
			best: t.rtts.Min(), median: t.rtts.Median(), worst: t.rtts.Max()})
	}
	lines := pingTable(m.screen(), rows)
	rest := there[len(rows):]
	if len(rest) == 0 {
		return lines
	}
	text := fmt.Sprintf("and %d more, ", len(rest))
	if lossy := slices.IndexFunc(rest, func(t *manyTarget) bool { return t.lost == 0 }); lossy != 0 {
		text += fmt.Sprintf("%d of which lose some", cmp.Or(max(0, lossy), len(rest)))
	} else {
		text += "which answer all, within " + quantity.FormatSeconds(rest[0].rtts.Median()) + " as a rule"
	}
	return append(lines, m.screen().Faint(text))
}

// named are the names of the targets that do something, neighbours as a range.
func (m *manyPing) named(what string, does standing, columns int) []string {
	these := m.of(does)
	if len(these) == 0 {
		return nil
	}
	indent := strings.Repeat(" ", len(what)+2)
	lines := strings.Split(chart.Fold(strings.Join(ranges(these), ", "), indent, columns-1), "\n")
	if len(lines) > manyNamed {
		lines = append(lines[:manyNamed-1], indent+"…")
	}
	lines[0] = m.screen().Bad(what) + lines[0][len(what):]
	return lines
}

// ranges are the names of targets, in their order: of three or more whose addresses follow each other the first and the last.
func ranges(these []*manyTarget) (names []string) {
	for i := 0; i < len(these); {
		end := i + 1
		for end < len(these) && these[end-1].Address.IsValid() && these[end-1].Address.Next() == these[end].Address {
			end++
		}
		if end-i < 3 {
			end = i + 1
			names = append(names, these[i].Name)
		} else {
			names = append(names, these[i].Name+" to "+these[end-1].Name)
		}
		i = end
	}
	return names
}
