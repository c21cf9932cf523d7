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

// hopsRoutes are routes of three links whose rates in Mbit/s are known: one that nobody else uses, and one on whose slowest link others send. The far host
// limits no answers, since pchar would wait 3 s for each that it does not get.
var hopsRoutes = []struct {
	name, traffic string
	rates         [3]float64
}{
	{"idle", "", [3]float64{100, 20, 60}},
	{"others send 6 Mbit/s over the second link", "traffic: [{from: r1, to: r2, kind: poisson, rate: 6mbit}]\n", [3]float64{100, 20, 60}},
}

const (
	// pcharGap is the pause between two of pchar's packets that it is given here, and pcharDefault the one that it has by itself, in s.
	pcharGap, pcharDefault = 0.01, 0.25
)

// hops compares what pathwise capacity --hops and pchar say of links, in how much time and how many bytes.
func (b *bench) hops(ctx context.Context) error {
	fmt.Fprintf(b.out, "hops: rate of each link as a share of what the lab has, by pathwise capacity --hops and by pchar with a gap of %v s instead of %v\n", pcharGap, pcharDefault)
	fmt.Fprintf(b.out, "%-10s%9s%9s%9s%10s%10s%10s\n", "by", "link 1", "link 2", "link 3", "seconds", "packets", "kB")
	for _, route := range hopsRoutes {
		fmt.Fprintf(b.out, "%.0f, %.0f and %.0f Mbit/s, %s\n", route.rates[0], route.rates[1], route.rates[2], route.name)
		spec, err := lab.ParseSpec("hops", fmt.Appendf(nil, "hosts: {a: {}, b: {sysctl: {net.ipv4.icmp_ratelimit: 0}}}\nrouters: [r1, r2]\nlinks:\n"+
			"  - {between: [a, r1], rate: %vmbit, delay: 1ms}\n  - {between: [r1, r2], rate: %vmbit, delay: 3ms}\n  - {between: [r2, b], rate: %vmbit, delay: 2ms}\n%s",
			route.rates[0], route.rates[1], route.rates[2], route.traffic))
		if err != nil {
			return err
		}
		if err := b.hopsOver(ctx, spec, route.rates); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) hopsOver(ctx context.Context, spec *lab.Spec, rates [3]float64) error {
	l, err := lab.Start(ctx, spec, lab.Options{})
	if err != nil {
		return err
	}
	defer l.Close()
	for _, by := range []struct {
		name string
		argv []string
		read func(string) ([]float64, error)
	}{
		{"pathwise", []string{b.pathwise, "--json", "capacity", "b", "--hops", "-4"}, readLinks},
		{"pchar", []string{"pchar", "-n", "-g", fmt.Sprint(pcharGap), "b"}, readPchar},
	} {
		packets, bytes, err := sentFrom(ctx, l)
		if err != nil {
			return err
		}
		began := time.Now()
		printed, err := output(ctx, l, "a", by.argv...)
		if err != nil {
			return err
		}
		took := time.Since(began).Seconds()
		links, err := by.read(printed)
		if err != nil {
			return err
		}
		packetsAfter, bytesAfter, err := sentFrom(ctx, l)
		if err != nil {
			return err
		}
		fmt.Fprintf(b.out, "%-10s", by.name)
		for i, rate := range rates {
			share := "-"
			if i < len(links) && links[i] > 0 {
				share = fmt.Sprintf("%.3f", links[i]/rate/1e6)
			}
			fmt.Fprintf(b.out, "%9s", share)
		}
		fmt.Fprintf(b.out, "%10.1f%10.0f%10.0f\n", took, packetsAfter-packets, (bytesAfter-bytes)/1e3)
		if by.name == "pchar" {
			fmt.Fprintf(b.out, "  with the gap that pchar has by itself it takes %.0f s\n", took+(packetsAfter-packets)*(pcharDefault-pcharGap))
		}
	}
	return nil
}

// sentFrom is how many packets and bytes host a has sent so far.
func sentFrom(ctx context.Context, l *lab.Lab) (packets, bytes float64, err error) {
	text, err := output(ctx, l, "a", "cat", "/proc/self/net/dev")
	if err != nil {
		return 0, 0, err
	}
	return readSent(text)
}

// readSent takes the packets and bytes that left by eth0 out of /proc/net/dev, whose lines are a name, eight counts of what came, and eight of what left, bytes and
// packets first.
func readSent(text string) (packets, bytes float64, err error) {
	for line := range strings.Lines(text) {
		counts, ok := strings.CutPrefix(strings.TrimSpace(line), "eth0:")
		if fields := strings.Fields(counts); ok && len(fields) == 16 {
			_, err := fmt.Sscan(fields[9]+" "+fields[8], &packets, &bytes)
			return packets, bytes, err
		}
	}
	return 0, 0, fmt.Errorf("read what was sent: no eth0 in %q", text)
}

// readLinks takes the certain rates of links in bit/s from a Result; 0: it is not certain.
func readLinks(printed string) (rates []float64, err error) {
	var r measure.Result
	if err := json.Unmarshal([]byte(printed), &r); err != nil {
		return nil, fmt.Errorf("read what pathwise capacity printed: %w", err)
	}
	for _, l := range r.Samples.Links {
		rate := 0.0
		if l.Capacity.Certain {
			rate = l.Capacity.BitsPerSecond
		}
		rates = append(rates, rate)
	}
	return rates, nil
}

// pcharRate is a line such as "    Hop char:          rtt = 2.069546 ms, bw = 102061.251524 Kbps", or "bw = --.--- Kbps" where pchar knows none.
var pcharRate = regexp.MustCompile(`(?m)^\s*Hop char:.* bw = ([-0-9.]+) Kbps`)

// readPchar takes the rates of links in bit/s from what pchar prints; 0: it knows none.
func readPchar(printed string) (rates []float64, err error) {
	for _, m := range pcharRate.FindAllStringSubmatch(printed, -1) {
		if strings.HasPrefix(m[1], "--") {
			rates = append(rates, 0)
			continue
		}
		kbit, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return nil, fmt.Errorf("read what pchar printed: %w", err)
		}
		rates = append(rates, kbit*1e3)
	}
	if len(rates) == 0 {
		return nil, fmt.Errorf("read what pchar printed: no links in %q", printed)
	}
	return rates, nil
}
