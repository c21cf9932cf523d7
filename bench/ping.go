package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// The path that ping is held against: two links, each of a quarter of the round trip each way.
const (
	nominal  = 40 * time.Millisecond
	pathSpec = "hosts: {a: {}, b: {}}\nrouters: [r]\nlinks: [{between: [a, r], delay: 10ms}, {between: [r, b], delay: 10ms}]"
)

// Echoes of each run: a thousand at 100 a second.
const (
	echoes   = 1000
	interval = "0.01" // seconds
)

// ping compares round trips in the lab with what was asked for, by three witnesses: the kernel's stamps that tcpdump
// shows, Debian's ping, and pathwise ping.
func (b *bench) ping(ctx context.Context) error {
	if os.Geteuid() != 0 {
		return errRootForTcpdump
	}
	kinds := b.kinds("ping")
	fmt.Fprintf(b.out, "ping: round trip less the nominal %v, µs; two hosts, a router between, %d echoes at 100/s a run\n", nominal, echoes)
	fmt.Fprintf(b.out, "%-4s  %-32s  %6s%9s%9s%9s%9s\n", "over", "round trips of, by", "echoes", "min", "median", "p99", "max")
	for _, kind := range kinds {
		if err := b.pingOver(ctx, kind, echoes); err != nil {
			return fmt.Errorf("over %s: %w", kind, err)
		}
	}
	return nil
}

var errRootForTcpdump = errors.New("skipped: tcpdump changes its user, which a user namespace does not let it; run as root")

// pingOver makes one run with each ping, both under the eyes of tcpdump.
func (b *bench) pingOver(ctx context.Context, kind lab.DeviceKind, count int) error {
	spec, err := lab.ParseSpec("ping", []byte(pathSpec))
	if err != nil {
		return err
	}
	l, err := lab.Start(ctx, spec, lab.Options{Device: kind})
	if err != nil {
		return err
	}
	defer l.Close()
	n := strconv.Itoa(count)
	for _, p := range []struct {
		name string
		argv []string
		read func(string) ([]float64, error)
	}{
		{"Debian's ping", []string{"ping", "-n", "-c", n, "-i", interval, "b"}, readPing},
		{"pathwise ping", []string{b.pathwise, "--json", "ping", "-c", n, "-i", interval, "b"}, readPathwisePing},
	} {
		printed, seen, err := watchPing(ctx, l, count, p.argv)
		if err != nil {
			return err
		}
		own, err := p.read(printed)
		if err != nil {
			return err
		}
		b.printErrors(kind, p.name+", by tcpdump", roundTrips(parseEchoes(seen)))
		b.printErrors(kind, p.name+", by itself", own)
	}
	return nil
}

// watchPing runs a ping on host a, and tcpdump beside it. It returns what both printed.
func watchPing(ctx context.Context, l *lab.Lab, count int, argv []string) (printed, seen string, err error) {
	// It ends by itself when it has seen every echo both ways, so that none is left in its buffer.
	dump, err := start(ctx, l, "a", "listening on", "tcpdump", "-i", "eth0", "-n", "-tt",
		"--time-stamp-precision=nano", "-c", strconv.Itoa(2*count), "icmp")
	if err != nil {
		return "", "", err
	}
	printed, err = output(ctx, l, "a", argv...)
	patience := time.AfterFunc(dumpPatience, func() { _ = dump.process.Signal(syscall.SIGINT) })
	seen, dumpErr := dump.wait()
	patience.Stop()
	return printed, seen, errors.Join(err, dumpErr)
}

// dumpPatience is how long tcpdump may take to show what it saw; it reads its buffer once a second. After that an
// echo was lost, and it waits in vain.
const dumpPatience = 3 * time.Second

// printErrors prints by how much round trips, in seconds, were longer than nominal.
func (b *bench) printErrors(kind lab.DeviceKind, what string, seconds []float64) {
	late := make([]float64, len(seconds))
	for i, s := range seconds {
		late[i] = (s - nominal.Seconds()) * 1e6
	}
	slices.Sort(late)
	fmt.Fprintf(b.out, "%-4s  %-32s  %6d", kind, what, len(late))
	if len(late) > 0 {
		fmt.Fprintf(b.out, "%9.0f%9.0f%9.0f%9.0f", late[0], stat.Median(late), stat.Quantile(late, 0.99), late[len(late)-1])
	}
	fmt.Fprintln(b.out)
}

var pingTime = regexp.MustCompile(`(?m)^\d+ bytes from .* time=([0-9.]+) ms`)

// readPing reads the round trips, in seconds, from the lines of Debian's ping, which have three digits: 40.1 ms.
func readPing(printed string) ([]float64, error) {
	var seconds []float64
	for _, m := range pingTime.FindAllStringSubmatch(printed, -1) {
		ms, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return nil, fmt.Errorf("read what ping printed: %w", err)
		}
		seconds = append(seconds, ms/1e3)
	}
	return seconds, nil
}

// readPathwisePing reads the round trips, in seconds, from a Result.
func readPathwisePing(printed string) ([]float64, error) {
	var r measure.Result
	if err := json.Unmarshal([]byte(printed), &r); err != nil {
		return nil, fmt.Errorf("read what pathwise printed: %w", err)
	}
	var seconds []float64
	for _, e := range r.Samples.Echoes {
		if e.RTTSeconds != nil {
			seconds = append(seconds, *e.RTTSeconds)
		}
	}
	return seconds, nil
}
