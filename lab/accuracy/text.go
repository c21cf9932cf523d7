package accuracy

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Write writes the figures as Markdown whose tables line up, for people who read it as it is and for docs/accuracy.md.
func (f *Figures) Write(w io.Writer) {
	played := 0
	for _, n := range f.States {
		played += n
	}
	fmt.Fprintf(w, "%d samples were played: %s. A diagnosis took %.1f s on average; the processors were busy for %.0f %% of the time.\n\n",
		played, states(f.States), f.Seconds, 100*f.Busy)
	table(w, []string{"what", "of", "share", "95 % interval", "wanted"}, [][]string{
		row("faults that bind: verdict right", f.Right, "at least 95 %"),
		row("of them: right in the first three findings", f.Three, "at least 99 %"),
		row("of them: unknown or unexplained", f.None, "at most 10 %"),
		row("healthy paths: a problem is named", f.Problems, "at most 1 %"),
		row("two faults at once: both named", f.Both, "at least 85 %"),
		row("predictions within 15 % of what the advice reached", f.Predicted, "at least 90 %"),
		row("faults that do not bind: another problem is named", f.LooseWrong, "-"),
	})
	fmt.Fprint(w, "\n### Causes and verdicts\n\n")
	rows := [][]string{}
	for _, r := range f.Causes {
		rows = append(rows, append(row(r.Name, r.Right), fmt.Sprint(r.Left), verdicts(r.Verdicts)))
	}
	table(w, []string{"truth", "of", "right", "95 % interval", "left out", "verdicts"}, rows)
	fmt.Fprint(w, "\n### Worst strata\n\n")
	rows = nil
	for _, r := range f.Strata[:min(len(f.Strata), worstStrata)] {
		rows = append(rows, append(row(r.Name, r.Right), verdicts(r.Verdicts)))
	}
	table(w, []string{"stratum", "of", "right", "95 % interval", "verdicts"}, rows)
	fmt.Fprint(w, "\n### What looks alike\n\n")
	rows = nil
	for _, m := range f.Mimics {
		rows = append(rows, append(row(m.Pair[0]+", "+m.Pair[1], m.Apart), percentOf(m.Right)))
	}
	table(w, []string{"pair", "of", "told apart", "95 % interval", "verdict right"}, rows)
	fmt.Fprint(w, "\n### Confidence\n\n")
	rows = nil
	for _, s := range f.Sure {
		rows = append(rows, row(fmt.Sprintf("from %.0f %%", 100*s.From), s.Right))
	}
	table(w, []string{"confidence of the verdict", "of", "right", "95 % interval"}, rows)
}

// worstStrata is how many strata are listed, the worst.
const worstStrata = 10

// WriteWrong lists the samples that count and are not right, a line each.
func (f *Figures) WriteWrong(w io.Writer) {
	for i := range f.Wrong {
		o := &f.Wrong[i]
		fmt.Fprintf(w, "%-46s %-24s %s; %s\n", o.Sample.Name, o.Verdict, o.Sample.Path.describe(), o.Sample.Says)
	}
}

func row(what string, s Share, more ...string) []string {
	return append([]string{what, fmt.Sprint(s.Of), percentOf(s), fmt.Sprintf("%.1f to %.1f %%", 100*s.Low, 100*s.High)}, more...)
}

func percentOf(s Share) string {
	if s.Of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*s.Ratio())
}

// verdicts lists them, the most frequent first.
func verdicts(all map[string]int) string {
	names := slices.Sorted(maps.Keys(all))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(all[b], all[a]) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, all[name])
	}
	return strings.Join(names, ", ")
}

func states(all map[State]int) string {
	var list []string
	for _, one := range []struct {
		state State
		says  string
	}{{Counts, "count"}, {Loose, "do not bind"}, {Unwell, "are not healthy"}, {Weak, "were too much for the emulator"}, {Broken, "could not be played"}} {
		if n := all[one.state]; n > 0 || one.state == Counts {
			list = append(list, fmt.Sprintf("%d %s", n, one.says))
		}
	}
	return strings.Join(list, ", ")
}

// table writes a table of Markdown whose columns line up.
func table(w io.Writer, head []string, rows [][]string) {
	widths := make([]int, len(head))
	for _, r := range append([][]string{head}, rows...) {
		for i, cell := range r {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	line := func(cells []string, fill string) {
		for i, cell := range cells {
			padding := strings.Repeat(fill, widths[i]-utf8.RuneCountInString(cell))
			fmt.Fprintf(w, "| %s%s ", cell, padding)
		}
		fmt.Fprintln(w, "|")
	}
	line(head, " ")
	line(make([]string, len(head)), "-")
	for _, r := range rows {
		line(r, " ")
	}
}
