package main

import (
	"context"
	"errors"
	"time"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/quantity"
)

// survey makes the measurements that a diagnosis needs, the light ones first so that no test disturbs the next:
//
//	ping, route  ->  capacity each way  ->  transfer each way  ->  a paced probe each way that lost packets
type survey struct {
	session  *session
	target   string
	port     int
	transfer iperf3.Config
	results  []*measure.Result
}

const (
	surveyPings    = 20
	surveyInterval = 50 * time.Millisecond
	// surveyWrite is how much the transfers write at once: what programs that move files commonly do, so that the send
	// buffer limits the test where it limits them.
	surveyWrite = 32 << 10

	surveyPatience = 2 * time.Second
	surveyPause    = 100 * time.Millisecond
)

// run returns what was measured, and the first error that the diagnosis cannot do without.
func (v *survey) run(ctx context.Context) ([]*measure.Result, error) {
	if _, err := probe.Resolve(ctx, v.target); err != nil {
		return nil, err
	}
	v.session.progress("pinging %s…", v.target)
	v.optional((&probe.Ping{Target: v.target, Count: surveyPings, Interval: surveyInterval}).Do(ctx))
	v.session.progress("tracing the route to %s…", v.target)
	v.optional((&probe.Trace{Target: v.target}).Do(ctx))
	for _, reverse := range []bool{false, true} {
		if err := ctx.Err(); err != nil {
			return v.results, context.Cause(ctx)
		}
		if reverse && v.transfer.Source != nil {
			break // what is read here cannot be sent from there
		}
		if err := v.direction(ctx, reverse); err != nil {
			return v.results, err
		}
	}
	return v.results, nil
}

// optional keeps a Result that helps but that the diagnosis can do without; why it is missing is noted in it.
func (v *survey) optional(r *measure.Result, err error) {
	if err != nil {
		r.Note(r.Kind + " failed: " + err.Error())
	}
	v.session.measured(r)
	v.results = append(v.results, r)
}

// direction measures one way. The far end answers one test at a time.
func (v *survey) direction(ctx context.Context, reverse bool) error {
	way := map[bool]string{false: "to", true: "from"}[reverse]
	v.session.progress("measuring the capacity of the path %s %s…", way, v.target)
	capacity, err := (&probe.Capacity{Target: v.target, Port: v.port, Reverse: reverse}).Do(ctx)
	if errors.Is(err, iperf3.ErrRefused) || errors.Is(err, iperf3.ErrBusy) {
		return err
	}
	v.optional(capacity, err)
	v.session.progress("moving data %s %s for %v…", way, v.target, v.transfer.Duration)
	config := v.transfer
	config.Reverse, config.EventLoop, config.Length = reverse, true, surveyWrite
	r, err := v.again(ctx, &probe.Throughput{Target: v.target, Port: v.port, Config: config})
	if err != nil && len(r.Metrics) == 0 {
		return err
	}
	v.session.measured(r)
	v.results = append(v.results, r)
	if err != nil {
		return err
	}
	paced, ok := diagnose.PacedProbe(v.results, reverse)
	if !ok {
		return nil
	}
	v.session.progress("counting losses at %s %s %s…", quantity.FormatRate(paced.BitsPerSecond), way, v.target)
	v.optional(v.again(ctx, &probe.Throughput{Target: v.target, Port: v.port, Config: iperf3.Config{
		Proto: iperf3.UDP, Reverse: reverse, Rate: int64(paced.BitsPerSecond), Duration: paced.Duration, Length: paced.PacketBytes,
	}}))
	return nil
}

// again makes a measurement, and makes it again while the far end is not ready for it: after a test that worked, an
// iperf3 server opens its port anew, and a responder may still be ending that test.
func (v *survey) again(ctx context.Context, p *probe.Throughput) (*measure.Result, error) {
	patience := time.After(surveyPatience)
	for {
		r, err := p.Do(ctx)
		if !errors.Is(err, iperf3.ErrBusy) && !errors.Is(err, iperf3.ErrRefused) {
			return r, err
		}
		select {
		case <-patience:
			return r, err
		case <-ctx.Done():
			return r, err
		case <-time.After(surveyPause):
		}
	}
}
