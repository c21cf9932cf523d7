package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/quantity"
)

// watchPortName is the command that ping --connect runs at the far end. Help does not show it.
const watchPortName = "watch-port"

// watchPortSchema is what it says on a line of its own when it has begun to watch.
const watchPortSchema = "pathwise.port-watch/1"

// mostPortReport is more than what it says at the end, which is a measure.PortFar on a line.
const mostPortReport = 2 << 20

// watchPortCommand watches connections to a port of this host until standard input ends, and says then what it saw.
func watchPortCommand(s *session) *cobra.Command {
	var from []string
	c := &cobra.Command{
		Use: watchPortName + " ADDRESS:PORT", Short: "Be the far end of ping --connect", Hidden: true, Args: cobra.ExactArgs(1),
		Long:    "Watch connections to a port of this host from some addresses, until standard input ends, and print what was seen as JSON.",
		Example: examples([]string{watchPortName + " 127.0.0.1:22 --from 127.0.0.1"}),
		RunE: func(c *cobra.Command, args []string) error {
			to, err := netip.ParseAddrPort(args[0])
			if err != nil {
				return badFlag(watchPortName, fmt.Errorf("%q: want an address and a port, such as 192.0.2.1:22", args[0]))
			}
			var near []netip.Addr
			for _, text := range from {
				a, err := netip.ParseAddr(text)
				if err != nil {
					return badFlag("from", fmt.Errorf("%q: want addresses such as 192.0.2.1", strings.Join(from, ",")))
				}
				near = append(near, a)
			}
			ctx := s.whileInput(c.Context(), inputPatience)
			watch := probe.NewPortWatch(to, near...)
			says := json.NewEncoder(s.out)
			failed := says.Encode(map[string]string{"schema": watchPortSchema})
			<-ctx.Done()
			if err := says.Encode(watch.Finish(context.WithoutCancel(ctx))); failed == nil {
				failed = err
			}
			return failed
		},
	}
	c.Flags().StringSliceVar(&from, "from", nil, "addresses from which connections come")
	return c
}

// farPort has a host that is reached by SSH watch the far end of connections.
func (s *session) farPort(reach *fleet.SSH) probe.FarPort {
	return func(ctx context.Context, to netip.AddrPort, from netip.Addr) (func() (*measure.PortFar, string, error), error) {
		reach.Log = s.log()
		stop := s.ticking("bringing this program to " + reach.Host)
		defer stop()
		visit, err := reach.Visit(ctx)
		if err != nil {
			return nil, err
		}
		if visit.Local.IsValid() && visit.Remote == to.Addr().Unmap() { // behind address translation the host does not know what others call it
			to = netip.AddrPortFrom(visit.Local, to.Port())
		}
		w := &farWatch{visit: visit, host: reach.Host, port: to.Port()}
		if err := w.begin(ctx, netip.AddrPortFrom(to.Addr().WithZone(""), to.Port()), from.WithZone("")); err != nil {
			return nil, errors.Join(err, visit.Close())
		}
		return w.finish, nil
	}
}

// farWatch is watchPortCommand on a host that is reached by SSH.
type farWatch struct {
	visit *fleet.Visit
	host  string
	port  uint16
	lines *bufio.Scanner
}

// begin starts it, and waits until it watches. Beside the address that this host has itself, connections may come from the one that SSH comes from.
func (w *farWatch) begin(ctx context.Context, to netip.AddrPort, from netip.Addr) error {
	near := from.String()
	if seen := w.visit.Peer; seen.IsValid() && seen != from {
		near += "," + seen.WithZone("").String()
	}
	if err := w.visit.Start(ctx, watchPortName, "--from="+near, to.String()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, answersWithin, fmt.Errorf("watch on %s: it does not begin within %v", w.host, answersWithin))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = w.visit.Close() }) // which ends the reading; the caller is told by its own Close
	w.lines = bufio.NewScanner(w.visit.Stdout)
	w.lines.Buffer(nil, mostPortReport)
	began := w.lines.Scan() && strings.Contains(w.lines.Text(), watchPortSchema)
	if !stop() {
		return context.Cause(ctx)
	}
	if !began {
		return fmt.Errorf("watch on %s: %s", w.host, strings.TrimPrefix(w.visit.Says(), "pathwise: "))
	}
	return nil
}

// finish ends it, reads what it saw, and checks that nothing of it is left.
func (w *farWatch) finish() (*measure.PortFar, string, error) {
	report := make(chan []byte, 1)
	go func() { // ends with the visit
		w.lines.Scan()
		report <- w.lines.Bytes()
	}()
	err := w.visit.Close()
	const digits = 12 // of the sum, which tell one build from another
	note := fmt.Sprintf("at the far end, %s: this program was brought there by SSH (%s, %s, SHA-256 %s…), watched port %d", w.host, w.visit.Folder,
		quantity.FormatSize(w.visit.Size), w.visit.Hash[:digits], w.port)
	if err != nil {
		return nil, note, err
	}
	note += ", and was ended and taken away"
	var far measure.PortFar
	if err := document.JSON(<-report, mostPortReport, &far); err != nil {
		return nil, note, fmt.Errorf("read what was seen on %s: %w", w.host, err)
	}
	return &far, note, nil
}
