package probe

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/sock"
)

// Throughput moves data between this host and any iperf3 server, and says how fast it went and what held it back.
// Against a Pathwise responder the Result holds TCP_INFO and the settings of both ends, else of this end.
//
// The throughput metric is goodput at the receiver, from this host to Target, or the other way with Config.Reverse;
// with Config.Bidir the other way's is measure.ReverseThroughput.
type Throughput struct {
	Target     string
	Family     sock.Family   // zero: the first of the target's addresses that answers, as RFC 8305 orders
	Port       int           // 0: iperf3's, 5201
	Config     iperf3.Config // its OnInterval is taken by this probe
	Login      Login         // the zero value: the target lets test who does not say who they are
	Narrow     float64       // end as soon as the goodput is known within this share of itself, by 95 %; 0: not before its time; TCP
	Search     string        // UDP: find how much passes, from Config.Rate on: SearchTrials, or SearchRFC9097; "": one test at a rate
	Sweep      Sweep         // the zero value: one test
	PathRate   int64         // TCP: bit/s of IP packets that the narrowest link carries, for the RFC 6349 transfer time ratio; 0: not known
	Beside     string        // TCP: congestion controls of competing flows, with commas; "": none
	Group      Group         // the zero value: to the target
	Files      Files         // the zero value: from memory to memory
	OnInterval func(measure.Interval)
	OnRun      func(line string)       // called after each test of a sweep, with a line for people; nil: nobody wants it
	OnTrial    func(measure.Trial)     // called for each trial of a search; nil: nobody wants them
	OnReading  func(measure.TCPSample) // called for each reading of this end's TCP_INFO, from a goroutine of the test's; nil: nobody wants them

	alone bool // no packets go beside the transfer: of a test in a mesh that does not load its path, in trials of a search and tests of a sweep
	// tripsKnown: packets beside the transfer begin with it, of which the first ones are idle, as it is set up meanwhile.
	tripsKnown bool
	reflector  int // UDP port of the STAMP reflector; 0: 862
}

// Validate reports the first parameter that cannot be.
func (p *Throughput) Validate() error {
	return cmp.Or(checkTarget(p.Target, p.Family), checkRange("port", p.Port, 0, 65535), p.checkNarrow(), p.checkSearch(), p.checkBeside(), p.checkPathRate(), p.checkGroup(), p.Files.check(p), p.Login.check(), p.checkConfig(), p.checkSweep())
}

func (p *Throughput) checkConfig() error {
	c := p.testConfig()
	if p.Group.Address != "" {
		c = p.groupConfig()
	}
	return c.Validate()
}

// Do makes the measurement.
func (p *Throughput) Do(ctx context.Context) (*measure.Result, error) {
	if err := p.Validate(); err != nil {
		r := p.newResult()
		r.Fail(err)
		return r, err
	}
	if p.Search == SearchRFC9097 {
		one := *p
		one.Config = p.testConfig()
		p = &one
	}
	switch {
	case p.Search == SearchTrials:
		return p.search(ctx)
	case p.Sweep.Over != "":
		return p.sweep(ctx)
	case p.Beside != "":
		return p.beside(ctx)
	case p.Group.Address != "":
		return p.multicast(ctx)
	}
	return p.transfer(ctx, p.beginSideTrips)
}

func (p *Throughput) newResult() *measure.Result {
	r := newResult("throughput", p.Target)
	r.Way = measure.WayOf(r.Kind, map[string]any{"reverse": p.Config.Reverse, "bidir": p.Config.Bidir})
	return r
}

// transfer makes one test. What begins packets beside it is called when nothing but the test is left to do.
func (p *Throughput) transfer(ctx context.Context, begin func(context.Context) *sideTrips) (*measure.Result, error) {
	r := p.newResult()
	config := p.Config
	config.Enough = p.enough()
	var err error
	if config.Auth, err = p.Login.read(); err != nil {
		r.Fail(err)
		return r, err
	}
	if p.OnInterval != nil {
		config.OnInterval = func(i iperf3.IntervalReport) { p.OnInterval(interval(i)) }
	}
	file, err := p.Files.open(&config)
	if err != nil {
		r.Fail(err)
		return r, err
	}
	side := begin(ctx)
	watch := startWatch()
	report, err := runIperf3(ctx, p.Target, p.Family, p.Port, config)
	watch.stop(r)
	maps.Copy(r.Parameters, p.parameters(report))
	r.TargetClock = peerClock(report)
	fillThroughput(r, report, &config)
	if config.Search {
		fillSearch(r, report)
	}
	fillLoad(r, report, side.end(r.Target.Address, report.Started))
	fillTransferTime(r, float64(p.PathRate), report.MSS)
	p.Files.fill(r, report, p.Config.Reverse)
	if closed := file.Close(); err == nil && closed != nil {
		err = fmt.Errorf("write %s: %w", p.Files.Near, closed)
	}
	r.Fail(err)
	return r, err
}

