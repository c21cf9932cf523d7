package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
	pinger "github.com/pathwise-net/pathwise/proto/echo"
	"github.com/pathwise-net/pathwise/stat"
)

// The part many: each target is asked once a second, for manySeconds; the tools take turns manyTurns times.
const (
	manyTargets = 2000
	manySeconds = 10
	manyTurns   = 3
)

// manyPrefixes are addresses that all answer: those of loopback, and over veth a block for benchmarks (RFC 2544).
var manyPrefixes = []struct{ over, prefix string }{{"loopback", "127.1.0.0/21"}, {"veth", "198.18.0.0/21"}}

// answers is what a tool says of all its targets.
type answers struct {
	Sent, Answered int
	RTTMean        float64 // s
}

// many prints what many targets at once take of one process, ours and fping, side by side.
func (b *bench) many(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	l, err := startPair(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	block := manyPrefixes[1].prefix // of which each address is the server's
	for host, command := range map[string][]string{
		"server": {"ip", "route", "add", "local", block, "dev", "lo"}, "client": {"ip", "route", "add", block, "via", serverAddress},
	} {
		if _, err := output(ctx, l, host, command...); err != nil {
			return err
		}
	}
	fmt.Fprintf(b.out, "many: %d targets pinged once a second from one process, %d s; CPU: share of one processor, start to end\n", manyTargets, manySeconds)
	fmt.Fprintf(b.out, "%-9s %-11s%9s%10s%8s%11s%14s\n", "over", "by", "sent", "answered", "CPU %", "memory MB", "mean RTT µs")
	before, err := readMachine()
	if err != nil {
		return err
	}
	for _, p := range manyPrefixes {
		if err := b.manyOver(ctx, l, self, p.over, p.prefix); err != nil {
			return err
		}
	}
	after, err := readMachine()
	if err == nil {
		fmt.Fprintln(b.out, describeOthers(after.othersSince(before)))
	}
	return err
}

// manyOver has both tools ask the same targets in turn.
func (b *bench) manyOver(ctx context.Context, l *lab.Lab, self, over, prefix string) error {
	list, err := manyAddresses(prefix)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp("", "targets")
	if err != nil {
		return fmt.Errorf("create list of targets: %w", err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	for _, a := range list {
		fmt.Fprintln(file, a)
	}
	seconds := strconv.Itoa(manySeconds)
	// fping says what became of each target by its standard error. 0.4 ms between packets leave it time for 2,000 in a second.
	const fping = `exec fping -q -c "$1" -p 1000 -i 0.4 -f "$0" 2>&1`
	tools := []struct {
		name string
		argv []string
		read func(string) (answers, error)
	}{
		{"pathwise", []string{b.pathwise, "ping", "--targets", file.Name(), "-c", seconds, "--json"}, readAnswers},
		{"fping", []string{"sh", "-c", fping, file.Name(), seconds}, readFpingTotals},
	}
	shares, memories := map[string][]float64{}, map[string][]float64{}
	for range manyTurns {
		for _, tool := range tools {
			printed, err := output(ctx, l, "client", append([]string{self, meteredFlag}, tool.argv...)...)
			if err != nil {
				return err
			}
			printed, took, err := splitUsage(printed)
			if err != nil {
				return err
			}
			a, err := tool.read(printed)
			if err != nil {
				return err
			}
			share, memory := took.total()/manySeconds, megabytes(slices.Max(append(took.Resident, 0)))
			shares[tool.name], memories[tool.name] = append(shares[tool.name], share), append(memories[tool.name], memory)
			fmt.Fprintf(b.out, "%-9s %-11s%9d%10d%8.1f%11.1f%14.1f\n", over, tool.name, a.Sent, a.Answered, 100*share, memory, a.RTTMean*1e6)
		}
	}
	fmt.Fprintf(b.out, "%-9s pathwise / fping: CPU %.2f, memory %.2f (medians of the ratios of %d turns)\n", over,
		stat.Summarize(ratios(shares["pathwise"], shares["fping"])).Median, stat.Summarize(ratios(memories["pathwise"], memories["fping"])).Median, manyTurns)
	return nil
}

// manyAddresses are the first hosts of a prefix.
func manyAddresses(prefix string) (addresses []netip.Addr, err error) {
	var list pinger.Targets
	if err := list.Add(prefix, ""); err != nil {
		return nil, err
	}
	for _, target := range list.All[:min(manyTargets, len(list.All))] {
		addresses = append(addresses, target.Address)
	}
	return addresses, nil
}

// readAnswers reads the lines of pathwise ping --json, a Result of each target.
func readAnswers(printed string) (a answers, err error) {
	sum := 0.0
	for lines := json.NewDecoder(strings.NewReader(printed)); lines.More(); {
		var r measure.Result
		if err := lines.Decode(&r); err != nil {
			return a, fmt.Errorf("read what pathwise printed: %w", err)
		}
		answered := r.Metrics[measure.ReceivedPackets]
		a.Sent, a.Answered = a.Sent+int(r.Metrics[measure.SentPackets]), a.Answered+int(answered)
		sum += answered * r.Metrics[measure.RTTMean]
	}
	if a.Sent == 0 {
		return a, fmt.Errorf("read what pathwise printed: %.100q has no Results", printed)
	}
	if a.Answered > 0 {
		a.RTTMean = sum / float64(a.Answered)
	}
	return a, nil
}

var fpingTotal = regexp.MustCompile(`(?m)^\S+ +: xmt/rcv/%loss = (\d+)/(\d+)/\d+%(?:, min/avg/max = [\d.]+/([\d.]+)/)?`)

// readFpingTotals reads the lines of fping -q -c, such as "127.1.0.1 : xmt/rcv/%loss = 3/3/0%, min/avg/max = 0.020/0.028/0.035", in ms.
func readFpingTotals(printed string) (a answers, err error) {
	sum := 0.0
	for _, m := range fpingTotal.FindAllStringSubmatch(printed, -1) {
		sent, _ := strconv.Atoi(m[1]) // digits only
		answered, _ := strconv.Atoi(m[2])
		a.Sent, a.Answered = a.Sent+sent, a.Answered+answered
		if answered > 0 {
			mean, err := strconv.ParseFloat(m[3], 64)
			if err != nil {
				return a, fmt.Errorf("read what fping printed: %w", err)
			}
			sum += float64(answered) * mean / 1e3
		}
	}
	if a.Sent == 0 {
		return a, fmt.Errorf("read what fping printed: %.100q has no totals", printed)
	}
	if a.Answered > 0 {
		a.RTTMean = sum / float64(a.Answered)
	}
	return a, nil
}
