package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/sock"
)

// answeringOn begins the line that says that tests may come.
const answeringOn = "answering on "

func respondCommand(s *session) *cobra.Command {
	var port, tests, streams int
	var bind, longest string
	c := &cobra.Command{
		Use: "respond", Short: "Be the far end of tests", Args: cobra.NoArgs,
		Long: "Answer throughput tests of Pathwise and of any iperf3 client, until interrupted. By default one test runs at a time,\n" +
			"for at most five minutes.",
		Example: "  pathwise respond\n  pathwise respond --port 5202 --bind 127.0.0.1 --max-time 30s",
		RunE: func(c *cobra.Command, _ []string) error {
			limit, err := parsePositive(longest)
			if err != nil {
				return badFlag("max-time", err)
			}
			if bind != "" {
				if bind, err = readHost(c, bind, &port); err != nil {
					return badFlag("bind", err)
				}
			}
			if err := checkPort(port); err != nil {
				return err
			}
			if tests < 1 {
				return badFlag("max-tests", fmt.Errorf("\"%d\": want 1 or more", tests))
			}
			if streams < 1 {
				return badFlag("max-streams", fmt.Errorf("\"%d\": want 1 or more", streams))
			}
			listener, err := iperf3.Listen(c.Context(), sock.JoinHostPort(bind, port))
			if err != nil {
				return fmt.Errorf("listen: %w; end what uses the port, or choose another with --port", err)
			}
			if s.json {
				doc := map[string]string{"schema": "pathwise.respond/1", "address": listener.Addr().String()}
				if err := s.emit(doc, nil); err != nil {
					return err
				}
			}
			s.say(answeringOn+"%s", listener.Addr())
			server := &iperf3.Server{Log: s.log(), Policy: iperf3.Policy{MaxTests: tests, MaxDuration: limit, MaxStreams: streams}}
			return server.Serve(c.Context(), listener)
		},
	}
	flags := c.Flags()
	flags.IntVarP(&port, "port", "p", iperf3.DefaultPort, "port to answer on")
	flags.StringVar(&bind, "bind", "", "address to answer on, or ADDRESS:PORT (default: all)")
	flags.StringVar(&longest, "max-time", "5m", "longest test")
	flags.IntVar(&tests, "max-tests", 1, "tests at once; more are told that this end is busy")
	flags.IntVar(&streams, "max-streams", 128, "parallel streams of one test")
	return c
}
