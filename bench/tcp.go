package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// transfer is one TCP test by one tool.
type transfer struct {
	BitsPerSecond float64 // goodput at the receiver
	Congestion    string  // the sender's congestion control
	Bytes         float64 // that the receiver got
	CPU           float64 // seconds, user and system, of client and server together

	// Of datagrams: what left, in bit/s, the share that was lost, and how many of the lost ones a host lost and not the path; -1: not told.
	SentRate, Loss, HostLost float64
}

// cpuPerGB is in seconds for 10^9 bytes.
func (t transfer) cpuPerGB() float64 { return t.CPU / (t.Bytes / 1e9) }

// tool is a throughput tester: how its two ends are called, and what its client prints.
type tool struct {
	name           string
	server, client []string
	ready          string // what the server prints when it listens
	interrupt      bool   // the server does not end by itself after one test
	read           func(printed string) (transfer, error)
}

// congestion control of both tools: kernels differ in their default.
const congestion = "cubic"

// setting is what one comparison is made over: the path, and the streams of each transfer.
type setting struct {
	over    string // "veth" or "loopback"
	streams int
}

// settings are all comparisons. What limits a single stream is one processor at each end; several fill them all.
var settings = []setting{{"veth", 1}, {"veth", 8}, {"loopback", 1}, {"loopback", 8}}

func (s setting) String() string { return fmt.Sprintf("%s/%d", s.over, s.streams) }

// server is the host of the pair where servers run, and the address that it has for the client.
func (s setting) server() (host, address string) {
	if s.over == "loopback" {
		return "client", "127.0.0.1"
	}
	return "server", serverAddress
}

// chooseSettings returns the settings that a list such as "veth/1,loopback/8" names.
func chooseSettings(list string) (chosen []setting, err error) {
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(settings, func(s setting) bool { return s.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("-over: %q: no such setting; want some of %s", name, everySetting())
		}
		chosen = append(chosen, settings[i])
	}
	return chosen, nil
}

func everySetting() string {
	var names []string
	for _, s := range settings {
		names = append(names, s.String())
	}
	return strings.Join(names, ",")
}

// tools returns Pathwise and its peer, called alike, with a fresh server for each test.
func (b *bench) tools(s setting) [2]tool {
	seconds, streams := strconv.Itoa(b.seconds), strconv.Itoa(s.streams)
	_, address := s.server()
	return [2]tool{
		{name: "pathwise", ready: "answering on", interrupt: true, read: readPathwise,
			server: []string{b.pathwise, "respond"},
			client: []string{b.pathwise, "--json", "throughput", address, "--cc", congestion, "-t", seconds, "-P", streams}},
		{name: "iperf3", ready: "listening on", read: readIperf3,
			server: []string{"iperf3", "-s", "-1", "--forceflush"},
			client: []string{"iperf3", "-J", "-c", address, "-C", congestion, "-t", seconds, "-P", streams}},
	}
}

// tcp compares Pathwise with iperf3 over a plain veth pair and over loopback.
func (b *bench) tcp(ctx context.Context) error {
	peer, err := exec.CommandContext(ctx, "iperf3", "--version").Output()
	if err != nil {
		return fmt.Errorf("ask iperf3 for its version: %w", err)
	}
	version, _, _ := strings.Cut(string(peer), " (") // iperf 3.12 (cJSON 1.7.15)
	l, err := startPair(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	fmt.Fprintf(b.out, "tcp: %s, no emulation, beside %s; %d pairs of %d s\n", congestion, version, b.pairs, b.seconds)
	for _, s := range b.over {
		if err := b.compare(ctx, l, s); err != nil {
			return fmt.Errorf("%v: %w", s, err)
		}
	}
	return nil
}

// compare makes one pair of tests after the other, each tool first in every other pair.
func (b *bench) compare(ctx context.Context, l *lab.Lab, s setting) error {
	fmt.Fprintf(b.out, "over %s, streams: %d\n", s.over, s.streams)
	fmt.Fprintf(b.out, "%4s  %-8s  %29s  %29s\n", "", "", "goodput, Gbit/s", "CPU seconds per GB, both ends")
	fmt.Fprintf(b.out, "%4s  %-8s  %10s%10s%9s  %10s%10s%9s\n", "pair", "first", "pathwise", "iperf3", "ratio", "pathwise", "iperf3", "ratio")
	before, err := readMachine()
	if err != nil {
		return err
	}
	tools := b.tools(s)
	host, _ := s.server()
	var rate, cpu [2][]float64
	for pair := range b.pairs {
		first := pair % 2
		for _, i := range [2]int{first, 1 - first} {
			t, err := tools[i].measure(ctx, l, host)
			if err != nil {
				return fmt.Errorf("pair %d: %s: %w", pair+1, tools[i].name, err)
			}
			rate[i], cpu[i] = append(rate[i], t.BitsPerSecond), append(cpu[i], t.cpuPerGB())
		}
		r, c := [2]float64{rate[0][pair], rate[1][pair]}, [2]float64{cpu[0][pair], cpu[1][pair]}
		fmt.Fprintf(b.out, "%4d  %-8s  %10.2f%10.2f%9.3f  %10.4f%10.4f%9.3f\n", pair+1, tools[first].name,
			r[0]/1e9, r[1]/1e9, r[0]/r[1], c[0], c[1], c[0]/c[1])
	}
	after, err := readMachine()
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "throughput ratio pathwise/iperf3: %s\n", describeRatios(ratios(rate[0], rate[1])))
	fmt.Fprintf(b.out, "CPU seconds per GB ratio pathwise/iperf3: %s\n", describeRatios(ratios(cpu[0], cpu[1])))
	fmt.Fprintln(b.out, describeOthers(after.othersSince(before)))
	return nil
}

