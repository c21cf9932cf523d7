package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/casebook"
	"github.com/pathwise-net/pathwise/lab/scenario"
	"github.com/pathwise-net/pathwise/quantity"
)

func labCasebook(s *session) *cobra.Command {
	var list bool
	c := &cobra.Command{
		Use: "casebook [NAME]...", Short: "Play the stories of the literature, and put our figures beside theirs",
		Long: "Play cases that the literature of network performance tells of (without a name, all: some minutes), and print each of\n" +
			"their figures beside the one that came out here. A case that does not come out as expected ends with exit status 1.\n" +
			"`pathwise lab run NAME` plays one and says what happens in each step.",
		Example: "  pathwise lab casebook --list\n  pathwise lab casebook bob-and-carol",
		RunE: func(c *cobra.Command, args []string) error {
			if list {
				return s.listCasebook()
			}
			return s.playCasebook(c.Context(), args)
		},
	}
	c.Flags().BoolVar(&list, "list", false, "say which cases there are, and play none")
	return c
}

func (s *session) listCasebook() error {
	all := casebook.List()
	doc := map[string]any{"schema": "pathwise.lab.cases/1", "cases": all}
	return s.emit(doc, func(w io.Writer) {
		rows := [][]string{{"case", "title"}}
		for i := range all {
			rows = append(rows, []string{all[i].Name, all[i].Title})
		}
		printTable(w, rows, 1)
	})
}

// playCasebook prints what was played even where it was interrupted.
func (s *session) playCasebook(ctx context.Context, names []string) error {
	o := scenario.Options{Self: []string{lab.Self()}, Progress: s.progress}
	book, err := casebook.Play(ctx, names, o, func(p *casebook.Played) {
		s.progress("")
		s.say("%s: %s after %s", p.Name, p.Verdict, quantity.FormatSeconds(p.Seconds))
	})
	s.progress("")
	if len(book.Cases) == 0 {
		return err
	}
	if emitted := s.emit(book, func(w io.Writer) { printCasebook(w, book) }); err == nil {
		err = emitted
	}
	if err == nil && book.Failed > 0 {
		return exitStatus(exitFailed) // the table says why
	}
	return err
}

// printCasebook prints a row for each figure, and one for a case that failed by something else, and sums up.
func printCasebook(w io.Writer, book *casebook.Book) {
	rows := [][]string{{"case", "figure", "reference", "ours", ""}}
	seconds := 0.0
	for i := range book.Cases {
		p := &book.Cases[i]
		seconds += p.Seconds
		name, told := p.Name, false
		for _, f := range p.Figures {
			outcome := "ok"
			if !f.OK {
				outcome, told = f.Why, true
			}
			rows = append(rows, []string{name, f.Name, cmp.Or(f.Reference, "-"), cmp.Or(f.Ours, "-"), outcome})
			name = ""
		}
		if p.Verdict != scenario.Pass && !told {
			rows = append(rows, []string{name, "", "", p.Verdict, p.Why})
		}
	}
	printTable(w, rows, 1, 2, 3, 4)
	noun := "cases"
	if len(book.Cases) == 1 {
		noun = "case"
	}
	words := []string{fmt.Sprintf("%d %s: %d as expected", len(book.Cases), noun, book.Passed)}
	for _, one := range []struct {
		count int
		word  string
	}{{book.Failed, "not"}, {book.Left, "not played"}} {
		if one.count > 0 {
			words = append(words, fmt.Sprintf("%d %s", one.count, one.word))
		}
	}
	fmt.Fprintf(w, "%s; %s\n", strings.Join(words, ", "), quantity.FormatSeconds(seconds))
}
