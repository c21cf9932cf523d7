package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"syscall"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// interopPath is a path on which what is in flight when a test ends is no small thing: 250 kB and a queue.
const interopPath = `
hosts: {client: {}, server: {}}
links: [{between: [client, server], rate: 100mbit, delay: 10ms}]
`

// interopCalls are options that both tools' clients understand alike.
var interopCalls = []string{"-t 4", "-t 4 -R", "-t 4 -P 4", "-t 4 --bidir", "-n 20000000"}

// counted is what the two ends of a test counted, for each direction that was tested.
type counted struct{ sent, received []float64 }

// interop lets each tool's client test against the other's server, and compares what the ends counted.
func (b *bench) interop(ctx context.Context) error {
	spec, err := lab.ParseSpec("interop", []byte(interopPath))
	if err != nil {
		return err
	}
	l, err := lab.Start(ctx, spec, lab.Options{})
	if err != nil {
		return err
	}
	defer l.Close()
	fmt.Fprintln(b.out, "interop: bytes by both ends of a test over 100 Mbit/s, 20 ms; each tool's client against the other's server")
	fmt.Fprintf(b.out, "%-10s %-10s %-14s %14s %14s %10s\n", "client", "server", "options", "sent", "received", "apart")
	for _, side := range []struct {
		name, peer     string
		client, server []string
		ready          string
		interrupt      bool
		read           func(string) (counted, error)
	}{
		{name: "iperf3", peer: "pathwise", client: []string{"iperf3", "-J", "-c", "server"},
			server: []string{b.pathwise, "respond"}, ready: "answering on", interrupt: true, read: countedByIperf3},
		{name: "pathwise", peer: "iperf3", client: []string{b.pathwise, "--json", "throughput", "server"},
			server: []string{"iperf3", "-s", "-1", "--forceflush"}, ready: "listening on", read: countedByPathwise},
	} {
		for _, options := range interopCalls {
			server, err := start(ctx, l, "server", side.ready, side.server...)
			if err != nil {
				return err
			}
			printed, err := output(ctx, l, "client", append(side.client, strings.Fields(options)...)...)
			if side.interrupt || err != nil {
				_ = server.process.Signal(syscall.SIGINT)
			}
			if _, serverErr := server.wait(); err == nil {
				err = serverErr
			}
			if err != nil {
				return fmt.Errorf("%s client, %s: %w", side.name, options, err)
			}
			c, err := side.read(printed)
			if err != nil {
				return fmt.Errorf("%s client, %s: %w", side.name, options, err)
			}
			for i := range c.sent {
				fmt.Fprintf(b.out, "%-10s %-10s %-14s %14.0f %14.0f %8.3f %%\n", side.name, side.peer, options,
					c.sent[i], c.received[i], 100*(c.sent[i]-c.received[i])/c.sent[i])
			}
		}
	}
	return nil
}

func countedByIperf3(printed string) (counted, error) {
	type sum struct {
		Bytes float64 `json:"bytes"`
	}
	var r struct {
		End struct {
			Sent         sum  `json:"sum_sent"`
			Received     sum  `json:"sum_received"`
			SentBack     *sum `json:"sum_sent_bidir_reverse"`
			ReceivedBack *sum `json:"sum_received_bidir_reverse"`
		} `json:"end"`
	}
	if err := json.Unmarshal([]byte(printed), &r); err != nil {
		return counted{}, fmt.Errorf("read what iperf3 printed: %w", err)
	}
	c := counted{sent: []float64{r.End.Sent.Bytes}, received: []float64{r.End.Received.Bytes}}
	if r.End.SentBack != nil && r.End.ReceivedBack != nil {
		c.sent, c.received = append(c.sent, r.End.SentBack.Bytes), append(c.received, r.End.ReceivedBack.Bytes)
	}
	return c, nil
}

func countedByPathwise(printed string) (counted, error) {
	var r measure.Result
	if err := json.Unmarshal([]byte(printed), &r); err != nil {
		return counted{}, fmt.Errorf("read what pathwise printed: %w", err)
	}
	c := counted{sent: []float64{r.Metrics[measure.SentBytes]}, received: []float64{r.Metrics[measure.ReceivedBytes]}}
	if sent, ok := r.Get(measure.ReverseSentBytes); ok {
		c.sent, c.received = append(c.sent, sent), append(c.received, r.Metrics[measure.ReverseReceivedBytes])
	}
	return c, nil
}
