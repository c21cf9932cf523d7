package probe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/pathwise-net/pathwise/analysis/passage"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/sock"
)

// Do sends the packets and returns a Result of kind "owd". Parameters["stamps"] says whose clock this end's stamps are by: "kernel" (within
// microseconds of the wire) or "user".
func (p OWD) Do(ctx context.Context) (*measure.Result, error) {
	if p.Continuous && !p.alone {
		return p.goOn(ctx)
	}
	r, err := measured(ctx, "owd", p.Target, p.measure)
	if p.Continuous && len(r.Metrics) > 0 {
		r.DurationSeconds = p.withDefaults().Every.Seconds() // until the next run; what was under way then is waited for beside it
	}
	return r, err
}

func (p OWD) measure(ctx context.Context, result *measure.Result) error {
	if err := p.Validate(); err != nil {
		return err
	}
	p = p.withDefaults()
	if err := p.readKey(); err != nil {
		return err
	}
	result.Parameters = recorded(owdFields(), &p)
	result.Clock = askedClock()
	ways, err := waysTo(ctx, nil, p.Target, p.Family)
	if err != nil {
		return err
	}
	return tryWays(result, ways, func(w way, last bool) error {
		if p.Proto == protoOWAMP {
			return p.measureOWAMP(ctx, w, last, result)
		}
		return p.measureWay(ctx, w, last, result)
	})
}

func askedClock() measure.Clock {
	clock := sock.AskClockState()
	return measure.NewClock(clock.Bound, clock.Synchronized)
}

// measureWay measures to an address of the target. Unless it is the last, the first packet that is refused for want of a way ends it.
func (p OWD) measureWay(ctx context.Context, w way, last bool, result *measure.Result) error {
	socket, err := p.open(w)
	if err != nil {
		return err
	}
	defer socket.Close()
	session, err := p.begin(ctx, w, socket, result.Clock)
	if err != nil {
		if !last && isUnreachable(err) {
			return &unreachableError{err.Error()}
		}
		return err
	}
	ctx = session.ctx
	defer context.AfterFunc(ctx, socket.Interrupt)()
	result.Parameters["mode"] = session.mode

	marks, mark, err := p.classMarks(socket)
	if err != nil {
		return err
	}
	run := &owdRun{OWD: p, marks: marks, mark: mark, socket: socket, ends: []owdEnd{{to: session.to, packets: session.packets}}, last: last, started: p.begins()}
	if p.alone {
		result.Started = run.started.UTC()
	}
	err = run.do(ctx)
	if ctx.Err() != nil { // whatever call it made fail
		err = context.Cause(ctx)
	}
	if ended := session.end(); err == nil {
		err = ended
	}
	var unreachable *unreachableError
	if errors.As(err, &unreachable) {
		return err // another address is to be tried
	}
	run.report(result)
	if err != nil {
		return fmt.Errorf("measure one-way delay to %s: %w", p.Target, err)
	}
	return nil
}

// open opens a socket that stamps, and marks what it sends as the parameters say.
func (p OWD) open(w way) (*sock.Socket, error) {
	socket, err := sock.OpenUDP(w.to.Is6())
	if err != nil {
		return nil, err
	}
	conn, err := socket.SyscallConn()
	if err == nil {
		err = socket.SetTTL(p.TTL)
	}
	if err == nil && p.DSCP != 0 {
		err = sock.SetDSCP(conn, p.DSCP)
	}
	if err == nil {
		err = sock.TellDSCP(conn)
	}
	if err != nil {
		socket.Close()
		return nil, err
	}
	return socket, nil
}

// classMarks are the marks that take turns, and what sets them; nil where there is one.
func (p OWD) classMarks(socket *sock.Socket) (marks []int, mark func(int) error, err error) {
	if p.Classes == "" {
		return nil, nil, nil
	}
	conn, err := socket.SyscallConn()
	if err != nil {
		return nil, nil, err
	}
	marks, err = readClasses(p.Classes)
	return marks, func(dscp int) error { return sock.SetDSCP(conn, dscp) }, err
}

// report fills in what was measured. Packets whose fate was still open when the run was cut short are neither answered nor lost, and so
// are left out.
func (r *owdRun) report(result *measure.Result) {
	packets := r.known(result)
	arrivals := make([]passage.Answer, 0, len(r.arrivals))
	for _, a := range r.arrivals {
		if a.Index < r.first+len(packets) {
			arrivals = append(arrivals, a)
		}
	}
	result.TargetClock = farClock(packets)
	f := reduceOWD(packets, arrivals, r.started.Round(0), claimed(result))
	r.fill(result, packets, &f)
}

