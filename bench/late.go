package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/record"
	"github.com/pathwise-net/pathwise/stat"
)

// What a probe sends at most: small packets, 100 µs apart.
var probeStream = stream{rate: 10_000, bytes: 200, seconds: 5}

var lateDelays = []time.Duration{100 * time.Microsecond, time.Millisecond, comparedDelay, 300 * time.Millisecond}

// comparedDelay is the one that the plain relay is tried with too.
const comparedDelay = 20 * time.Millisecond

// late sends packets over one link with a delay and prints how long after they were due the emulator handed them over, and
// how its own stamps of that agree with the far host's kernel.
func (b *bench) late(ctx context.Context) error {
	kinds := b.kinds("late")
	fmt.Fprintf(b.out, "late: %d packets/s of %d bytes for %d s over one link, µs\n", probeStream.rate, probeStream.bytes, probeStream.seconds)
	fmt.Fprintf(b.out, "%-4s  %6s  %7s  %44s   %s\n", "", "", "", "departure, left less due", "receive stamp of the kernel less left")
	fmt.Fprintf(b.out, "%-4s  %6s  %7s  %8s%9s%9s%9s%9s   %8s%9s%9s\n", "over", "delay", "packets",
		"min", "median", "p95", "p99", "max", "median", "p1", "p99")
	for _, kind := range kinds {
		for _, delay := range lateDelays {
			r, err := runLate(ctx, kind, delay)
			if err != nil {
				return fmt.Errorf("over %s, %v: %w", kind, delay, err)
			}
			if delay == comparedDelay {
				b.seen.late[kind] = stat.Summarize(r.late)
			}
			b.printLate(kind, delay, r)
		}
	}
	return nil
}

func (b *bench) printLate(kind lab.DeviceKind, delay time.Duration, r lateRun) {
	l, apart := stat.Summarize(r.late), slices.Sorted(slices.Values(r.apart))
	fmt.Fprintf(b.out, "%-4s  %6v  %7d  %8.1f%9.1f%9.1f%9.1f%9.1f", kind, delay, len(r.late), l.Min, l.Median, l.P95, l.P99, l.Max)
	if len(apart) > 0 {
		fmt.Fprintf(b.out, "   %8.1f%9.1f%9.1f", stat.Median(apart), stat.Quantile(apart, 0.01), stat.Quantile(apart, 0.99))
	}
	fmt.Fprintln(b.out)
	if missing := r.sent - len(r.late); missing != 0 || len(apart) == 0 {
		fmt.Fprintf(b.out, "      %d packets sent, %d seen delivered: kernel stamps are compared only where each has its own\n",
			r.sent, len(r.late))
	}
}

// lateRun is a list for each of: how late packets left, and how far the kernel's stamps were from when they left; in µs.
type lateRun struct {
	sent        int
	late, apart []float64
}

func runLate(ctx context.Context, kind lab.DeviceKind, delay time.Duration) (lateRun, error) {
	d := lab.Delay(delay)
	spec := &lab.Spec{Hosts: map[string]lab.Host{"a": {}, "b": {}},
		Links: []lab.Link{{Between: []string{"a", "b"}, Shape: lab.Shape{Delay: &d}}}}
	l, err := lab.Start(ctx, spec, lab.Options{Device: kind})
	if err != nil {
		return lateRun{}, err
	}
	defer l.Close()
	watch := followDeliveries(ctx, l, probeStream.packets())
	sent, printed, err := probeStream.run(ctx, l, "a", "b", firstAddresses[1], "stamps")
	departures, followErr := watch()
	if err := errors.Join(err, followErr); err != nil {
		return lateRun{}, err
	}
	arrivals, err := readArrivals(printed)
	if err != nil {
		return lateRun{}, err
	}
	truth, err := l.Truth()
	if err != nil {
		return lateRun{}, err
	}
	return lateRun{sent.Sent, lateness(departures), stampsApart(truth.Started, departures, arrivals)}, nil
}

// firstAddresses are those of the two ends of a lab's first link.
var firstAddresses = [2]string{"10.0.0.1", "10.0.0.2"}

// departure is when a packet was due and when it left, in ns of the lab's time.
type departure struct{ due, left int64 }

// followPatience is how long after the end of a stream events may take to come.
const followPatience = 2 * time.Second

// followDeliveries watches UDP packets being delivered. The function that it returns waits for the last of so many, though
// not long, and returns them in the order in which they left.
func followDeliveries(ctx context.Context, l *lab.Lab, packets int) func() ([]departure, error) {
	ctx, stop := context.WithCancel(ctx)
	var seen []departure
	done := make(chan error, 1)
	go func() {
		done <- l.Follow(ctx, lab.FollowOptions{}, func(e *lab.Event) error {
			if e.Missed > 0 {
				return fmt.Errorf("follow: %d events missed", e.Missed)
			}
			if strings.HasPrefix(e.Flow, "udp ") && e.Fate == record.Delivered.String() {
				seen = append(seen, departure{e.Due, e.Left})
			}
			if len(seen) == packets {
				return errAllSeen
			}
			return nil
		})
	}()
	return func() ([]departure, error) {
		defer time.AfterFunc(followPatience, stop).Stop()
		defer stop()
		err := <-done
		if errors.Is(err, errAllSeen) {
			err = nil
		}
		return seen, err
	}
}

var errAllSeen = errors.New("all packets seen")

// lateness returns left less due in µs.
func lateness(departures []departure) []float64 {
	late := make([]float64, len(departures))
	for i, d := range departures {
		late[i] = float64(d.left-d.due) / 1e3
	}
	return late
}

// stampsApart returns the kernel's receive stamp less when the packet left, in µs. What left i-th arrived i-th, unless
// something was lost or overtook; then nothing is returned.
func stampsApart(started time.Time, departures []departure, arrivals []arrival) []float64 {
	if len(arrivals) != len(departures) {
		return nil
	}
	apart := make([]float64, len(arrivals))
	for i, a := range arrivals {
		if a.number != uint64(i) || a.stamp == 0 {
			return nil
		}
		apart[i] = float64(a.stamp-started.UnixNano()-departures[i].left) / 1e3
	}
	return apart
}
