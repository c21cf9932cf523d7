package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/owamp"
)

// measureOWAMP measures both ways to an address of the target, at the same time.
func (p OWD) measureOWAMP(ctx context.Context, w way, last bool, result *measure.Result) error {
	over, end := context.WithCancel(ctx)
	defer end()
	if p.Deadline > 0 {
		defer time.AfterFunc(p.Deadline+p.Timeout, end).Stop()
	}
	plan := p.owampPlan(result.Started)
	plan.Stop = over.Done()
	asking, forget := outlive(ctx, owampEnds)
	defer forget()
	client := owamp.Client{Mode: controlModes[p.Mode], KeyID: p.KeyID, Secret: p.key}
	report, err := client.Measure(asking, []netip.AddrPort{netip.AddrPortFrom(w.to, uint16(p.Port))}, plan)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if report == nil {
		if !last && isUnreachable(err) {
			return &unreachableError{err.Error()}
		}
		return fmt.Errorf("measure one-way delay to %s: %w", p.Target, err)
	}
	result.Parameters["mode"] = modeLetter(report.Mode)
	p.reportOWAMP(result, report)
	if err != nil {
		return fmt.Errorf("measure one-way delay to %s: %w", p.Target, err)
	}
	return nil
}

// owampEnds is how long the server may take, after an interrupt, to end the test and to tell what it received: some round trips.
const owampEnds = 2 * time.Second

// outlive is a context that ends so long after another one does.
func outlive(ctx context.Context, by time.Duration) (longer context.Context, cancel func()) {
	longer, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(by, func() { end(context.Cause(ctx)) }) })
	return longer, func() {
		stop()
		end(nil)
	}
}

// owampPlan is the test, whose packets that come are told on the way.
func (p OWD) owampPlan(began time.Time) (plan owamp.Plan) {
	slots := owamp.Periodic(p.Interval, p.Count)
	if p.Poisson {
		slots = []owamp.Slot{owamp.Exponential(p.Interval)}
	}
	terms := owamp.Terms{Packets: p.Count, Slots: slots, Padding: max(0, p.Size-p.leastSize()), Timeout: p.Timeout, DSCP: p.DSCP}
	there, back := terms, terms
	plan = owamp.Plan{Forward: &there, Reverse: &back}
	if p.Progress != nil {
		tell := func(way string) func(owamp.Record) {
			return func(r owamp.Record) {
				packet := recordPacket(r, nil)
				p.Progress(packet.echo(way, began))
			}
		}
		plan.OnForward, plan.OnRecord = tell(measure.Forward), tell(measure.Reverse)
	}
	return plan
}

// reportOWAMP fills in what was measured, and tells of the packets that were lost.
func (p OWD) reportOWAMP(result *measure.Result, report *owamp.Report) {
	there, back := sessionOf(report.Forward, report.Left), sessionOf(report.Reverse, nil)
	result.TargetClock = owampClock(report)
	f := reduceOneWay(&there, &back, result.Started, claimed(result))
	result.Metrics, result.Distributions = f.metrics, f.distributions
	reportClocks(result, &f)
	for _, w := range []struct {
		way  string
		hops measure.Metric
		*oneWaySession
	}{{measure.Forward, measure.HopCount, &there}, {measure.Reverse, measure.ReverseHopCount, &back}} {
		for i := range w.packets {
			e := w.packets[i].echo(w.way, result.Started)
			if p.Progress != nil && w.packets[i].received.IsZero() {
				p.Progress(e)
			}
			if e.TTL > 0 {
				result.Metrics[w.hops] = float64(owdTTL - e.TTL + 1)
			}
			if i < owdMostSamples {
				result.Samples.Echoes = append(result.Samples.Echoes, e)
			}
		}
		if !w.known {
			result.Note("of the " + w.way + " way only what came before the end is known: what was lost after it is not")
		}
	}
	result.Parameters["stamps"] = owampStamps(report.Left)
	if report.Skipped > 0 {
		result.Note(fmt.Sprintf("%d packets were not sent: %v", report.Skipped, orLate(report.SendError)))
	}
	if most := max(len(there.packets), len(back.packets)); most > owdMostSamples {
		result.Note(fmt.Sprintf("the first %d packets of each way are listed one by one; the figures are of all", owdMostSamples))
	}
}

func orLate(err error) error {
	if err == nil {
		return errors.New("this host was too late for them")
	}
	return err
}

// owampStamps says by whom most packets of this host were stamped.
func owampStamps(left []control.Timestamp) string {
	kernel := 0
	for _, at := range left {
		if at != 0 {
			kernel++
		}
	}
	if kernel*2 < len(left) || kernel == 0 {
		return "user"
	}
	return "kernel"
}

// owampClock is what the far end said of its clock last; nil: nothing.
func owampClock(report *owamp.Report) *measure.Clock {
	last := func(s *owamp.Session) *owamp.Record {
		if s == nil {
			return nil
		}
		for i := len(s.Records) - 1; i >= 0; i-- {
			if !s.Records[i].Lost() {
				return &s.Records[i]
			}
		}
		return nil
	}
	if r := last(report.Reverse); r != nil {
		return new(measure.NewClock(r.SentError.Bound()))
	}
	if r := last(report.Forward); r != nil {
		return new(measure.NewClock(r.ReceivedError.Bound()))
	}
	return nil
}
