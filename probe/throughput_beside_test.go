package probe

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// flowOf is the Result of one flow by a congestion control, which got so many bit/s in 4 s from a start in milliseconds.
func flowOf(control string, rate float64, at int64) *measure.Result {
	return &measure.Result{Way: measure.Reverse, Started: time.UnixMilli(at), Parameters: map[string]any{loadedBy: bySTAMP},
		Metrics: map[measure.Metric]float64{measure.Throughput: rate, measure.ReceivedBytes: rate / 2, measure.Retransmits: 7, measure.TCPEfficiency: 0.75,
			measure.IdleRTT: 0.02, measure.LoadedRTTMedian: 0.06, measure.LoadedRTTP95: 0.07, measure.BufferDelay: 0.04, measure.CPUSender: 1},
		Samples: measure.Samples{Ends: []measure.TCPEnd{{End: measure.Receiver, CongestionControl: "vegas"}, {End: measure.Sender, CongestionControl: control}},
			TCPInfo: []measure.TCPSample{
				{End: measure.Sender, Direction: measure.Reverse, ElapsedSeconds: 1, Values: map[string]float64{"rtt_seconds": 0.9}},
				{End: measure.Sender, Direction: measure.Reverse, ElapsedSeconds: 3, Values: map[string]float64{"rtt_seconds": 0.05}},
				{End: measure.Sender, Direction: measure.Reverse, ElapsedSeconds: 4, Values: map[string]float64{"rtt_seconds": 0.07}},
			}}}
}