// runIperf3 runs one test, and names the target in what goes wrong.
func runIperf3(ctx context.Context, target string, family sock.Family, port int, config iperf3.Config) (*iperf3.Report, error) {
	port = cmp.Or(port, iperf3.DefaultPort)
	client := iperf3.Client{Addr: net.JoinHostPort(target, strconv.Itoa(port)), Family: family, Config: config}
	report, err := client.Run(ctx)
	if err == nil || input.Bad(err) {
		return report, err
	}
	return report, fmt.Errorf("%s port %d: %w", target, port, err)
}

// peerClock is what the far end said of its clock, and what that showed beside this host's; nil: nothing, as a stock iperf3.
func peerClock(report *iperf3.Report) *measure.Clock {
	if report.Peer == nil || report.Peer.Clock == nil {
		return nil
	}
	c := &measure.Clock{Synchronized: report.Peer.Clock.Synchronized, ErrorSeconds: report.Peer.Clock.Error}
	if a := report.Ahead; a != nil {
		c.AheadSeconds = &[2]float64{a[0].Seconds(), a[1].Seconds()}
	}
	if report.PeerExtra != nil {
		c.StepSeconds = report.PeerExtra.ClockStep
	}
	return c
}

// parameters are what the Result records: those that the test was made with, whoever chose them.
func (p *Throughput) parameters(report *iperf3.Report) map[string]any {
	all := *p
	all.Config = report.Config
	setDefault(&all.Port, iperf3.DefaultPort)
	set := recorded(throughputFields(), &all)
	if p.Config.Source != nil {
		set["source"] = "input"
	}
	p.Files.recordInto(set)
	return set
}

// IntervalLine is an interval as it is told on the way.
func IntervalLine(i measure.Interval) string {
	line := intervalFigures(i)
	if i.Direction == measure.Reverse {
		line += "  (reverse)"
	}
	return line
}

// intervalFigures are what moved in an interval.
func intervalFigures(i measure.Interval) string {
	line := fmt.Sprintf("%3s  %6.2f - %6.2f s  %10s  %14s", streamName(i.Stream), i.StartSeconds, i.EndSeconds,
		quantity.FormatSize(i.Bytes), quantity.FormatRate(i.BitsPerSecond))
	if i.Retransmits != nil {
		line += fmt.Sprintf("  %5d resent", *i.Retransmits)
	}
	return line
}

func streamName(n int) string {
	if n == 0 {
		return "sum"
	}
	return fmt.Sprint(n)
}

// throughputText writes how fast data moved, and what held it back.
func throughputText(w io.Writer, r *measure.Result) {
	if r.Samples.Sweep != nil {
		sweepText(w, r.Samples.Sweep)
		return
	}
	if len(r.Samples.Beside) > 0 {
		besideText(w, r.Samples.Beside)
		return
	}
	if len(r.Samples.Receivers) > 0 {
		groupText(w, r)
		return
	}
	line := metricLine(w, r)
	if r.Samples.Search != nil {
		searchText(w, r)
	}
	if len(r.Samples.Trials) > 0 {
		fmt.Fprintf(w, "%-22s %s\n", "search", searchSummary(r.Samples.Trials))
	}
	count := func(v float64) string { return fmt.Sprintf("%.0f packets", v) }
	line("throughput", measure.Throughput, quantity.FormatRate)
	line("reverse throughput", measure.ReverseThroughput, quantity.FormatRate)
	line("received", measure.ReceivedBytes, asSize)
	line("sent", measure.SentBytes, asSize)
	line("retransmitted", measure.Retransmits, count)
	line("lost", measure.LossRatio, quantity.FormatRatio)
	line("jitter", measure.Jitter, quantity.FormatSeconds)
	for _, m := range r.Samples.Marks {
		fmt.Fprintf(w, "%-22s %d packets\n", fmt.Sprintf("came with DSCP %d", m.DSCP), m.Packets)
	}
	line("held by receive window", measure.RwndLimitedRatio, percent)
	line("held by send buffer", measure.SndbufLimitedRatio, percent)
	line("largest cwnd", measure.CwndMax, asSize)
	loadText(w, r)
	line("sender's CPU", measure.CPUSender, percent)
	line("receiver's CPU", measure.CPUReceiver, percent)
	line("waited for file, sends", measure.FileWaitSender, percent)
	line("waited for file, gets", measure.FileWaitReceiver, percent)
	if o := r.Samples.Output; o != nil {
		fmt.Fprintf(w, "\nprinted by the target:\n%s\n", strings.TrimRight(o.Stdout, "\n"))
	}
}

// metricLine returns what writes a metric behind its name, if the Result has it.
func metricLine(w io.Writer, r *measure.Result) func(name string, m measure.Metric, format func(float64) string) {
	return func(name string, m measure.Metric, format func(float64) string) {
		if v, ok := r.Get(m); ok {
			fmt.Fprintf(w, "%-22s %s\n", name, format(v))
		}
	}
}

func asSize(v float64) string { return quantity.FormatSize(int64(v)) }

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }
