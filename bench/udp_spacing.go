package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"syscall"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/stat"
)

// piece is what tcpdump saw of a stream at one time: a datagram, or several that an interface was given in one.
type piece struct {
	stamp     int64 // the kernel's, ns since 1970
	datagrams int
}

// udpSpacing prints how evenly the datagrams of each tool come at the server's interface, by tcpdump there, in a run of its own.
func (b *bench) udpSpacing(ctx context.Context, l *lab.Lab) error {
	fmt.Fprintf(b.out, "spacing at %g Gbit/s, µs: of one datagram from the one before, less what is even; and how long the queue of a link of 1.05 times the rate is\n", udpSteps/1e9)
	fmt.Fprintf(b.out, "%-22s%12s%12s%12s%14s%12s%12s\n", "by", "datagrams", "median", "p99", "queue median", "p99", "longest")
	for _, t := range b.udpTools(udpSteps) {
		pieces, err := watchPieces(ctx, l, &t)
		if err != nil {
			return fmt.Errorf("spacing of %s: %w", t.name, err)
		}
		if len(pieces) < 2 {
			return fmt.Errorf("spacing of %s: tcpdump saw nothing", t.name)
		}
		errs, queue := spacing(pieces, udpBytes*8e9/udpSteps)
		fmt.Fprintf(b.out, "%-22s%12d%12.1f%12.1f%14.1f%12.1f%12.1f\n", t.name, len(errs)+1, stat.Median(errs)/1e3, stat.Quantile(errs, 0.99)/1e3,
			stat.Median(queue)/1e3, stat.Quantile(queue, 0.99)/1e3, queue[len(queue)-1]/1e3)
	}
	return nil
}

// watchPieces makes one test of a tool, with tcpdump at the server's interface.
func watchPieces(ctx context.Context, l *lab.Lab, t *tool) ([]piece, error) {
	dump, err := start(ctx, l, "server", "listening on", "tcpdump", "-i", "v0", "-n", "-tt", "-q", "-s", "64", "-B", "65536",
		"--time-stamp-precision=nano", "-Q", "in", "udp", "and", "greater", strconv.Itoa(udpBytes))
	if err != nil {
		return nil, err
	}
	_, err = t.measure(ctx, l, "server")
	_ = dump.process.Signal(syscall.SIGINT)
	seen, dumpErr := dump.wait()
	return parsePieces(seen), errors.Join(err, dumpErr)
}

// 1763642400.123456789 IP 192.0.2.1.40000 > 192.0.2.2.5201: UDP, length 63712
var pieceLine = regexp.MustCompile(`(?m)^(\d{1,10})\.(\d{9}) IP \S+ > \S+ UDP,? (?:bad )?length (\d{1,6})`)

func parsePieces(printed string) (pieces []piece) {
	for _, m := range pieceLine.FindAllStringSubmatch(printed, -1) {
		seconds, _ := strconv.ParseInt(m[1], 10, 64) // digits only: the pattern saw to that
		nanoseconds, _ := strconv.ParseInt(m[2], 10, 64)
		length, _ := strconv.Atoi(m[3])
		pieces = append(pieces, piece{seconds*1e9 + nanoseconds, max(1, length/udpBytes)})
	}
	return pieces
}

// spacing returns, sorted and in ns, by how much each datagram came further from or nearer to the one before than gap, and how long each waits in the queue of a
// link that takes gap/1.05 for one. Datagrams of one piece come at once.
func spacing(pieces []piece, gap float64) (errs, queue []float64) {
	const faster = 1.05
	free := 0. // when the link has sent all that came
	for i, p := range pieces {
		at := float64(p.stamp - pieces[0].stamp)
		for j := range p.datagrams {
			switch {
			case j > 0:
				errs = append(errs, gap)
			case i > 0:
				errs = append(errs, math.Abs(at-float64(pieces[i-1].stamp-pieces[0].stamp)-gap))
			}
			queue = append(queue, max(0, free-at))
			free = max(free, at) + gap/faster
		}
	}
	slices.Sort(errs)
	slices.Sort(queue)
	return errs, queue
}
