// Command bench prints how Pathwise does beside its peers, in the same run on the same machine: throughput and
// processor time beside iperf3, the lab's delay as Debian's ping and tcpdump see it, the lab's loss as ping counts it; and
// what a mesh takes: its controller, its agents, its planner, its archive and what pages ask of that.
//
// It prints figures and does not judge them; docs/bench.md says how to read them. The exit status is 0 when
// everything ran, 1 when something could not, 2 when the call was wrong.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pathwise-net/pathwise/bench/archivebench"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/stat"
)

// bench is one run of this program: what was asked for and where it prints.
type bench struct {
	out      io.Writer
	pathwise string // the binary that is measured
	pairs    int    // of TCP transfers
	seconds  int    // of each
	over     []setting
	seen     seen

	agents, simulated int           // of the part mesh
	settle, watch     time.Duration // of meshes: before measuring, and measuring
	points            int           // of the part archive, into SQLite
	viewed            archivebench.PageOptions
	paths             []string // of the part told
}

// seen is what the parts of the lab found, for the part relay to hold against the starting point.
type seen struct {
	late map[lab.DeviceKind]stat.Summary // µs, at comparedDelay
	best map[lab.DeviceKind]int          // packets/s of bulkStream without a drop
}

// part is one comparison.
type part struct {
	name  string
	tools []string // programs that it needs
	run   func(*bench, context.Context) error
	asked bool // it runs only where -only names it
}

var parts = []part{
	{name: "tcp", tools: []string{"iperf3", "ip"}, run: (*bench).tcp},
	{name: "udp", tools: []string{"iperf3", "ip", "tcpdump"}, run: (*bench).udp},
	{name: "flows", tools: []string{"ip", "tcpdump"}, run: (*bench).flows},
	{name: "interop", tools: []string{"iperf3"}, run: (*bench).interop},
	{name: "ping", tools: []string{"ping", "tcpdump"}, run: (*bench).ping},
	{name: "loss", tools: []string{"ping"}, run: (*bench).loss},
	{name: "late", run: (*bench).late},
	{name: "spread", tools: []string{"ip", "ping", "fping", "irtt"}, run: (*bench).spread},
	{name: "trace", tools: []string{"traceroute", "mtr", "scamper", "unshare"}, run: (*bench).trace},
	{name: "truth", run: (*bench).truth},
	{name: "many", tools: []string{"ip", "fping"}, run: (*bench).many},
	{name: "hops", tools: []string{"pchar"}, run: (*bench).hops},
	{name: "rate", run: (*bench).rate},
	{name: "reflect", tools: []string{"ip"}, run: (*bench).reflect},
	{name: "attack", tools: []string{"ip"}, run: (*bench).attack},
	{name: "emulator", run: (*bench).emulator},
	{name: "relay", run: (*bench).relay}, // after the two that it is held against
	{name: "laws", run: (*bench).laws},
	{name: "scale", run: (*bench).scale},
	{name: "mesh", run: (*bench).mesh},
	{name: "plan", run: (*bench).plan},
	{name: "archive", run: (*bench).archive},
	{name: "pages", run: (*bench).pages},
	{name: "told", tools: []string{"iperf3", "ping", "traceroute", "mtr", "ip", "tc", "nft"}, run: (*bench).told, asked: true},
}

// everyPart is what runs unless -only says otherwise.
func everyPart() string {
	var names []string
	for _, p := range parts {
		if !p.asked {
			names = append(names, p.name)
		}
	}
	return strings.Join(names, ",")
}

// debianPackages says where a missing tool comes from.
var debianPackages = map[string]string{"ip": "iproute2", "iperf3": "iperf3", "ping": "iputils-ping", "tcpdump": "tcpdump",
	"fping": "fping", "irtt": "irtt", "traceroute": "traceroute", "mtr": "mtr-tiny", "scamper": "scamper", "unshare": "util-linux", "pchar": "pchar", "tc": "iproute2", "nft": "nftables"}

func main() {
	lab.RunEngineIfAsked() // a lab is this same binary in other namespaces
	if len(os.Args) > 2 && os.Args[1] == meteredFlag {
		os.Exit(runMetered(os.Args[2:]))
	}
	if len(os.Args) > 2 && ends[os.Args[1]] != nil {
		os.Exit(runEnd(ends[os.Args[1]], os.Args[2:]))
	}
	os.Exit(run(os.Args[1:]))
}

