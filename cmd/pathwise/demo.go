package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/demo"
	"github.com/pathwise-net/pathwise/terminal"
)

func demoCommand(s *session) *cobra.Command {
	var keep, meshOnly bool
	var listen string
	c := &cobra.Command{
		Use: "demo", Short: "The main job, on this machine alone, in about a minute", Args: cobra.NoArgs,
		Long: "Bob must send 50 MB to Carol, 2,000 miles away, each half hour. Two hosts with this kernel's own TCP and an emulated\n" +
			"path between them (100 Mbit/s, 50 ms) play the case: the transfer crawls; Pathwise measures, names the cause, says\n" +
			"what to change and what to expect; the change is made; it measures again.\n\n" +
			"With --keep, on a terminal, a mesh of twelve hosts in an emulated network then runs until Ctrl-C, with its pages.",
		Example: "  pathwise demo\n  pathwise demo --keep\n  pathwise demo --json",
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("listen") && !keep && !meshOnly {
				return badFlag("listen", errors.New("want --keep or --mesh with it: nothing else listens"))
			}
			if listen != "" { // else it would be told after a minute of demo
				if _, err := demoAddress(listen); err != nil {
					return err
				}
			}
			if !meshOnly {
				if err := s.playDemo(c.Context()); err != nil || !keep {
					return err
				}
			}
			switch {
			case terminal.Is(s.out):
				return s.keepDemo(c.Context(), listen)
			case meshOnly:
				return errNoTerminal
			}
			fmt.Fprintln(s.err, "note:", errNoTerminal)
			return nil
		},
	}
	f := c.Flags()
	f.BoolVar(&keep, "keep", false, "leave a mesh running afterwards, with its pages, until Ctrl-C")
	f.BoolVar(&meshOnly, "mesh", false, "that mesh at once, without Bob and Carol")
	f.StringVar(&listen, "listen", "",
		"with --keep or --mesh: where the pages are (default "+demo.UsualAddress+", or any port if that is taken)")
	return c
}

var errNoTerminal = errors.New("no mesh is kept: there is no terminal to show its address on, and to end it from by Ctrl-C")

// demoAddress is where the pages of the demonstration's mesh are to be, by --listen.
func demoAddress(listen string) (string, error) {
	at, err := demo.Address(listen)
	if err != nil && listen != "" {
		return "", badFlag("listen", err)
	}
	return at, err
}

// playDemo plays the case of Bob and Carol and prints its rounds: those before an error, too.
func (s *session) playDemo(ctx context.Context) error {
	c := demo.Case{Screen: s.demoScreen(), Run: s.runSelf}
	rounds, err := c.Play(ctx)
	if len(rounds) == 0 {
		return err
	}
	doc := map[string]any{"schema": "pathwise.demo/1", "rounds": rounds}
	return errors.Join(err, s.emit(doc, func(w io.Writer) { c.Print(w, rounds) }))
}

// keepDemo keeps the demonstration's mesh until ctx ends.
func (s *session) keepDemo(ctx context.Context, listen string) error {
	at, err := demoAddress(listen)
	if err != nil {
		return err
	}
	m := demo.Mesh{Screen: s.demoScreen(), Out: s.out, Listen: at, Serve: s.serveDemo, Invite: inviteAgain}
	if s.json {
		m.Out = s.err
	}
	return m.Keep(ctx)
}

func (s *session) demoScreen() demo.Screen {
	return demo.Screen{Say: s.say, Progress: s.progress, Ticking: s.ticking}
}

// serveDemo runs the controller of a mesh file as `pathwise serve` does, which says on said what it has to say.
func (s *session) serveDemo(ctx context.Context, file, data string, nameOf func(context.Context, string) string, said io.Writer) error {
	m, err := s.loadMesh(file)
	if err != nil {
		return err
	}
	server := &session{in: s.in, out: said, err: said, quiet: true}
	return server.serve(ctx, file, data, m, nil, nameOf)
}