// measure makes one test with the client on the host of that name, and the server on another or the same one.
func (t *tool) measure(ctx context.Context, l *lab.Lab, host string) (transfer, error) {
	self, err := os.Executable()
	if err != nil {
		return transfer{}, fmt.Errorf("find this program: %w", err)
	}
	metered := []string{self, meteredFlag}
	server, err := start(ctx, l, host, t.ready, append(metered, t.server...)...)
	if err != nil {
		return transfer{}, err
	}
	printed, clientErr := output(ctx, l, "client", append(metered, t.client...)...)
	switch {
	case clientErr != nil:
		_ = server.process.Kill()
	case t.interrupt:
		_ = server.process.Signal(syscall.SIGINT)
	}
	serverPrinted, serverErr := server.wait()
	if clientErr != nil {
		return transfer{}, fmt.Errorf("client: %w", clientErr)
	}
	if serverErr != nil {
		return transfer{}, fmt.Errorf("server: %w", serverErr)
	}
	report, clientUse, err := splitUsage(printed)
	if err != nil {
		return transfer{}, err
	}
	_, serverUse, err := splitUsage(serverPrinted)
	if err != nil {
		return transfer{}, err
	}
	result, err := t.read(report)
	result.CPU = clientUse.total() + serverUse.total()
	return result, err
}

// readPathwise reads a Result.
func readPathwise(printed string) (transfer, error) {
	var r measure.Result
	if err := json.Unmarshal([]byte(printed), &r); err != nil {
		return transfer{}, fmt.Errorf("read what pathwise printed: %w", err)
	}
	t := transfer{BitsPerSecond: r.Metrics[measure.Throughput], Bytes: r.Metrics[measure.ReceivedBytes]}
	if end := r.Samples.Find(measure.Forward, measure.Sender); end != nil {
		t.Congestion = end.CongestionControl
	}
	return t, t.check()
}

// readIperf3 reads the report of iperf3 -J.
func readIperf3(printed string) (transfer, error) {
	var r struct {
		End struct {
			Received struct {
				Bytes         float64 `json:"bytes"`
				BitsPerSecond float64 `json:"bits_per_second"`
			} `json:"sum_received"`
			Congestion string `json:"sender_tcp_congestion"`
		} `json:"end"`
	}
	if err := json.Unmarshal([]byte(printed), &r); err != nil {
		return transfer{}, fmt.Errorf("read what iperf3 printed: %w", err)
	}
	t := transfer{BitsPerSecond: r.End.Received.BitsPerSecond, Bytes: r.End.Received.Bytes, Congestion: r.End.Congestion}
	return t, t.check()
}

// check refuses what cannot be compared.
func (t transfer) check() error {
	switch {
	case t.Bytes <= 0 || t.BitsPerSecond <= 0:
		return errors.New("the receiver got nothing")
	case t.Congestion != congestion:
		return fmt.Errorf("the sender's congestion control was %q, not %s", t.Congestion, congestion)
	}
	return nil
}