// What came of a run says what each flow got, and how evenly; of a run that failed why.
func TestBesideSample(t *testing.T) {
	count, again, trip := 7., 0.25, 0.06
	flow := func(control string, rate, share float64) measure.BesideFlow {
		return measure.BesideFlow{CongestionControl: control, BitsPerSecond: rate, ReceivedBytes: rate / 2, ShareRatio: share, Retransmits: &count, RetransmittedRatio: &again,
			RTTMedianSeconds: &trip}
	}
	trips := func(all map[measure.Metric]float64) map[measure.Metric]float64 {
		all[measure.IdleRTT], all[measure.LoadedRTTMedian], all[measure.LoadedRTTP95], all[measure.BufferDelay] = 0.02, 0.06, 0.07, 0.04
		return all
	}
	other := flow("reno", 12e6, 0.75)
	for name, c := range map[string]struct {
		run  besideRun
		want measure.BesideSample
	}{
		"alone": {besideRun{tested: flowOf("cubic", 16e6, 0)}, measure.BesideSample{Tested: flow("cubic", 16e6, 1), RoundTripsBy: bySTAMP,
			Metrics: trips(map[measure.Metric]float64{measure.Throughput: 16e6})}},
		"both": {besideRun{control: "reno", tested: flowOf("cubic", 4e6, 250), competing: flowOf("reno", 12e6, 0)},
			measure.BesideSample{CongestionControl: "reno", Tested: flow("cubic", 4e6, 0.25), Competing: &other, ApartSeconds: 0.25, RoundTripsBy: bySTAMP,
				Metrics: trips(map[measure.Metric]float64{measure.Throughput: 16e6, measure.FairnessRatio: 0.8})}},
		"failed": {besideRun{control: "bbr", tested: flowOf("cubic", 4e6, 0), err: errors.New("one\nand two")}, measure.BesideSample{CongestionControl: "bbr", Failure: "one; and two"}},
	} {
		if diff := cmp.Diff(c.want, c.run.sample(), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Metrics of the Result are those of the worst run.
func TestAddFairness(t *testing.T) {
	r := &measure.Result{Metrics: map[measure.Metric]float64{}, Samples: measure.Samples{Beside: []measure.BesideSample{{Tested: measure.BesideFlow{ShareRatio: 1}},
		{CongestionControl: "reno", Tested: measure.BesideFlow{ShareRatio: 0.9}, Competing: &measure.BesideFlow{}, Metrics: map[measure.Metric]float64{measure.FairnessRatio: 0.6}},
		{CongestionControl: "bbr", Tested: measure.BesideFlow{ShareRatio: 0.4}, Competing: &measure.BesideFlow{}, Metrics: map[measure.Metric]float64{measure.FairnessRatio: 0.96}},
		{CongestionControl: "none", Failure: "no such"}}}}
	addFairness(r)
	if diff := cmp.Diff(map[measure.Metric]float64{measure.FairnessRatio: 0.6, measure.BesideShare: 0.4}, r.Metrics); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCheckBeside(t *testing.T) {
	for name, c := range map[string]struct {
		p    Throughput
		want string // of the error; "": there is none
	}{
		"some":          {Throughput{Beside: "reno,cubic,bbr"}, ""},
		"of itself":     {Throughput{Beside: "reno", Config: iperf3.Config{Congestion: "reno", Parallel: 3, Reverse: true, Rate: 1e6}}, ""},
		"twice":         {Throughput{Beside: "reno,reno"}, "give reno once"},
		"an empty one":  {Throughput{Beside: "reno,"}, "such as reno,cubic"},
		"too long":      {Throughput{Beside: "a-congestion-control"}, "at most 15"},
		"of datagrams":  {Throughput{Beside: "reno", Config: iperf3.Config{Proto: iperf3.UDP}}, "leave out udp"},
		"both ways":     {Throughput{Beside: "reno", Config: iperf3.Config{Bidir: true}}, "bidir"},
		"in a sweep":    {Throughput{Beside: "reno", Sweep: Sweep{Over: "streams=1,2"}}, "sweep"},
		"until narrow":  {Throughput{Beside: "reno", Narrow: 0.1}, "within"},
		"of some bytes": {Throughput{Beside: "reno", Config: iperf3.Config{Bytes: 1e6}}, "bytes"},
	} {
		c.p.Target = "127.0.0.1"
		err := c.p.Validate()
		if (err == nil) != (c.want == "") || err != nil && (!input.Bad(err) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A planner reserves the time of all runs, and what both flows take together.
func TestBesideDemand(t *testing.T) {
	one := &Throughput{Target: "192.0.2.1", Config: iperf3.Config{Duration: 10 * time.Second, Rate: 600e3}}
	alone := one.demand()
	one.Beside = "reno,bbr"
	got := one.demand()
	want := alone
	want.DurationSeconds, want.Bytes, want.BitsPerSecond = 3*alone.DurationSeconds, 5*alone.Bytes, 2*alone.BitsPerSecond
	want.Exclusive, want.ResponderTests, want.ResponderTogether = true, 5, 2
	if diff := cmp.Diff(want, got); diff != "" || alone.Exclusive {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Over loopback both flows of each run move data at the same time; a congestion control that the kernel has not fails alone, and all in a row fail the measurement.
func TestBesideLoopback(t *testing.T) {
	var lines []string
	p := &Throughput{Target: "127.0.0.1", Port: serveBy(t, &iperf3.Server{Policy: iperf3.Policy{MaxTests: 2}}), Beside: "reno,none-such", Config: iperf3.Config{Duration: 300 * time.Millisecond, Congestion: "cubic", Rate: 50e6},
		OnRun: func(line string) { lines = append(lines, line) }}
	r, err := p.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := r.Samples.Beside
	if len(all) != 3 || len(lines) != 3 || all[0].Competing != nil || all[1].Competing == nil || all[2].Failure == "" || len(r.Notes) == 0 {
		t.Fatalf("%+v, lines %q, notes %q", all, lines, r.Notes)
	}
	if both := all[1]; both.Tested.CongestionControl != "cubic" || both.Competing.CongestionControl != "reno" || both.Metrics[measure.Throughput] < 60e6 ||
		r.Metrics[measure.FairnessRatio] != both.Metrics[measure.FairnessRatio] {
		t.Errorf("%+v, %v", both, r.Metrics)
	}
	var text strings.Builder
	throughputText(&text, r)
	if !strings.Contains(text.String(), "beside reno") || !strings.Contains(text.String(), "tested: cubic") {
		t.Error(text.String())
	}

	p.Beside, p.OnRun = "none-such", nil
	if r, err := p.Do(t.Context()); err == nil || r.Status == measure.StatusOK {
		t.Errorf("none measured: %v, %+v", err, r)
	}
	ctx, end := context.WithCancel(t.Context())
	p.Beside, p.OnRun = "reno", func(string) { end() }
	if r, err := p.Do(ctx); err == nil || len(r.Samples.Beside) != 1 || r.Metrics[measure.Throughput] <= 0 {
		t.Errorf("ended after the first run: %v, %+v", err, r)
	}
}