// known are the packets of which all is known that will be.
func (r *owdRun) known(result *measure.Result) []owdPacket {
	known := 0
	for known < len(r.sent) && r.sent[known].settled {
		known++
	}
	if open := len(r.sent) - known; open > 0 {
		result.Note(fmt.Sprintf("%d packets were on their way when the measurement was cut short and are not counted", open))
	}
	return r.sent[:known]
}

// fill fills in what packets add up to.
func (r *owdRun) fill(result *measure.Result, packets []owdPacket, f *owdFigures) {
	result.Metrics, result.Distributions = f.metrics, f.distributions
	both, forward, reverse := owdPassages(packets, r.started, f.ways)
	addAvailability(result.Metrics, "", both, r.Interval)
	addAvailability(result.Metrics, measure.Forward, forward, r.Interval)
	addAvailability(result.Metrics, measure.Reverse, reverse, r.Interval)
	reportClocks(result, f)
	r.reportSamples(result, packets)
	r.reportClasses(result, packets, &f.ways)
	result.Samples.Marks = marksOf(packets, r.first, r.turns())
	if f.ways.Open > 0 && !r.heard.IsZero() {
		result.Note(fmt.Sprintf("which way the last %d packets were lost is not known: nothing came back after them", f.ways.Open))
	}
	if !f.ways.Counted && len(f.ways.Back) > 0 {
		result.Note("which way packets were lost is not known: the far end does not count what it answers, or all were lost on the way back")
	}
}

// reportSamples adds the packets one by one, and what this end's stamps were worth.
func (r *owdRun) reportSamples(result *measure.Result, packets []owdPacket) {
	user, late, latest := 0, 0, time.Duration(0)
	hops := 0
	for i := range packets {
		p := &packets[i]
		if i < owdMostSamples {
			result.Samples.Echoes = append(result.Samples.Echoes, p.echo(r.first+i, r.started))
		}
		if p.sent.Kernel.IsZero() || p.answeredInTime() && p.received.Kernel.IsZero() {
			user++
		}
		if p.late > lateLeast {
			late++
			latest = max(latest, p.late)
		}
		if p.answeredInTime() && p.ttl > 0 {
			hops = r.TTL - p.ttl + 1
		}
	}
	if hops > 0 {
		result.Metrics[measure.HopCount] = float64(hops)
	}
	if back := hopsBack(result.Samples.Echoes); back > 0 {
		result.Metrics[measure.ReverseHopCount] = float64(back)
	}
	result.Parameters["stamps"] = "kernel"
	if user > 0 {
		result.Note(fmt.Sprintf("%d of %d packets lack a kernel stamp and are by this process's clock", user, len(packets)))
		if user*2 > len(packets) {
			result.Parameters["stamps"] = "user"
		}
	}
	if r.skipped > 0 {
		result.Note(fmt.Sprintf("the first %d packets were not sent: it began too late for them", r.skipped))
	}
	if late > 0 {
		result.Note(fmt.Sprintf("%d packets left later than planned, up to %s: this host was busy", late, quantity.FormatSeconds(latest.Seconds())))
	}
	if len(packets) > owdMostSamples {
		result.Note(fmt.Sprintf("the first %d packets are listed one by one; the figures are of all %d", owdMostSamples, len(packets)))
	}
}

// farClock is what the far end said of its clock last; nil: nothing.
func farClock(packets []owdPacket) *measure.Clock {
	for i := len(packets) - 1; i >= 0; i-- {
		if packets[i].answeredInTime() {
			return new(packets[i].clock)
		}
	}
	return nil
}

// claimed is the most that both clocks together are off by, as both ends claim; NaN: one of them claims nothing.
func claimed(result *measure.Result) float64 {
	if far := result.TargetClock; far != nil && far.ErrorSeconds != nil && result.Clock.ErrorSeconds != nil {
		return *far.ErrorSeconds + *result.Clock.ErrorSeconds
	}
	return math.NaN()
}

// reportClocks says what the packets tell of both clocks.
func reportClocks(result *measure.Result, f *owdFigures) {
	if !f.known {
		return
	}
	result.TargetClock.AheadSeconds = &[2]float64{f.clocks.Low, f.clocks.High}
	for _, step := range f.clocks.Steps {
		result.TargetClock.StepSeconds += step.By
		result.Note(fmt.Sprintf("a clock was set by %s after %s: one-way delays before and after do not compare",
			quantity.FormatSeconds(step.By), quantity.FormatSeconds(max(0, step.At)))) // at a seam, before it
	}
	if f.contradicted {
		result.Note(fmt.Sprintf("the clocks are not as right as they claim: both ends claim %s together, and the far clock is ahead by %s to %s",
			quantity.FormatSeconds(claimed(result)), quantity.FormatSeconds(f.clocks.Low), quantity.FormatSeconds(f.clocks.High)))
	}
}
