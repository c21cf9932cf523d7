package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/diagnose/knowledge"
	"github.com/pathwise-net/pathwise/web"
)

func explainCommand(s *session) *cobra.Command {
	kind, all := "", false
	c := &cobra.Command{
		Use: "explain [ID | WORD…]", Short: "Say what a finding, a metric, a formula, a setting, a fault or a term means", Args: cobra.ArbitraryArgs,
		Long: "Say in plain words what an entry of the knowledge base means, how it shows itself and what cures it; without an ID, say\n" +
			"how many entries there are of each kind. Findings are what `pathwise diagnose` may come to, metrics what measurements report, formulas what\n" +
			"`pathwise calc` works out, settings what `pathwise host` judges, faults what `pathwise lab run` plays, terms the words of the\n" +
			"field. A title or an abbreviation does as well as an ID; capitals, spaces and underscores make no difference. Several words that are no name find the entries that\n" +
			"have them.",
		Example: "  pathwise explain receive-window-limited\n  pathwise explain smoke graph\n  pathwise explain PLPMTUD\n  pathwise explain --kind finding",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && kind == "" && !all && !s.json {
				s.fitted(s.printOverview)
				return nil
			}
			if len(args) == 0 {
				return s.listKnowledge(knowledge.Kind(kind))
			}
			if kind != "" {
				return badFlag("kind", fmt.Errorf("%q: is for the list, and there is an ID: %s", kind, strings.Join(args, " ")))
			}
			text := strings.Join(args, " ")
			e, err := knowledge.Find(web.Knowledge(), text)
			if found := knowledge.Search(web.Knowledge(), text); err != nil && len(strings.Fields(text)) > 1 && len(found) > 0 {
				return s.listEntries(found)
			}
			if err != nil {
				return err
			}
			doc := struct {
				Schema string `json:"schema"`
				knowledge.Entry
			}{"pathwise.knowledge.entry/1", e}
			return s.emit(doc, func(w io.Writer) { printEntry(w, e) })
		},
	}
	c.Flags().BoolVar(&all, "all", false, "list all entries")
	c.Flags().StringVar(&kind, "kind", "", "list entries of one kind: finding, metric, formula, setting, fault, term")
	return c
}

// entryKind is a kind of entry, with what those are.
type entryKind struct {
	kind knowledge.Kind
	are  string
}

var entryKinds = []entryKind{
	{knowledge.Finding, "what `pathwise diagnose` may come to"}, {knowledge.Metric, "what measurements report"},
	{knowledge.Formula, "what `pathwise calc` works out"}, {knowledge.Setting, "what `pathwise host` judges"},
	{knowledge.Fault, "what `pathwise lab run` plays"}, {knowledge.Term, "words of the field"},
}

// printOverview says how many entries there are of each kind, and how one finds those that one looks for.
func (s *session) printOverview(w io.Writer) {
	p := s.screen()
	count := map[knowledge.Kind]int{}
	for _, e := range web.Knowledge() {
		count[e.Kind]++
	}
	var rows [][]string
	for _, k := range entryKinds {
		rows = append(rows, []string{string(k.kind), fmt.Sprint(count[k.kind]), k.are})
	}
	fmt.Fprintf(w, "The knowledge base has %d entries:\n\n", len(web.Knowledge()))
	printTable(w, rows, 2)
	fmt.Fprintln(w)
	printTable(w, [][]string{
		{p.Accent("pathwise explain loss budget"), "one entry, by its name"},
		{p.Accent("pathwise explain small window"), "all that have these words"},
		{p.Accent("pathwise explain --kind finding"), "the names of those of a kind"},
		{p.Accent("pathwise explain --all"), "the names of all"},
	}, 1)
}

func (s *session) listKnowledge(kind knowledge.Kind) error {
	if kind != "" && !slices.ContainsFunc(entryKinds, func(k entryKind) bool { return k.kind == kind }) {
		return badFlag("kind", fmt.Errorf("%q: want finding, metric, formula, setting, fault or term", kind))
	}
	listed := []knowledge.Entry{}
	for _, e := range web.Knowledge() {
		if kind == "" || e.Kind == kind {
			listed = append(listed, e)
		}
	}
	return s.listEntries(listed)
}

// listEntries lists entries in the order that they have.
func (s *session) listEntries(listed []knowledge.Entry) error {
	rows := [][]string{{"id", "kind", "title"}}
	for _, e := range listed {
		rows = append(rows, []string{e.ID, string(e.Kind), e.Title})
	}
	doc := map[string]any{"schema": "pathwise.knowledge/1", "entries": listed}
	return s.emit(doc, func(w io.Writer) { printTable(w, rows, 1, 2) })
}

func printEntry(w io.Writer, e knowledge.Entry) {
	fmt.Fprintf(w, "%s (%s)\n", e.Title, e.Kind)
	if len(e.Also) > 0 {
		fmt.Fprintf(w, "%s\n", wrapped("also: "+strings.Join(e.Also, ", ")))
	}
	fmt.Fprintf(w, "\n%s\n", wrapped(e.Text))
	for _, part := range []struct{ head, text string }{{"How it shows", e.Shows}, {"Cure", e.Cure}} {
		if part.text != "" {
			fmt.Fprintf(w, "\n%s\n", wrapped(part.head+": "+part.text))
		}
	}
	if e.Picture != nil {
		fmt.Fprintf(w, "\n%s:\n%s\n\n%s\n", e.Picture.Title, plotted(*e.Picture), wrapped(e.Picture.Text))
	}
	var near []string
	for _, other := range knowledge.Related(web.Knowledge(), e) {
		near = append(near, other.ID)
	}
	fmt.Fprintf(w, "\n%s\n", wrapped("See also: "+strings.Join(near, ", ")))
	if e.Source != "" {
		fmt.Fprintf(w, "%s\n", wrapped("Source: "+e.Source))
	}
}

// textWidth suits terminals of 80 columns.
const textWidth = 78

// wrapped breaks a text between words into lines of at most textWidth.
func wrapped(text string) string { return chart.Fold(text, "", textWidth) }
