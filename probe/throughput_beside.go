package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/stat"
)

// How a transfer is measured beside others:
//
//	alone                beside reno             beside bbr
//	|=== tested ===|     |=== tested ====|      |=== tested ====|
//	                     |=== reno ======|      |=== bbr =======|
//
// Both flows of a run begin at once: one that is ahead has the queue and a grown window for seconds, which says more of who came first than of
// congestion control. They differ in congestion control alone. Throughput is of all the time that they sent, unless slow start is omitted.
const (
	// mostBeside is of how many congestion controls a measurement is at most: more than a kernel has.
	mostBeside = 16
	// besideApart is the share of the time by which the flows of a run may begin apart before a note says so.
	besideApart = 0.05
)

// readBeside reads names of congestion controls with commas between them; want is what would be right, or "" if it is.
func readBeside(text string) (names []string, want string) {
	names = strings.Split(text, ",")
	for i, name := range names {
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return nil, "give congestion controls with commas between them, such as reno,cubic"
		}
		if slices.Contains(names[:i], name) {
			return nil, "give " + name + " once"
		}
	}
	if len(names) > mostBeside {
		return nil, fmt.Sprintf("give at most %d; these are %d", mostBeside, len(names))
	}
	return names, ""
}

// checkBeside refuses competing flows of what cannot have them.
func (p *Throughput) checkBeside() error {
	if p.Beside == "" {
		return nil
	}
	names, want := readBeside(p.Beside)
	if want != "" {
		return &input.Error{Field: "beside", Value: p.Beside, Remedy: want}
	}
	c := &p.Config
	if c.Proto == iperf3.UDP || c.Bidir || c.Bytes > 0 || c.Blocks > 0 || c.Source != nil || p.Search != "" || p.Narrow > 0 || p.Sweep.Over != "" || p.Files != (Files{}) {
		return &input.Error{Field: "beside", Value: p.Beside,
			Remedy: "it is of tcp for a time in one direction: leave out udp, bytes, blocks, bidir, search, sweep, within, input and files"}
	}
	for _, name := range names {
		if err := p.competing(name).Config.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// competing is the flow that a test has beside it.
func (p *Throughput) competing(control string) *Throughput {
	other := *p
	other.Beside, other.OnInterval, other.OnReading, other.OnRun = "", nil, nil, nil
	other.Config.Congestion, other.Config.Interval = control, -1
	if p.Config.Cookie != "" {
		other.Config.Cookie = measure.CompetingSecret(p.Config.Cookie)
	}
	return &other
}

// besideRun are the Results of the flows of one run; competing is nil of the transfer alone.
type besideRun struct {
	control           string
	tested, competing *measure.Result
	err               error
}

// beside makes a transfer alone and beside each competing one, and returns the Result of the one alone, with what came of all in its samples.
func (p *Throughput) beside(ctx context.Context) (*measure.Result, error) {
	names, _ := readBeside(p.Beside)
	alone := *p
	alone.Beside = ""
	watch := startWatch()
	result, err := alone.transfer(ctx, alone.beginSideTrips)
	result.Parameters["beside"] = p.Beside
	if err != nil {
		return result, err
	}
	samples := []measure.BesideSample{besideRun{tested: result}.sample()}
	p.sayBeside(samples[0])
	failed := error(nil)
	for _, name := range names {
		run := p.competeWith(ctx, name)
		if ctx.Err() != nil {
			failed = run.err
			break
		}
		one := run.sample()
		samples = append(samples, one)
		p.sayBeside(one)
		if one.ApartSeconds > besideApart*besideSeconds(result) {
			result.Note(fmt.Sprintf("beside %s the flows began %.2g s apart: the first had the path alone so long", name, one.ApartSeconds))
		}
		if failed = nil; one.Failure != "" {
			failed = fmt.Errorf("beside %s: %w", name, cmp.Or(run.err, errNoRate))
			result.Note("beside " + name + ": " + one.Failure)
		}
	}
	watch.stop(result)
	result.Samples.Beside = samples
	if addFairness(result); ctx.Err() != nil || !hasFairness(samples) {
		result.Fail(failed)
		return result, failed
	}
	return result, nil
}

// competeWith makes a run of both flows. Where one of them fails the other is ended.
func (p *Throughput) competeWith(ctx context.Context, control string) besideRun {
	both, end := context.WithCancelCause(ctx)
	defer end(nil)
	tested, other := p.competing(p.Config.Congestion), p.competing(control)
	tested.Config.Cookie = p.Config.Cookie
	side := p.beginSideTrips(both)
	run := besideRun{control: control}
	var group sync.WaitGroup
	group.Go(func() {
		var err error
		if run.tested, err = tested.transfer(both, func(context.Context) *sideTrips { return side }); err != nil {
			end(err)
		}
	})
	group.Go(func() {
		var err error
		if run.competing, err = other.transfer(both, noSideTrips); err != nil {
			end(err)
		}
	})
	group.Wait()
	run.err = context.Cause(both) // what went wrong first
	if errors.Is(run.err, iperf3.ErrBusy) {
		run.err = fmt.Errorf("%w; both flows come at once, which `pathwise respond` takes with --max-tests 2", run.err)
	}
	return run
}

// noSideTrips are those of a transfer that another one takes them for.
func noSideTrips(context.Context) *sideTrips { return nil }

// sample is what came of a run.
func (b besideRun) sample() measure.BesideSample {
	one := measure.BesideSample{CongestionControl: b.control}
	if b.err != nil {
		one.Failure = strings.ReplaceAll(b.err.Error(), "\n", "; ")
		return one
	}
	one.Tested = besideFlow(b.tested)
	one.Metrics = map[measure.Metric]float64{measure.Throughput: one.Tested.BitsPerSecond}
	if b.competing != nil {
		other := besideFlow(b.competing)
		one.Competing, one.ApartSeconds = &other, b.competing.Started.Sub(b.tested.Started).Abs().Seconds()
		one.Metrics[measure.Throughput] += other.BitsPerSecond
		one.Metrics[measure.FairnessRatio] = stat.Fairness(one.Tested.BitsPerSecond, other.BitsPerSecond)
	}
	all := one.Metrics[measure.Throughput]
	if all == 0 {
		one.Failure = errNoRate.Error()
		return one
	}
	one.Tested.ShareRatio = one.Tested.BitsPerSecond / all
	if one.Competing != nil {
		one.Competing.ShareRatio = one.Competing.BitsPerSecond / all
	}
	for _, m := range []measure.Metric{measure.IdleRTT, measure.LoadedRTTMedian, measure.LoadedRTTP95, measure.BufferDelay} {
		if v, known := b.tested.Get(m); known {
			one.Metrics[m] = v
		}
	}
	one.RoundTripsBy, _ = b.tested.Parameters[loadedBy].(string)
	return one
}

// besideFlow is what one flow's Result says of it.
func besideFlow(r *measure.Result) measure.BesideFlow {
	f := measure.BesideFlow{BitsPerSecond: r.Metrics[measure.Throughput], ReceivedBytes: r.Metrics[measure.ReceivedBytes]}
	for _, end := range r.Samples.Ends {
		if end.End == measure.Sender {
			f.CongestionControl = cmp.Or(f.CongestionControl, end.CongestionControl)
		}
	}
	if v, known := r.Get(measure.Retransmits); known {
		f.Retransmits = &v
	}
	if v, known := r.Get(measure.TCPEfficiency); known {
		again := 1 - v
		f.RetransmittedRatio = &again
	}
	way := measure.Forward
	if r.Way == measure.Reverse {
		way = measure.Reverse
	}
	if readings := r.Samples.Readings(way, measure.Sender); len(readings) > 0 {
		if _, trips, _ := ownTrips(readings, readings[len(readings)-1].ElapsedSeconds); len(trips) > 0 {
			median := stat.Median(slices.Sorted(slices.Values(trips)))
			f.RTTMedianSeconds = &median
		}
	}
	return f
}

// besideSeconds is how long a Result's transfer took.
func besideSeconds(r *measure.Result) float64 {
	if rate := r.Metrics[measure.Throughput]; rate > 0 {
		return 8 * r.Metrics[measure.ReceivedBytes] / rate
	}
	return 0
}

// addFairness makes metrics of the worst of the runs.
func addFairness(r *measure.Result) {
	for _, one := range r.Samples.Beside {
		if one.Competing == nil || one.Failure != "" {
			continue
		}
		for m, v := range map[measure.Metric]float64{measure.FairnessRatio: one.Metrics[measure.FairnessRatio], measure.BesideShare: one.Tested.ShareRatio} {
			if least, known := r.Get(m); !known || v < least {
				r.Metrics[m] = v
			}
		}
	}
}

func hasFairness(samples []measure.BesideSample) bool {
	return slices.ContainsFunc(samples, func(s measure.BesideSample) bool { return s.Competing != nil && s.Failure == "" })
}

// besideField is the parameter that names the competing flows.
func besideField() field[Throughput] {
	b := word(func(p *Throughput) *string { return &p.Beside })
	set := b.set
	b.set = func(p *Throughput, v any) string {
		text, _ := v.(string)
		if _, want := readBeside(text); want != "" {
			return want
		}
		return set(p, v)
	}
	return field[Throughput]{Name: "beside", Default: "none", binding: b,
		Meaning: "of tcp: the test alone, then beside a competing flow of each congestion control, such as reno,cubic: shares, fairness, delay and loss"}
}

// besideDemand is what all runs ask together, of which one alone asks d.
func (p *Throughput) besideDemand(d measure.Demand) measure.Demand {
	names, _ := readBeside(p.Beside)
	n := float64(len(names))
	d.DurationSeconds *= 1 + n
	d.Bytes *= 1 + 2*n
	d.BitsPerSecond *= 2
	d.Exclusive = d.Exclusive || d.BitsPerSecond > LightRate
	d.ResponderTests, d.ResponderTogether = 1+2*len(names), 2
	return d
}

// sayBeside tells of a run on the way.
func (p *Throughput) sayBeside(one measure.BesideSample) {
	if p.OnRun != nil {
		p.OnRun(besideLine(one))
	}
}
