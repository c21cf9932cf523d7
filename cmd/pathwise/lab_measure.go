package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/web/labs"
)

// labMeasure is what the lab page runs on a host: a test that prints a JSON line for each thing that happens. It is hidden
// since ping and throughput are for people.
func labMeasure(s *session) *cobra.Command {
	var seconds float64
	var port int
	c := &cobra.Command{
		Use: "measure ping|throughput HOST", Short: "Test towards HOST, for the lab page", Hidden: true, Args: cobra.ExactArgs(2),
		Example: "  pathwise lab exec bob -- pathwise lab measure ping carol --seconds 5",
		RunE: func(c *cobra.Command, args []string) error {
			if !(seconds > 0 && seconds <= 3600) {
				return badFlag("seconds", fmt.Errorf("\"%v\": want up to 3600", seconds))
			}
			host, err := readHost(c, args[1], &port)
			if err != nil {
				return err
			}
			return labs.Measure(c.Context(), s.out, args[0], host, port, time.Duration(seconds*float64(time.Second)), s.measured)
		},
	}
	c.Flags().Float64Var(&seconds, "seconds", 10, "how long")
	c.Flags().IntVar(&port, "port", iperf3.DefaultPort, "of a transfer, the responder's port")
	return c
}
