package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/stat"
)

const (
	flowsBytes  = 500             // of payload in a datagram
	flowsLast   = 5 * time.Second // each stream
	flowsRounds = 3               // in which tools take turns
	mgenPort    = 5000
)

// flowsRates are datagrams a second.
var flowsRates = []int{100, 1000, 10_000}

// flowsTool sends an even stream by a script of its own.
type flowsTool struct {
	name         string
	server       []string
	ready        string
	port         int
	client       []string
	heard        int       // datagrams that came, of all rounds
	errs, drifts []float64 // ns; of all rounds
}

// flowsTools are Pathwise and MGEN, called alike at a rate. RUDE and CRUDE are in no Debian of today.
func (b *bench) flowsTools(rate int) []*flowsTool {
	script := fmt.Sprintf("flow a end %v constant rate %d/s size %d", flowsLast, rate, flowsBytes)
	all := []*flowsTool{{name: "pathwise", server: []string{b.pathwise, "respond"}, ready: "answering on", port: 5214,
		client: []string{b.pathwise, "flows", script, "--to", serverAddress, "--json"}}}
	if _, err := exec.LookPath("mgen"); err == nil {
		all = append(all, &flowsTool{name: "mgen", server: []string{"mgen", "port", strconv.Itoa(mgenPort)}, ready: "START", port: mgenPort,
			client: []string{"mgen", "event", fmt.Sprintf("ON 1 UDP SRC %d DST %s/%d PERIODIC [%d %d]", mgenPort+1, serverAddress, mgenPort, rate, flowsBytes),
				"event", fmt.Sprintf("%g OFF 1", flowsLast.Seconds())}})
	}
	return all
}

// flows looks at how evenly scripted traffic comes at the server's interface, by tcpdump there.
func (b *bench) flows(ctx context.Context) error {
	l, err := startPair(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	fmt.Fprintf(b.out, "flows: %d bytes of payload a datagram, %d rounds of %v each, over veth without emulation; tools take turns\n", flowsBytes, flowsRounds, flowsLast)
	fmt.Fprintf(b.out, "spacing, µs: of one datagram from the one before, less what is even; place: from where the script has it, less the least of the round\n")
	fmt.Fprintf(b.out, "%10s  %-10s%12s%12s%12s%12s%14s%12s%12s\n", "a second", "by", "datagrams", "of", "spacing", "p99", "place median", "p99", "longest")
	for _, rate := range flowsRates {
		tools := b.flowsTools(rate)
		for range flowsRounds {
			for _, t := range tools {
				if err := t.watch(ctx, l, rate); err != nil {
					return fmt.Errorf("%s at %d/s: %w", t.name, rate, err)
				}
			}
		}
		for _, t := range tools {
			spaced, placed := stat.Summarize(t.errs), stat.Summarize(t.drifts)
			fmt.Fprintf(b.out, "%10d  %-10s%12d%12d%12.1f%12.1f%14.1f%12.1f%12.1f\n", rate, t.name, t.heard, flowsRounds*rate*int(flowsLast/time.Second),
				spaced.Median/1e3, spaced.P99/1e3, placed.Median/1e3, placed.P99/1e3, placed.Max/1e3)
		}
	}
	return nil
}

// watch makes one stream of a tool, with tcpdump at the server's interface.
func (t *flowsTool) watch(ctx context.Context, l *lab.Lab, rate int) error {
	server, err := start(ctx, l, "server", t.ready, t.server...)
	if err != nil {
		return err
	}
	dump, err := start(ctx, l, "server", "listening on", "tcpdump", "-i", "v0", "-n", "-tt", "-q", "-s", "64", "-B", "65536",
		"--time-stamp-precision=nano", "-Q", "in", "udp", "dst", "port", strconv.Itoa(t.port))
	if err == nil {
		_, err = output(ctx, l, "client", t.client...)
		_ = dump.process.Signal(syscall.SIGINT)
		seen, dumpErr := dump.wait()
		err = errors.Join(err, dumpErr)
		t.note(parsePieces(seen), rate)
	}
	_ = server.process.Signal(syscall.SIGINT)
	_, _ = server.wait() // mgen's status is that of an interrupted program
	return err
}

// note adds what came of a round.
func (t *flowsTool) note(pieces []piece, rate int) {
	gap := 1e9 / float64(rate)
	errs, _ := spacing(pieces, gap)
	t.heard, t.errs = t.heard+len(pieces), append(t.errs, errs...)
	t.drifts = append(t.drifts, places(pieces, gap)...)
}

// places returns how much later than evenly spaced each datagram of a stream came, less the least of all, in ns. A tool that leaves one out is late
// from then on.
func places(pieces []piece, gap float64) []float64 {
	late := make([]float64, len(pieces))
	least := 0.
	for i, p := range pieces {
		late[i] = float64(p.stamp-pieces[0].stamp) - float64(i)*gap
		least = min(least, late[i])
	}
	for i := range late {
		late[i] -= least
	}
	return late
}
