package main

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/workload"
)

func labSet(s *session, name *string) *cobra.Command {
	return &cobra.Command{
		Use: "set NODE NODE KEY=VALUE…", Short: "Change a link while packets flow", Args: cobra.MinimumNArgs(3),
		Long: "Change the link between two nodes, all links if there are several. A key is set for both ways, or, after forward.\n" +
			"(from the first node named to the second) or reverse., for one. Packets that are on the link keep their fate.\n\n" +
			"Keys:\n" + chart.Fold(strings.Join(linkKeys(), ", ")+".", "  ", chart.Width) + "\n\n" +
			"Values are those of a lab file; one with spaces or braces needs quotes. docs/lab-file.md explains each.",
		Example: "  pathwise lab set london geneva loss=1% forward.delay=20ms queue=500p\n" +
			"  pathwise lab set london geneva 'queue={limit: 500p, codel: {}, ecn: true}' down=false",
		RunE: func(_ *cobra.Command, args []string) error {
			l := &lab.Lab{Name: *name}
			if err := l.Set(args[0], args[1], args[2:]...); err != nil {
				return err
			}
			return s.showLab(l)
		},
	}
}

// linkKeys are what can be said of a link, as package link has them.
func linkKeys() (keys []string) {
	shape := reflect.TypeFor[lab.Shape]()
	for i := range shape.NumField() {
		keys = append(keys, shape.Field(i).Tag.Get("yaml"))
	}
	return keys
}

func labRoute(s *session, name *string) *cobra.Command {
	var number int
	c := &cobra.Command{
		Use: "route AT TO VIA", Short: "Send what a node has for another one by way of a neighbour", Args: cobra.ExactArgs(3),
		Long: "From now on the node AT sends what it has for the node TO by way of its neighbour VIA. The way back is not changed.\n" +
			"Packets that are on a link go on.",
		Example: "  pathwise lab route london cern paris\n  pathwise lab route london cern paris --link 2",
		RunE: func(_ *cobra.Command, args []string) error {
			if number < 0 {
				return badFlag("link", fmt.Errorf("\"%d\": want 1, the first of the links to VIA, or more", number))
			}
			r := lab.Route{At: args[0], To: args[1], Via: args[2], Link: number}
			if err := (&lab.Lab{Name: *name}).SetRoute(r); err != nil {
				return err
			}
			doc := map[string]any{"schema": "pathwise.lab.route/1", "name": *name,
				"at": r.At, "to": r.To, "via": r.Via, "link": max(1, r.Link)}
			return s.emit(doc, func(w io.Writer) { fmt.Fprintf(w, "%s sends to %s by way of %s\n", r.At, r.To, r.Via) })
		},
	}
	c.Flags().IntVar(&number, "link", 0, "which of several links to VIA, from 1 (default the first)")
	return c
}

// labAct is what the hosts of a lab run where the fault is in a program. It is hidden since only cases are meant to use it.
func labAct(s *session) *cobra.Command {
	var roles []string
	for _, r := range workload.Roles() {
		roles = append(roles, "  "+r.Name+strings.Repeat(" ", max(0, 9-len(r.Name)))+r.Summary)
	}
	return &cobra.Command{
		Use: "act ROLE [ARGUMENTS]", Short: "Be an application that uses the network badly, or well, to order", Hidden: true,
		Long: "Play an application until it is done or told to end, and print what it did as one JSON document. Roles:\n\n" +
			strings.Join(roles, "\n"),
		Example:            "  pathwise lab exec carol -- pathwise lab act sink",
		DisableFlagParsing: true, // a role has flags of its own
		Args:               cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == "-h" || args[0] == "--help" {
				return c.Help()
			}
			return workload.Run(c.Context(), args[0], args[1:], s.out)
		},
	}
}
