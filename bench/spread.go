package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pathwise-net/pathwise/stat"
)

// spreadRates are the packets/s of the part spread.
var spreadRates = []int{10, 100, 1000, 10_000}

// A tool sends for spreadSeconds in each setting, at the least rate for as long as spreadLeast packets take.
const (
	spreadSeconds = 5
	spreadLeast   = 100
)

// gauge is a tool that measures round trips.
type gauge struct {
	name string
	most int // packets/s that it can be told to send
	argv func(packets, rate int) []string
	read func(printed string) ([]float64, error) // in seconds
}

// spread prints the round trips over a plain veth pair that each tool reports, side by side, at rates from 10 to 10,000 packets/s.
func (b *bench) spread(ctx context.Context) error {
	l, err := startPair(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	for _, argv := range [][]string{{b.pathwise, "respond"}, {"irtt", "server", "-i", "0"}} {
		ready := "answering stamp"
		if argv[0] == "irtt" {
			ready = "starting IPv4 listener"
		}
		server, err := start(ctx, l, "server", ready, argv...)
		if err != nil {
			return err
		}
		defer server.wait() //nolint:errcheck // ended by a signal
		defer server.process.Signal(syscall.SIGINT)
	}
	fmt.Fprintf(b.out, "spread: round trips over veth as each tool reports them, µs; the tools take turns\n")
	fmt.Fprintf(b.out, "%9s  %-24s%8s%8s%8s%8s%14s\n", "packets/s", "by", "replies", "min", "median", "p99", "p99 - median")
	before, err := readMachine()
	if err != nil {
		return err
	}
	for _, rate := range spreadRates {
		packets := max(spreadSeconds*rate, spreadLeast)
		for _, g := range b.gauges() {
			if rate > g.most {
				fmt.Fprintf(b.out, "%9d  %-24s%8s\n", rate, g.name, fmt.Sprintf("at most %d packets/s", g.most))
				continue
			}
			printed, err := output(ctx, l, "client", g.argv(packets, rate)...)
			if err != nil {
				return err
			}
			trips, err := g.read(printed)
			if err != nil {
				return err
			}
			b.printSpread(rate, g.name, trips)
		}
	}
	after, err := readMachine()
	if err == nil {
		fmt.Fprintln(b.out, describeOthers(after.othersSince(before)))
	}
	return err
}

func (b *bench) printSpread(rate int, name string, trips []float64) {
	fmt.Fprintf(b.out, "%9d  %-24s%8d", rate, name, len(trips))
	if len(trips) > 0 {
		slices.Sort(trips)
		median, p99 := stat.Median(trips), stat.Quantile(trips, 0.99)
		fmt.Fprintf(b.out, "%8.0f%8.0f%8.0f%14.0f", trips[0]*1e6, median*1e6, p99*1e6, (p99-median)*1e6)
	}
	fmt.Fprintln(b.out)
}

// gauges are the tools of the part spread. Debian's ping and fping take intervals of whole milliseconds.
func (b *bench) gauges() []gauge {
	every := func(rate int) string { return strconv.FormatFloat(1/float64(rate), 'g', -1, 64) }
	millis := func(rate int) string { return strconv.Itoa(1000 / rate) }
	return []gauge{
		{"Debian's ping", 1000, func(packets, rate int) []string {
			return []string{"ping", "-n", "-c", strconv.Itoa(packets), "-i", every(rate), serverAddress}
		}, readPing},
		{"fping", 1000, func(packets, rate int) []string {
			return []string{"fping", "-c", strconv.Itoa(packets), "-p", millis(rate), serverAddress}
		}, readFping},
		{"irtt", spreadRates[len(spreadRates)-1], func(packets, rate int) []string {
			return []string{"irtt", "client", "-Q", "-i", (time.Second / time.Duration(rate)).String(),
				"-d", (time.Duration(packets) * time.Second / time.Duration(rate)).String(), "--wait=100ms", "-o", "-", serverAddress}
		}, readIrtt},
		{"pathwise ping", 1000, func(packets, rate int) []string {
			return []string{b.pathwise, "--json", "ping", "-c", strconv.Itoa(packets), "-i", every(rate), serverAddress}
		}, readPathwisePing},
		{"pathwise owd (STAMP)", spreadRates[len(spreadRates)-1], func(packets, rate int) []string {
			return []string{b.pathwise, "--json", "owd", "-c", strconv.Itoa(packets), "-i", every(rate), serverAddress}
		}, readPathwisePing},
	}
}

// readFping reads the lines of fping -c, such as "192.0.2.2 : [0], 64 bytes, 0.045 ms (0.045 avg, 0% loss)".
func readFping(printed string) ([]float64, error) {
	var seconds []float64
	for line := range strings.Lines(printed) {
		_, after, found := strings.Cut(line, "bytes, ")
		if !found {
			continue
		}
		text, _, _ := strings.Cut(after, " ms")
		ms, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("read what fping printed: %w", err)
		}
		seconds = append(seconds, ms/1e3)
	}
	return seconds, nil
}

// readIrtt reads the round trips of irtt's JSON, in ns.
func readIrtt(printed string) ([]float64, error) {
	var document struct {
		RoundTrips []struct {
			Lost  string
			Delay struct{ RTT int64 }
		} `json:"round_trips"`
	}
	if err := json.Unmarshal([]byte(printed), &document); err != nil {
		return nil, fmt.Errorf("read what irtt printed: %w", err)
	}
	var seconds []float64
	for _, trip := range document.RoundTrips {
		if trip.Lost == "false" {
			seconds = append(seconds, float64(trip.Delay.RTT)/1e9)
		}
	}
	return seconds, nil
}
