package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/gateway"
	"github.com/pathwise-net/pathwise/quantity"
)

func labGateway(s *session) *cobra.Command {
	var path, span string
	c := &cobra.Command{
		Use: "gateway IFACE IFACE [KEY=VALUE…]", Short: "Take real machines through an emulated link", Args: cobra.MinimumNArgs(2),
		Long: "Join two Ethernet interfaces of this host by an emulated link, so that what stands on either side feels the path. Keys\n" +
			"are those of `pathwise lab set`; forward is from the first interface to the second. --file reads them from a file as\n" +
			"the keys of a link stand in a lab file, with rules for ports, addresses and DSCPs. Lines on standard input, such as\n" +
			"loss=1% delay=30ms, change the link. It needs CAP_NET_RAW, changes nothing on the host, and runs until Ctrl-C.",
		Example: "  pathwise lab gateway eth1 eth2 delay=20ms forward.loss=1% rate=10mbit\n" +
			"  pathwise lab gateway veth-app veth-net --file satellite.yaml --json",
		RunE: func(c *cobra.Command, args []string) error {
			config, err := gatewayConfig(path, args[2:])
			if err != nil {
				return err
			}
			ctx, stop, err := untilTime(c.Context(), span)
			if err != nil {
				return err
			}
			defer stop()
			return s.runGateway(ctx, args[0], args[1], config)
		},
	}
	c.Flags().StringVar(&path, "file", "", "the link: a YAML with the keys of a link; settings in the call go on top")
	c.Flags().StringVarP(&span, "time", "t", "", "how long (default: until Ctrl-C)")
	return c
}

func gatewayConfig(path string, settings []string) (config gateway.Config, err error) {
	if path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return config, badFlag("file", err)
		}
		if config, err = gateway.ParseConfig(path, text); err != nil {
			return config, err
		}
	}
	return config.With(settings...)
}

func (s *session) runGateway(ctx context.Context, first, second string, config gateway.Config) error {
	g, err := gateway.Open(first, second, config)
	if err != nil {
		return err
	}
	defer g.Close()
	for _, warning := range g.Warnings {
		fmt.Fprintf(s.err, "pathwise: %s\n", warning)
	}
	shapes := g.Snapshot().Shapes
	s.say("%s > %s %s\n%s > %s %s", first, second, orNothing(shapes[0]), second, first, orNothing(shapes[1]))
	if mayRead(s.in) {
		go s.changeGateway(g) // ends with the process, if not with its input
	}
	counting := make(chan struct{})
	counted := make(chan struct{})
	go func() {
		defer close(counted)
		s.countGateway(g, counting)
	}()
	runErr := g.Run(ctx)
	close(counting)
	<-counted
	r := g.Snapshot()
	if err := s.emit(r, func(w io.Writer) { s.printGateway(w, r) }); err != nil {
		return err
	}
	return runErr
}

// orNothing shows the shape of a plain wire.
func orNothing(shape string) string { return lab.ShapeState{Shape: shape}.String() }

// mayRead says whether there is an input to read: a shell stops what reads from its terminal in the background.
func mayRead(in io.Reader) bool {
	f, isFile := in.(*os.File)
	if !isFile {
		return in != nil
	}
	foreground, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err != nil || foreground == unix.Getpgrp()
}

// changeGateway changes the link as lines of the input say.
func (s *session) changeGateway(g *gateway.Gateway) {
	for lines := bufio.NewScanner(s.in); lines.Scan(); {
		settings := splitSettings(lines.Text())
		if len(settings) == 0 {
			continue
		}
		if err := g.Change(settings...); err != nil {
			fmt.Fprintf(s.err, "pathwise: %v\n", err)
			continue
		}
		s.progress("")
		shapes := g.Snapshot().Shapes
		s.say("forward %s reverse %s", orNothing(shapes[0]), orNothing(shapes[1]))
	}
}

// splitSettings cuts a line at its spaces, but not within braces or brackets.
func splitSettings(line string) (settings []string) {
	begin, depth := 0, 0
	for i, r := range line + " " {
		switch r {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ' ', '\t':
			if depth > 0 {
				continue
			}
			if i > begin {
				settings = append(settings, line[begin:i])
			}
			begin = i + 1
		}
	}
	if begin < len(line) { // a brace was left open: whoever reads the setting complains
		settings = append(settings, line[begin:])
	}
	return settings
}

// countGateway shows each second what passes, on a terminal.
func (s *session) countGateway(g *gateway.Gateway, done <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for before := g.Snapshot(); ; {
		select {
		case <-done:
			s.progress("")
			return
		case <-tick.C:
		}
		now := g.Snapshot()
		s.progress("%4.0f s  forward %s  reverse %s", now.Seconds, gatewayWay(now, before, 0), gatewayWay(now, before, 1))
		before = now
	}
}

// gatewayWay says what passed one way between two reports, and what was dropped since the beginning.
func gatewayWay(now, before *gateway.Report, way int) string {
	l := &now.Links[way]
	rate := 0.0
	if seconds := now.Seconds - before.Seconds; seconds > 0 {
		rate = float64(l.Bytes-before.Links[way].Bytes) * 8 / seconds
	}
	return fmt.Sprintf("%s, %d packets, %d dropped, %d waiting", quantity.FormatRate(rate), l.Packets, l.DroppedInAll(),
		l.Queue.Packets)
}

func (s *session) printGateway(w io.Writer, r *gateway.Report) {
	s.printLinks(w, r.Links[:])
	if r.Passed[0]+r.Passed[1] > 0 {
		fmt.Fprintf(w, "passed beside the link (ARP and the like): %d forward, %d reverse\n", r.Passed[0], r.Passed[1])
	}
	printBottleneck(w, r.Emulator)
}