// ends are what this program is on hosts of a lab, and in a network of its own, by its first argument.
var ends = map[string]func(args []string) error{blastFlag: runBlast, sinkFlag: runSink, relayFlag: runRelay, meshFlag: runMesh,
	sessionsFlag: runSessions, owampSessionsFlag: runOWAMPSessions, forgeFlag: runForge}

func runEnd(end func([]string) error, args []string) int {
	if err := end(args); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		return 1
	}
	return 0
}

func run(args []string) int {
	b := &bench{out: os.Stdout, seen: seen{map[lab.DeviceKind]stat.Summary{}, map[lab.DeviceKind]int{}}}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	only := flags.String("only", everyPart(), "parts to run")
	over := flags.String("over", everySetting(), "settings of the part tcp: path and streams")
	flags.StringVar(&b.pathwise, "pathwise", "../bin/pathwise", "the binary to measure; make build makes it")
	flags.IntVar(&b.pairs, "pairs", 10, "pairs of TCP transfers in each setting; 6 at least for an interval of 95 %")
	flags.IntVar(&b.seconds, "seconds", 3, "length of each TCP transfer, and of each stream of the part udp")
	flags.IntVar(&b.agents, "agents", 200, "agents of the part mesh that are processes; 0: none")
	flags.IntVar(&b.simulated, "simulated", 2000, "agents of the part mesh that bench plays; 0: none")
	flags.IntVar(&b.points, "points", 40_000_000, "points into SQLite in the part archive; a 40th of them into PostgreSQL")
	b.pageFlags(flags)
	paths := flags.String("paths", strings.Join(toldFaults, ","), "paths of the part told: faults of the lab's library, and those that are the kernel's")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	b.paths = strings.Split(*paths, ",")
	chosen, err := choose(*only)
	if err == nil {
		b.over, err = chooseSettings(*over)
	}
	if err == nil {
		err = b.validate(flags.Args())
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	os.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin") // where Debian keeps ip and tcpdump, off users' paths
	fmt.Fprintf(b.out, "%d processors\n", runtime.NumCPU())
	status := 0
	for _, p := range chosen {
		fmt.Fprintln(b.out)
		before := lab.ReadProcessorTime()
		if err := b.runPart(ctx, p); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", p.name, err)
			status = 1
		}
		if stolen := lab.DescribeStolen(lab.ReadProcessorTime().StolenSince(before)); stolen != "" {
			fmt.Fprintf(b.out, "(meanwhile %s)\n", stolen)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return status
}

// choose returns the parts that a list such as "tcp,loss" names.
func choose(only string) ([]part, error) {
	var chosen []part
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("-only: %q: no such part; want some of %s", name, everyPart())
		}
		chosen = append(chosen, parts[i])
	}
	return chosen, nil
}

// validate checks the rest of the call and makes the path of the binary absolute, as hosts of a lab need it.
func (b *bench) validate(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("%q: want flags only; see -help", rest[0])
	case b.pairs < 1:
		return fmt.Errorf("-pairs: \"%d\": want 1 or more", b.pairs)
	case b.seconds < 1:
		return fmt.Errorf("-seconds: \"%d\": want 1 or more", b.seconds)
	case b.agents < 0 || b.agents == 1 || b.agents > maxAgents:
		return fmt.Errorf("-agents: \"%d\": want 0, or 2 to %d", b.agents, maxAgents)
	case b.simulated < 0 || b.simulated == 1 || b.simulated > maxAgents:
		return fmt.Errorf("-simulated: \"%d\": want 0, or 2 to %d", b.simulated, maxAgents)
	case b.points < minPoints:
		return fmt.Errorf("-points: \"%d\": want %d or more", b.points, minPoints)
	}
	if err := b.validatePages(); err != nil {
		return err
	}
	path, err := filepath.Abs(b.pathwise)
	if err != nil {
		return fmt.Errorf("-pathwise: %w", err)
	}
	b.pathwise = path
	return nil
}

// runPart runs a part if its tools are there.
func (b *bench) runPart(ctx context.Context, p part) error {
	for _, tool := range p.tools {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("skipped: %s is not installed; it is in Debian's package %s", tool, debianPackages[tool])
		}
	}
	if _, err := os.Stat(b.pathwise); err != nil {
		return fmt.Errorf("skipped: -pathwise: %q: %w; run make build first", b.pathwise, errors.Unwrap(err))
	}
	err := p.run(b, ctx)
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	return err
}
