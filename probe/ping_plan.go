package probe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/input"
)

// When requests leave, and how large each is, where they are not all alike.

// The schedules of Ping.
const (
	schedulePeriodic  = "periodic"
	schedulePoisson   = "poisson"
	scheduleGeometric = "geometric"
)

var pingSchedules = []string{schedulePeriodic, schedulePoisson, scheduleGeometric}

const (
	// geometricSlots are those of an interval, in each of which a request leaves with a probability of 1/geometricSlots, so that an interval is the mean:
	// geometric sampling is Poisson's with time in steps, and as little biased where what is measured changes more slowly than a step. Two
	// requests are never closer than a tenth of the interval, and so never meet in one queue, as every tenth pair of Poisson's does.
	geometricSlots = 10

	// floodLeast is how long a flood waits for an answer before it sends again: it sends 100 requests a second at least, as floods of ping always did.
	floodLeast = 10 * time.Millisecond

	sizeSteps = 10 // sizes of a sweep, at most

	// A burst is burstLong packets of burstSize bytes and then as many of the least size. Short ones, where a path has several ways or queues, overtake
	// the long ones that left before them; links that keep the order have the least cause to otherwise.
	burstLong = 5
	burstSize = 1400 // bytes of payload: what tunnels carry whole, too
)

// random reports whether intervals are drawn.
func (p Ping) random() bool { return p.schedule() != schedulePeriodic }

func (p Ping) schedule() string {
	switch {
	case p.Poisson:
		return schedulePoisson
	case p.Schedule == "":
		return schedulePeriodic
	}
	return p.Schedule
}

// gaps are the intervals between requests.
func (p Ping) gaps() func() time.Duration {
	sent := 0
	switch p.schedule() {
	case schedulePoisson:
		return func() time.Duration { return time.Duration(p.Rand.ExpFloat64() * float64(p.Interval)) }
	case scheduleGeometric:
		slot, rate := p.Interval/geometricSlots, -math.Log1p(-1./geometricSlots)
		return func() time.Duration { return slot * time.Duration(1+math.Floor(p.Rand.ExpFloat64()/rate)) }
	}
	return func() time.Duration {
		if sent++; p.Burst && sent%(2*burstLong) != 0 {
			return 0
		}
		return p.Interval
	}
}

// sizesOf gives the payload size of each request by its index, which is asked for in order.
func (p Ping) sizesOf() func(index int) int {
	switch {
	case p.Burst:
		return func(index int) int {
			if index%(2*burstLong) < burstLong {
				return p.Size
			}
			return indexedSize
		}
	case p.Sizes != "":
		all := sizePlan(p.Sizes)
		var round []int // each size once, in an order of its own
		return func(index int) int {
			if index%len(all) == 0 {
				round = p.Rand.Perm(len(all))
			}
			return all[round[index%len(all)]]
		}
	}
	return func(int) int { return p.Size }
}

// readSizes reads "64..1472".
func readSizes(text string) (from, to int, err error) {
	low, high, ranged := strings.Cut(text, "..")
	from, err = strconv.Atoi(low)
	if err == nil {
		to, err = strconv.Atoi(high)
	}
	if err != nil || !ranged || from < indexedSize || to <= from || to > pingMaxSize {
		return 0, 0, &input.Error{Field: "sizes", Value: text, Remedy: fmt.Sprintf("give two sizes such as 64..1472, from %d to %d", indexedSize, pingMaxSize)}
	}
	return from, to, nil
}

// sizePlan are the sizes between two, as far apart as each other, both included.
func sizePlan(text string) (all []int) {
	from, to, _ := readSizes(text)
	n := min(sizeSteps, to-from+1)
	for i := range n {
		all = append(all, from+(to-from)*i/(n-1))
	}
	return all
}

// checkPlan refuses what does not go together.
func (p Ping) checkPlan() error {
	refuse := func(field, value, remedy string) error {
		return &input.Error{Field: field, Value: value, Remedy: remedy}
	}
	icmp := p.Proto == "" || p.Proto == protoICMP
	ways := 0
	for _, asked := range []bool{p.Window != "", p.Flood, p.Burst, p.Sizes != ""} {
		if asked {
			ways++
		}
	}
	if p.Sizes != "" {
		if _, _, err := readSizes(p.Sizes); err != nil {
			return err
		}
	}
	switch drawn := p.schedule() != schedulePeriodic; {
	case p.Poisson && p.Schedule != "" && p.Schedule != schedulePoisson:
		return refuse("poisson", "true", "the schedule is "+p.Schedule+"; leave one of the two out")
	case ways > 1:
		return refuse("window, flood, reorder-burst, sizes", "", "give one of them")
	case drawn && (p.Window != "" || p.Flood || p.Burst):
		return refuse("schedule", p.schedule(), "a window, a flood and bursts have schedules of their own; leave it out")
	case p.Flood && p.Interval != 0:
		return refuse("interval", p.Interval.String(), "a flood sends as answers come; leave one of the two out")
	case !icmp && (p.Sizes != "" || p.Burst):
		return refuse("proto", p.Proto, "sizes and reorder-burst are of icmp; leave it out")
	case p.Sizes != "" && p.Size != 0:
		return refuse("size", strconv.Itoa(p.Size), "sizes say it; leave one of the two out")
	case p.Flood && p.Proto == protoTCP:
		return refuse("flood", "true", "connections are no flood; ask for proto icmp, udp or stamp")
	}
	return nil
}

// permitFlood refuses a flood that nobody is answerable for: on the command line only root may have one. What an agent does its owner's policy
// has let pass, as a test that takes the path for itself.
func (p Ping) permitFlood() error {
	if p.Flood && !p.MayFlood && os.Geteuid() != 0 {
		return &input.Error{Field: "flood", Value: "true", Remedy: fmt.Sprintf("only root may flood; give an interval, of at least %v", pingMinInterval)}
	}
	return nil
}

// flooded sends a request as soon as the one before it is answered, refused, or floodLeast old.
func (r *pingRun) flooded(ctx context.Context) error {
	for range r.Count {
		if err := r.send(0); err != nil {
			return err
		}
		last := &r.echoes[len(r.echoes)-1]
		until := last.sent.Add(floodLeast)
		for !last.done && ctx.Err() == nil && r.noWay == "" {
			event, err := r.sender.receive(until)
			r.handle(event)
			r.expire(time.Now())
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			if err != nil {
				return fmt.Errorf("receive: %w", err)
			}
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case r.noWay != "":
			return &unreachableError{r.noWay}
		}
	}
	return r.listen(ctx, time.Time{})
}
