package main

import (
	"context"
	"embed"
	"fmt"
	"path"
	"strings"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/faults"
	"github.com/pathwise-net/pathwise/lab/scenario"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// toldFaults are the paths of the part told: faults of the lab's library, one that is none first, and then paths that are the kernel's.
var toldFaults = []string{"path-full", "bufferbloat", "random-loss", "shallow-buffer", "policer", "receive-window-limited",
	"pmtu-blackhole", "duplex-mismatch", "reordering-harmful", "nagle-delayed-ack", "kernel-loss-back", "kernel-option-lost",
	"kernel-stopped-reader"}

//go:embed testdata/told/*.yaml
var kernelCases embed.FS

// toldTools is what a person runs from host a towards host b, a line of shell each, in their order, and which lines of what it prints
// matter. iperf3 has a server of its own at host b. Each ends by itself where nothing comes back.
var toldTools = []struct {
	name, run string
	keep      func(line string) bool
}{
	{"ping", "ping -c 20 -i 0.2 -q b", isPingSum},
	{"traceroute", "traceroute -n -q 1 -w 1 b", func(line string) bool { return !strings.HasPrefix(line, "traceroute") }},
	{"mtr", "mtr -n -r -c 20 -i 0.2 b", func(line string) bool { return strings.Contains(line, "|--") }},
	{"iperf3", "timeout 20 iperf3 -c b -p 5299 -t 6 -C cubic -f m", isTransferSum},
	{"iperf3 -R", "timeout 20 iperf3 -c b -p 5299 -t 6 -C cubic -f m -R", isTransferSum},
	{"ping beside", "timeout 20 iperf3 -c b -p 5299 -t 6 -C cubic >/dev/null & sleep 2; ping -c 15 -i 0.2 -q b; wait", isPingSum},
}

func isPingSum(line string) bool {
	return strings.Contains(line, "packets transmitted") || strings.HasPrefix(line, "rtt ")
}

// isTransferSum keeps the last lines of a transfer, and its fifth second, which tells the congestion window.
func isTransferSum(line string) bool {
	return strings.HasSuffix(line, "sender") || strings.HasSuffix(line, "receiver") || strings.Contains(line, "  4.00-5.00 ") ||
		strings.Contains(line, "error")
}

// told prints what common tools tell of paths whose faults are known, and what a diagnosis says of the same lab.
func (b *bench) told(ctx context.Context) error {
	for i, name := range b.paths {
		if i > 0 {
			fmt.Fprintln(b.out)
		}
		c, err := readTold(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(b.out, "told: %s: %s\n", name, c.Title)
		report, err := scenario.Run(ctx, c, scenario.Options{Self: []string{b.pathwise}, Diagnosed: b.diagnosed,
			After: b.asked})
		if err != nil {
			return err
		}
		if report.Verdict != scenario.Pass {
			fmt.Fprintf(b.out, "  not all of it could be played: %s\n", report.Why)
		}
	}
	return nil
}

// readTold reads a case of the library, or of a path that is the kernel's.
func readTold(name string) (*scenario.Case, error) {
	text, err := kernelCases.ReadFile(path.Join("testdata/told", name+".yaml"))
	if err != nil {
		if text, err = faults.Read(name); err != nil {
			return nil, err
		}
	}
	return scenario.Parse(name+".yaml", text)
}

// mostTold bounds a diagnosis in bytes: ten times the largest.
const mostTold = 32 << 20

// diagnosed prints what a diagnosis says: its verdict, and of each finding that is no mere info what it means.
func (b *bench) diagnosed(text []byte) error {
	var d diagnose.Diagnosis
	if err := document.JSON(text, mostTold, &d); err != nil {
		return fmt.Errorf("read diagnosis: %w", err)
	}
	expected := "unknown"
	if d.ExpectedBitsPerSecond != nil {
		expected = quantity.FormatRate(*d.ExpectedBitsPerSecond)
	}
	fmt.Fprintf(b.out, "  %-12s verdict %s; achieved %s, expected %s\n", "diagnose", d.Verdict,
		quantity.FormatRate(d.AchievedBitsPerSecond), expected)
	for _, f := range d.Findings {
		if f.Severity == measure.Info && d.Verdict != diagnose.Healthy {
			continue
		}
		after := ""
		if f.Predicted != nil {
			after = "; then expect " + quantity.FormatRate(f.Predicted.BitsPerSecond)
		}
		fmt.Fprintf(b.out, "  %-12s %s: %s %s: %s%s\n", "", f.Severity, f.ID, f.Way, f.Explanation, after)
	}
	return nil
}

// asked runs what a person would, while the lab stands.
func (b *bench) asked(ctx context.Context, stage *scenario.Stage) error {
	server, err := start(ctx, stage.Lab, "b", "listening", "iperf3", "-s", "-p", "5299", "--forceflush")
	if err != nil {
		return err
	}
	defer func() {
		_ = server.process.Kill()
		_, _ = server.wait() // killed, and says so
	}()
	for _, tool := range toldTools {
		printed, err := stage.Run(ctx, "a", []string{"sh", "-c", "{ " + tool.run + "; } 2>&1; true"})
		if err != nil {
			return err
		}
		name := tool.name
		for line := range strings.Lines(string(printed)) {
			if line = strings.TrimRight(line, " \n"); line != "" && tool.keep(line) {
				fmt.Fprintf(b.out, "  %-12s %s\n", name, strings.TrimSpace(line))
				name = ""
			}
		}
		if name != "" {
			fmt.Fprintf(b.out, "  %-12s (nothing within 20 s)\n", name)
		}
	}
	return nil
}
