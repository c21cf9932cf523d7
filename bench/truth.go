package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/record"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// The part truth sends at each of spreadRates for truthSeconds over a link that takes comparedDelay each way.
const truthSeconds = 10

// truth prints how far `pathwise owd` is from what the emulator saw of each packet, at rates from 10 to 10,000 packets/s, and then whether it
// counts what impaired paths did as the emulator does.
func (b *bench) truth(ctx context.Context) error {
	fmt.Fprintf(b.out, "truth: pathwise owd against what the emulator saw of each packet, %d s over %v each way; its figure less the truth, µs\n",
		truthSeconds, comparedDelay)
	fmt.Fprintf(b.out, "%9s  %-10s%9s%9s%9s%12s%12s\n", "packets/s", "of", "packets", "median", "p99", "|median|", "|.| at p99")
	before, err := readMachine()
	if err != nil {
		return err
	}
	for _, rate := range spreadRates {
		if err := b.truthAt(ctx, rate); err != nil {
			return fmt.Errorf("at %d packets/s: %w", rate, err)
		}
	}
	if err := b.impaired(ctx); err != nil {
		return err
	}
	after, err := readMachine()
	if err == nil {
		fmt.Fprintln(b.out, describeOthers(after.othersSince(before)))
	}
	return err
}

// truthAt compares packet by packet at one rate. A Result has the first 10,000 packets one by one.
func (b *bench) truthAt(ctx context.Context, rate int) error {
	r, seen, _, err := b.owdInLab(ctx, "stamp", fmt.Sprintf("delay: %v", comparedDelay), truthSeconds*rate, time.Second/time.Duration(rate))
	if err != nil {
		return err
	}
	var errors [3][]float64 // there, back, round trip, in µs
	for i, echo := range r.Samples.Echoes {
		if echo.RTTSeconds == nil || i >= len(seen[0]) || i >= len(seen[1]) {
			continue
		}
		there, back := seen[0][i].took(), seen[1][i].took()
		for k, pair := range [3][2]float64{{*echo.ForwardSeconds, there}, {*echo.ReverseSeconds, back}, {*echo.RTTSeconds, there + back}} {
			errors[k] = append(errors[k], (pair[0]-pair[1])*1e6)
		}
	}
	for k, of := range []string{"there", "back", "round trip"} {
		b.printApart(rate, of, errors[k])
	}
	return nil
}

func (b *bench) printApart(rate int, of string, errors []float64) {
	if len(errors) == 0 {
		fmt.Fprintf(b.out, "%9d  %-10s%9d\n", rate, of, 0)
		return
	}
	size := make([]float64, len(errors))
	for i, e := range errors {
		size[i] = math.Abs(e)
	}
	slices.Sort(errors)
	slices.Sort(size)
	fmt.Fprintf(b.out, "%9d  %-10s%9d%9.1f%9.1f%12.1f%12.1f\n", rate, of, len(errors), stat.Median(errors), stat.Quantile(errors, 0.99),
		stat.Median(size), stat.Quantile(size, 0.99))
}

// passage is when a packet came to the emulator and when it left it, in ns.
type passage struct{ came, left int64 }

func (p passage) took() float64 { return float64(p.left-p.came) / 1e9 }

// owdInLab measures once by a protocol over one link whose shape is given as in a lab file, and returns the Result, the packets of both ways that arrived in
// the order in which they were sent, and the lab's account.
func (b *bench) owdInLab(ctx context.Context, proto, link string, packets int, interval time.Duration) (*measure.Result, [2][]passage, *lab.Truth, error) {
	var seen [2][]passage
	spec, err := lab.ParseSpec("truth", []byte("seed: 16\nhosts: {a: {}, b: {}}\nlinks:\n  - {between: [a, b], "+link+"}\n"))
	if err != nil {
		return nil, seen, nil, err
	}
	l, err := lab.Start(ctx, spec, lab.Options{})
	if err != nil {
		return nil, seen, nil, err
	}
	defer l.Close()
	far, err := start(ctx, l, "b", "answering "+proto, b.pathwise, "respond")
	if err != nil {
		return nil, seen, nil, err
	}
	defer far.wait() //nolint:errcheck // ended by a signal
	defer far.process.Signal(syscall.SIGINT)
	watch := followProbes(ctx, l, &seen)
	printed, err := output(ctx, l, "a", b.pathwise, "--json", "owd", "b", "--proto", proto, "-c", strconv.Itoa(packets), "-i", interval.String(), "-W", "500ms")
	if err != nil {
		return nil, seen, nil, err
	}
	if err := watch(); err != nil {
		return nil, seen, nil, err
	}
	var r measure.Result
	if err := json.Unmarshal([]byte(printed), &r); err != nil {
		return nil, seen, nil, fmt.Errorf("read what pathwise owd printed: %w", err)
	}
	truth, err := l.Truth()
	for _, way := range seen {
		slices.SortFunc(way, func(a, b passage) int { return int(a.came - b.came) })
	}
	return &r, seen, truth, err
}

// followProbes notes what passes to port 862 and from there until the function that it returns is called.
func followProbes(ctx context.Context, l *lab.Lab, seen *[2][]passage) (end func() error) {
	ctx, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		done <- l.Follow(ctx, lab.FollowOptions{}, func(e *lab.Event) error {
			if e.Missed > 0 {
				return fmt.Errorf("follow: %d events missed", e.Missed)
			}
			from, to, _ := strings.Cut(e.Flow, " > ")
			switch {
			case e.Fate != record.Delivered.String():
			case strings.HasSuffix(to, ":862"):
				seen[0] = append(seen[0], passage{e.Came, e.Left})
			case strings.HasSuffix(from, ":862"):
				seen[1] = append(seen[1], passage{e.Came, e.Left})
			}
			return nil
		})
	}()
	return func() error {
		stop()
		if err := <-done; err != nil && ctx.Err() == nil {
			return err
		}
		return nil
	}
}
