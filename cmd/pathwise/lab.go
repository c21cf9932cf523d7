package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/quantity"
)

func labCommand(s *session) *cobra.Command {
	var name string
	c := &cobra.Command{
		Use: "lab", Short: "Emulate a network on this machine",
		Long: "A lab is hosts (network namespaces), routers and links on this machine, described by a YAML file. It needs no\n" +
			"root where user namespaces are open.",
		Example: "  pathwise lab up path.yaml\n  pathwise lab exec bob -- ping -c 3 carol\n  pathwise lab set london geneva loss=1%\n" +
			"  pathwise lab truth\n  pathwise lab down",
	}
	c.PersistentFlags().StringVar(&name, "name", "default", "which lab, where several run")
	c.AddCommand(labUp(s, &name), labExec(s, &name), labSet(s, &name), labShow(s, &name), labTruth(s, &name), labDown(s, &name))
	return c
}

func labUp(s *session, name *string) *cobra.Command {
	var device string
	c := &cobra.Command{
		Use: "up FILE", Short: "Stand a lab up and leave it running", Args: cobra.ExactArgs(1),
		Example: "  pathwise lab up path.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			text, err := os.ReadFile(args[0])
			if err != nil {
				return &badCall{fmt.Errorf("lab file: %w", err)}
			}
			spec, err := lab.ParseSpec(args[0], text)
			if err != nil {
				return err
			}
			s.progress("standing up %d hosts…", len(spec.Hosts))
			l, err := lab.Start(c.Context(), spec, lab.Options{Name: *name, Detached: true, Device: lab.DeviceKind(device)})
			s.progress("")
			if err != nil {
				return err
			}
			return s.showLab(l)
		},
	}
	c.Flags().StringVar(&device, "device", "", "what host interfaces are made of: veth or tun (default veth)")
	return c
}

func (s *session) showLab(l *lab.Lab) error {
	state, err := l.State()
	if err != nil {
		return err
	}
	return s.emit(state, func(w io.Writer) {
		for _, n := range state.Nodes {
			fmt.Fprintf(w, "%-6s %-14s %s\n", n.Kind, n.Name, strings.Join(n.Addresses, " "))
		}
		for _, link := range state.Links {
			fmt.Fprintf(w, "link   %s - %s forward %s reverse %s\n",
				link.Between[0], link.Between[1], shapeText(link.Forward), shapeText(link.Reverse))
		}
	})
}

// shapeText is what a lab file would say.
func shapeText(s lab.ShapeState) string {
	if s.Shape == "" {
		return "{}"
	}
	return s.Shape
}

func labExec(s *session, name *string) *cobra.Command {
	return &cobra.Command{
		Use: "exec HOST -- CMD…", Short: "Run a command on a host of the lab", Args: cobra.MinimumNArgs(2),
		Long:    "Run a command on a host of the lab, with this terminal as its own. Its exit status is passed on.",
		Example: "  pathwise lab exec bob -- ping -c 3 carol",
		RunE: func(c *cobra.Command, args []string) error {
			l, err := lab.Open(*name)
			if err != nil {
				return err
			}
			// Signals are the command's to answer, so the context that ends with them is not used.
			p, err := l.Start(context.WithoutCancel(c.Context()), args[0],
				lab.Command{Argv: args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
			if err != nil {
				return err
			}
			signals := make(chan os.Signal, 8)
			signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
			defer signal.Stop(signals)
			go func() {
				for sig := range signals {
					_ = p.Signal(sig.(syscall.Signal))
				}
			}()
			status, err := p.Wait()
			if err != nil || status == 0 {
				return err
			}
			return exitStatus(status)
		},
	}
}

func labSet(s *session, name *string) *cobra.Command {
	return &cobra.Command{
		Use: "set NODE NODE KEY=VALUE…", Short: "Change a link while packets flow", Args: cobra.MinimumNArgs(3),
		Long: "Change the link between two nodes. Keys: rate, delay, loss, queue, for both ways, or after forward. (from the\n" +
			"first node named to the second) or reverse. for one.",
		Example: "  pathwise lab set london geneva loss=1% forward.delay=20ms queue=500p",
		RunE: func(_ *cobra.Command, args []string) error {
			l := &lab.Lab{Name: *name}
			if err := l.Set(args[0], args[1], args[2:]...); err != nil {
				return err
			}
			return s.showLab(l)
		},
	}
}

func labShow(s *session, name *string) *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "Show the lab as it stands", Args: cobra.NoArgs, Example: "  pathwise lab show",
		RunE: func(*cobra.Command, []string) error { return s.showLab(&lab.Lab{Name: *name}) },
	}
}

func labTruth(s *session, name *string) *cobra.Command {
	return &cobra.Command{
		Use: "truth", Short: "Show what each link did to packets", Args: cobra.NoArgs,
		Example: "  pathwise lab truth --json",
		RunE: func(*cobra.Command, []string) error {
			truth, err := (&lab.Lab{Name: *name}).Truth()
			if err != nil {
				return err
			}
			return s.emit(truth, func(w io.Writer) { printTruth(w, truth) })
		},
	}
}

func printTruth(w io.Writer, t *lab.Truth) {
	fmt.Fprintf(w, "%-24s %10s %10s %8s %8s %10s %10s %10s %12s\n",
		"link", "packets", "delivered", "loss", "queue", "min", "median", "p99", "late p99")
	for _, l := range t.Links {
		from, to := l.Between[0], l.Between[1]
		if l.Direction == "reverse" {
			from, to = to, from
		}
		fmt.Fprintf(w, "%-24s %10d %10d %8d %8d %10s %10s %10s %12s\n", from+" > "+to,
			l.Packets, l.Delivered, l.Dropped["loss"], l.Dropped["queue"],
			quantity.FormatSeconds(l.DelaySeconds.Min), quantity.FormatSeconds(l.DelaySeconds.Median),
			quantity.FormatSeconds(l.DelaySeconds.P99), quantity.FormatSeconds(l.EmulatorLateSeconds))
	}
	if t.EmulatorRefused > 0 {
		fmt.Fprintf(w, "The kernel did not take %d packets: the emulator was the bottleneck.\n", t.EmulatorRefused)
	}
}

func labDown(s *session, name *string) *cobra.Command {
	return &cobra.Command{
		Use: "down", Short: "End the lab and everything in it", Args: cobra.NoArgs, Example: "  pathwise lab down",
		RunE: func(*cobra.Command, []string) error {
			if err := (&lab.Lab{Name: *name}).Down(); err != nil {
				return err
			}
			return s.emit(map[string]string{"schema": "pathwise.lab.down/1", "name": *name}, func(io.Writer) {})
		},
	}
}
