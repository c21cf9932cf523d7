package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// fitHelp has the help of all commands fit a terminal.
func (s *session) fitHelp(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		long := c.Long
		defer func() { c.Long = long; c.SetOut(s.out) }()
		s.fitted(func(w io.Writer) {
			if s.live() {
				c.Long = paragraphs(long)
			}
			c.SetOut(w)
			help(c, args)
		})
	})
}

// paragraphs joins lines that end within a sentence.
func paragraphs(text string) string {
	var all strings.Builder
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		all.WriteString(line)
		switch {
		case i == len(lines)-1:
		case line == "" || lines[i+1] == "" || strings.HasSuffix(line, ".") || strings.HasSuffix(line, ":") || strings.HasPrefix(lines[i+1], " "):
			all.WriteString("\n")
		default:
			all.WriteString(" ")
		}
	}
	return all.String()
}

// flagGroup are flags of a command that its help has together.
type flagGroup struct {
	title string
	names []string
}

// groupFlags has the usage of a command list its flags in groups; those in none come last.
func groupFlags(c *cobra.Command, groups []flagGroup) {
	c.SetUsageFunc(func(c *cobra.Command) error {
		w := c.OutOrStderr()
		fmt.Fprintf(w, "Usage:\n  %s\n\nExamples:\n%s\n", c.UseLine(), c.Example)
		rest := pflag.NewFlagSet("", pflag.ContinueOnError)
		grouped := map[string]bool{}
		for _, g := range groups {
			set := pflag.NewFlagSet("", pflag.ContinueOnError)
			for _, name := range g.names {
				set.AddFlag(c.Flags().Lookup(name))
				grouped[name] = true
			}
			fmt.Fprintf(w, "\n%s:\n%s", g.title, set.FlagUsages())
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !grouped[f.Name] {
				rest.AddFlag(f)
			}
		})
		_, err := fmt.Fprintf(w, "\nOther flags:\n%s\nGlobal Flags:\n%s", rest.FlagUsages(), c.InheritedFlags().FlagUsages())
		return err
	})
}
