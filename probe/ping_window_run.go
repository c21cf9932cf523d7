package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/analysis/window"
	"github.com/pathwise-net/pathwise/measure"
)

const (
	windowTime  = 250 * time.Millisecond // that a window is kept up for, or windowTrips round trips if they take longer
	windowTrips = 8
	windowLong  = 2 * time.Second // and no longer
	// windowStall is how long nothing may come before a window is taken for lost, beside two round trips.
	windowStall = 50 * time.Millisecond
	// windowRest lets queues drain, and buckets of tokens fill, before the next window.
	windowRest = 100 * time.Millisecond
)

// windowed sends by windows, and waits for the fates of each before the next.
func (r *pingRun) windowed(ctx context.Context) error {
	from, to, err := readWindow(r.Window)
	if err != nil {
		return err
	}
	for _, n := range windowPlan(from, to) {
		first := len(r.echoes)
		if err := r.keep(ctx, n); err != nil {
			return err
		}
		var echoes []measure.Echo
		for i := range r.echoes[first:] {
			if e := &r.echoes[first+i]; !e.done {
				r.settle(e)
			}
			echoes = append(echoes, r.echoes[first+i].Echo)
		}
		r.oldest = len(r.echoes)
		r.windows = append(r.windows, window.Figures(n, echoes, r.onIP()))
		if r.Windowed != nil {
			r.Windowed(r.windows[len(r.windows)-1])
		}
		if err := r.listen(ctx, time.Now().Add(windowRest)); err != nil {
			return err
		}
	}
	return nil
}

// keep keeps n packets in flight for a while, and then waits until they are answered or nothing comes any more. A packet is in flight until it, or
// one after it, is answered.
func (r *pingRun) keep(ctx context.Context, n int) error {
	answered, heard, end := len(r.echoes), time.Now(), time.Now().Add(min(windowLong, max(windowTime, windowTrips*r.longest)))
	for open := true; ; {
		now := time.Now()
		open = open && now.Before(end)
		for ; open && len(r.echoes)-answered < n; heard = time.Now() {
			if err := r.send(0); err != nil {
				return err
			}
		}
		if !open && answered == len(r.echoes) {
			return context.Cause(ctx)
		}
		event, err := r.sender.receive(heard.Add(r.stall()))
		r.handle(event)
		a, is := event.(pingAnswer)
		if is {
			answered, heard, r.longest = max(answered, a.index+1), time.Now(), max(r.longest, a.rtt)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case r.noWay != "":
			return &unreachableError{r.noWay}
		case errors.Is(err, os.ErrDeadlineExceeded):
			if !open {
				return nil
			}
			answered, heard = len(r.echoes), time.Now()
		case err != nil:
			return fmt.Errorf("receive: %w", err)
		}
	}
}

// stall is how long nothing may come while packets are in flight.
func (r *pingRun) stall() time.Duration {
	if r.longest == 0 {
		return min(r.Timeout, time.Second)
	}
	return min(r.Timeout, max(windowStall, 2*r.longest))
}

// onIP is how many bytes a request has at the IP layer, at the first address.
func (r *pingRun) onIP() int { return r.header + r.Size + icmpHeader } // UDP's header is as long

// reportWindows puts windows in the place of single requests, which are too many, and says what their shape means.
func (r *pingRun) reportWindows(result *measure.Result) {
	if r.Window == "" {
		return
	}
	result.Samples.Windows, result.Samples.Echoes = r.windows, nil
	reading := window.Read(r.windows, float64(8*r.onIP()))
	if to, err := netip.ParseAddr(result.Target.Address); err == nil && ofThisHost(to) {
		reading = window.OfSelf()
	}
	result.Parameters["shape"] = string(reading.Shape)
	if reading.BitsPerSecond > 0 {
		result.Metrics[measure.Capacity] = reading.BitsPerSecond
	}
	result.Note(reading.Sentence())
	if finding := reading.Finding(); finding != "" {
		result.Note(fmt.Sprintf("pathwise diagnose %s, with pathwise respond at its end, can prove or refute it: %s", result.Target.Name, finding))
	}
}

// ofThisHost says that an address is one of this host's own, so that packets to it go by its loopback.
func ofThisHost(target netip.Addr) bool {
	own, _ := net.InterfaceAddrs() // without them, those of loopback are known
	return target.IsLoopback() || slices.ContainsFunc(own, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && prefix.Addr() == target.Unmap().WithZone("")
	})
}
