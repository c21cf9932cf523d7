package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// tracePath is a line of routers.
type tracePath struct {
	hops   int
	trip   time.Duration // there and back
	silent int           // the hop that does not answer; 0: all do
}

// tracePaths are the paths that traces are held against.
var tracePaths = []tracePath{{30, 200 * time.Millisecond, 0}, {30, 200 * time.Millisecond, 7}, {12, 40 * time.Millisecond, 0}}

func (p tracePath) String() string {
	if p.silent > 0 {
		return fmt.Sprintf("%d, %v, hop %d silent", p.hops, p.trip, p.silent)
	}
	return fmt.Sprintf("%d, %v", p.hops, p.trip)
}

// spec is the path as a lab. The target answers as often as it is asked: how often a kernel sends ICMP errors is not what is compared.
func (p tracePath) spec() string {
	var s strings.Builder
	s.WriteString("hosts: {a: {}, b: {sysctl: {net.ipv4.icmp_ratelimit: \"0\"}}}\nrouters:\n")
	for i := 1; i < p.hops; i++ {
		fmt.Fprintf(&s, "  r%d: {silent: %v}\n", i, i == p.silent)
	}
	s.WriteString("links:\n")
	for i := range p.hops {
		near, far := fmt.Sprintf("r%d", i), fmt.Sprintf("r%d", i+1)
		if i == 0 {
			near = "a"
		}
		if i == p.hops-1 {
			far = "b"
		}
		fmt.Fprintf(&s, "  - {between: [%s, %s], delay: %dns}\n", near, far, int(p.trip)/2/p.hops)
	}
	return s.String()
}

// tracer is a tool, and how its hops are read: the first that answered at each TTL, "" where nobody did.
type tracer struct {
	name string
	argv []string
	read func(printed string) ([]string, error)
}

// tracers are the tools, each with three packets for each hop and a wait of a second.
func (b *bench) tracers(target string) []tracer {
	scamper := func(method string) []string {
		// scamper does not begin without a name server, and asks it nothing here.
		const named = `f=$(mktemp); echo nameserver 127.0.0.1 >$f; mount --bind $f /etc/resolv.conf; rm -f $f; exec scamper "$@"`
		return []string{"unshare", "-m", "sh", "-c", named, "scamper", "-p", "1000", "-c", "trace -P " + method + " -q 3 -Q -w 1", "-i", target}
	}
	own := func(proto string) []string { return []string{b.pathwise, "--json", "trace", target, "--proto", proto} }
	return []tracer{
		{"pathwise trace, UDP", own("udp"), readPathwiseTrace},
		{"pathwise trace, ICMP", own("icmp"), readPathwiseTrace},
		{"pathwise trace, TCP", own("tcp"), readPathwiseTrace},
		{"traceroute", []string{"traceroute", "-n", "-q", "3", "-w", "1", target}, readTraceLines},
		{"traceroute, 90 at once", []string{"traceroute", "-n", "-q", "3", "-w", "1", "-N", "90", target}, readTraceLines},
		{"pathwise --report, 3", []string{b.pathwise, "--json", "trace", target, "--report", "-c", "3"}, readPathwiseTrace},
		{"mtr, 3 rounds", []string{"mtr", "-n", "-r", "-c", "3", target}, readTraceLines},
		{"scamper, UDP Paris", scamper("udp-paris"), readTraceLines},
		{"scamper, ICMP Paris", scamper("icmp-paris"), readTraceLines},
	}
}

// trace compares how long each tool takes for the same route, which hops it sees, and what it sends for that.
func (b *bench) trace(ctx context.Context) error {
	fmt.Fprintln(b.out, "trace: three packets for each hop, which wait 1 s for an answer; path: hops, there and back")
	fmt.Fprintf(b.out, "%-24s  %-22s  %8s  %13s  %6s  %7s  %7s\n", "path", "by", "seconds", "hops as built", "silent", "packets", "bytes")
	for _, path := range tracePaths {
		if err := b.traceOver(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) traceOver(ctx context.Context, path tracePath) error {
	spec, err := lab.ParseSpec("trace", []byte(path.spec()))
	if err != nil {
		return err
	}
	l, err := lab.Start(ctx, spec, lab.Options{})
	if err != nil {
		return err
	}
	defer l.Close()
	for _, t := range b.tracers(fmt.Sprintf("10.0.%d.2", path.hops-1)) {
		packets, bytes, err := transmitted(ctx, l, "a")
		if err != nil {
			return err
		}
		began := time.Now()
		printed, err := output(ctx, l, "a", t.argv...)
		took := time.Since(began)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		hops, err := t.read(printed)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		packetsNow, bytesNow, err := transmitted(ctx, l, "a")
		if err != nil {
			return err
		}
		right, unanswered := 0, 0
		for i, hop := range hops {
			if hop == fmt.Sprintf("10.0.%d.2", i) {
				right++
			} else if hop == "" {
				unanswered++
			}
		}
		fmt.Fprintf(b.out, "%-24s  %-22s  %8.3f  %7d of %2d  %6d  %7d  %7d\n", path, t.name, took.Seconds(), right, path.hops, unanswered,
			packetsNow-packets, bytesNow-bytes)
	}
	return nil
}

// transmitted is what a host has sent by its first interface, with Ethernet's headers.
func transmitted(ctx context.Context, l *lab.Lab, host string) (packets, bytes int, err error) {
	printed, err := output(ctx, l, host, "cat", "/proc/net/dev")
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(printed) {
		name, counts, _ := strings.Cut(line, ":")
		if fields := strings.Fields(counts); strings.TrimSpace(name) == "eth0" && len(fields) > 9 {
			bytes, err = strconv.Atoi(fields[8])
			if err == nil {
				packets, err = strconv.Atoi(fields[9])
			}
			return packets, bytes, err
		}
	}
	return 0, 0, fmt.Errorf("no eth0 in %q", printed)
}

// A hop as traceroute and scamper print it: " 4  * * *", "12  10.0.11.2  80.1 ms"; and mtr: "  4.|-- ???", " 12.|-- 10.0.11.2  0.0% …".
var traceLine = regexp.MustCompile(`(?m)^\s*(\d+)(?:\.\|--)?\s+([0-9.]+|\*|\?\?\?)(?:\s|$)`)

func readTraceLines(printed string) (hops []string, err error) {
	for _, found := range traceLine.FindAllStringSubmatch(printed, -1) {
		ttl, _ := strconv.Atoi(found[1])
		if ttl != len(hops)+1 {
			return nil, fmt.Errorf("hop %d behind hop %d in %q", ttl, len(hops), printed)
		}
		if strings.ContainsAny(found[2], "*?") {
			found[2] = ""
		}
		hops = append(hops, found[2])
	}
	if hops == nil {
		return nil, fmt.Errorf("no hops in %q", printed)
	}
	return hops, nil
}

func readPathwiseTrace(printed string) (hops []string, err error) {
	var r measure.Result
	if err := json.Unmarshal([]byte(printed), &r); err != nil {
		return nil, err
	}
	for _, h := range r.Samples.Hops {
		who := ""
		if len(h.Addresses) > 0 {
			who = h.Addresses[0]
		}
		hops = append(hops, who)
	}
	if hops == nil {
		return nil, fmt.Errorf("no hops in %q", printed)
	}
	return hops, nil
}
