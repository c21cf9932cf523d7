package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/host"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/sock"
)

const (
	// referenceTime is how long each run of a reference takes: slow start is over in a tenth of a second where the far host is near.
	referenceTime = 2 * time.Second
	// referenceWatch is how long processors are watched meanwhile: not while connections are opened and results exchanged.
	referenceWatch = referenceTime - 300*time.Millisecond
	// mostReferenceStreams is how many streams the runs of several have at the most: more tell of scheduling, no more of the host.
	mostReferenceStreams = 8
)

// withReference are the flags that go with --reference.
var withReference = []string{"reference", "ipv4", "ipv6", "json", "quiet", "verbose"}

// referenceHost measures what this host can carry against a near one, and keeps that, or prints what is kept.
func (s *session) referenceHost(c *cobra.Command, call *hostCall, args []string) error {
	if f := flagBeside(c.Flags(), withReference...); f != nil {
		return badFlag(f.Name, errors.New("it is for an audit, and --reference makes none"))
	}
	family, err := call.over.family("a reference is of one route")
	if err != nil {
		return err
	}
	path, err := host.ReferencePath()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return s.showReference(path)
	}
	b := bench{session: s, port: iperf3.DefaultPort}
	if b.target, err = readHost(c, args[0], &b.port); err != nil {
		return err
	}
	r, err := b.reference(c.Context(), family)
	if err != nil {
		return err
	}
	if r.Tells() {
		err = r.Write(path)
	} else {
		err = fmt.Errorf("no reference is kept: %s; take a host that is nearer, faster or idle", r.Runs[0].Limit)
	}
	return errors.Join(err, s.emit(r, func(w io.Writer) {
		printReference(w, r)
		if r.Tells() && err == nil {
			fmt.Fprintln(w, "kept in", path)
		}
	}))
}

// showReference prints what is kept, how old it is, and why it is not used any more.
func (s *session) showReference(path string) error {
	r, err := host.ReadReference(path)
	if err != nil {
		return err
	}
	if r == nil {
		return input.Errorf("--reference: there is none in %s; make one against a near host: pathwise host --reference HOST", path)
	}
	return s.emit(r, func(w io.Writer) {
		printReference(w, r)
		fmt.Fprintf(w, "made %s, %s ago\n", r.Made.Format(time.RFC3339), agoOf(time.Since(r.Made)))
		if why := staleness(r, r.PeerAddress); why != "" {
			fmt.Fprintf(w, "no diagnosis uses it: %s\n", why)
		}
	})
}

// agoOf is a time that has passed, in the unit that people would say it in.
func agoOf(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= 2*day {
		return fmt.Sprintf("%.0f days", d.Hours()/day.Hours())
	}
	return d.Round(time.Second).String()
}

// staleness says why a reference is not used where data goes to an address; "": it is.
func staleness(r *host.Reference, to netip.Addr) string {
	self, err := host.Identify(to)
	if err != nil {
		return err.Error()
	}
	return r.Stale(time.Now(), self)
}

// bench makes the runs of a reference.
type bench struct {
	session *session
	target  string
	port    int
	family  sock.Family
}

// reference makes all runs, and judges them.
func (b *bench) reference(ctx context.Context, family sock.Family) (*host.Reference, error) {
	address, err := probe.Answering(ctx, b.target, family, b.port)
	if err != nil {
		return nil, err
	}
	b.family = sock.FamilyOf(address)
	if source, err := sock.Source(address); err == nil && (source == address || address.IsLoopback()) {
		return nil, input.Errorf("--reference: %q is this machine: both ends would share its processors; give another one", b.target)
	}
	r := &host.Reference{Schema: host.ReferenceSchema, Made: time.Now().UTC().Truncate(time.Second), Peer: b.target, PeerAddress: address}
	if r.Self, err = host.Identify(address); err != nil {
		return nil, err
	}
	several := min(mostReferenceStreams, max(2, runtime.NumCPU()))
	for _, sends := range []bool{true, false} {
		for _, streams := range []int{1, several} {
			run, err := b.run(ctx, sends, streams)
			if err != nil {
				return nil, err
			}
			if r.RTT == 0 { // of the first, which this host's own kernel tells
				r.RTT = run.RTT
			}
			run.RTT = cmp.Or(run.RTT, r.RTT)
			r.Runs = append(r.Runs, run)
		}
	}
	b.session.progress("")
	r.Judge()
	return r, nil
}

// run is one transfer, written as a diagnosis writes its own, with what the processors of this host did meanwhile.
func (b *bench) run(ctx context.Context, sends bool, streams int) (run host.ReferenceRun, err error) {
	way := map[bool]string{true: "to", false: "from"}[sends]
	b.session.progress("%s %s %s…", streamsOf(streams), way, b.target)
	transfer, err := probe.New(measure.Task{Kind: "throughput", Target: b.target, Parameters: map[string]any{"duration": referenceTime.Seconds(),
		"port": b.port, "parallel": streams, "reverse": !sends, "length": surveyLength, "event-loop": true, "family": string(b.family)}}, probe.Options{})
	if err != nil {
		return run, err
	}
	own, err := probe.New(measure.Task{Kind: "host", Parameters: map[string]any{"interval": referenceWatch.Seconds()}}, probe.Options{})
	if err != nil {
		return run, err
	}
	watched := make(chan *measure.Result, 1)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go func() { // ends with this run
		r, _ := own.Do(watching) // what it has not told is not known
		watched <- r
	}()
	r, err := transfer.Do(ctx)
	stop()
	processors := <-watched
	if err != nil {
		return run, err
	}
	return referenceRun(r, processors, sends, streams), nil
}

// surveyLength is what the transfers of a diagnosis write at once (see diagnose.Plan).
const surveyLength = 32 << 10

// referenceRun is what a transfer says of both hosts.
func referenceRun(r, processors *measure.Result, sends bool, streams int) host.ReferenceRun {
	here, there, direction := measure.CPUSender, measure.CPUReceiver, measure.Forward
	if !sends {
		here, there, direction = there, here, measure.Reverse
	}
	run := host.ReferenceRun{Sends: sends, Streams: streams, Rate: r.Metrics[measure.Throughput], CPU: r.Metrics[here], PeerCPU: r.Metrics[there],
		Packets: packetShare(processors), Window: r.Metrics[measure.RwndLimitedRatio]}
	last := map[int]map[string]float64{}
	for _, one := range r.Samples.Readings(direction, measure.Sender) {
		last[one.Stream] = one.Values
	}
	sent, again := 0.0, 0.0
	for _, v := range last {
		sent, again = sent+v["data_segs_out"], again+v["total_retrans_packets"]
		if trip := v["min_rtt_seconds"]; trip > 0 && (run.RTT == 0 || trip < run.RTT) {
			run.RTT = trip
		}
	}
	if sent > 0 {
		run.Resent = again / sent
	}
	return run
}

// packetShare is how busy the processor was that handled most packets, whatever it did beside that; 0 where none handled many.
func packetShare(processors *measure.Result) (share float64) {
	const many = 0.2 // of its time, in soft interrupts
	if processors.Samples.Host == nil {
		return 0
	}
	for _, c := range processors.Samples.Host.CPUs {
		if c.SoftIRQ >= many {
			share = max(share, c.Busy)
		}
	}
	return share
}

func streamsOf(n int) string {
	if n == 1 {
		return "1 stream"
	}
	return fmt.Sprint(n, " streams")
}

// printReference writes what was measured, and which of it is this host's ceiling.
func printReference(w io.Writer, r *host.Reference) {
	fmt.Fprintf(w, "%s, kernel %s, %d processors, by %s, against %s, %s away\n\n", r.Self.Name, r.Self.Kernel, r.Self.Processors, r.Self.Interface, r.Peer,
		quantity.FormatSeconds(r.RTT))
	rows := [][]string{{"way", "streams", "throughput", "processor", "packets", "near host", "ceiling"}}
	var why []string
	for _, run := range r.Runs {
		way, is := "receives", "yes"
		if run.Sends {
			way = "sends"
		}
		if run.Limit != "" {
			is = "no"
			why = append(why, fmt.Sprintf("%s, %s: %s", way, streamsOf(run.Streams), run.Limit))
		}
		rows = append(rows, []string{way, fmt.Sprint(run.Streams), quantity.FormatRate(run.Rate), quantity.FormatRatio(run.CPU),
			quantity.FormatRatio(run.Packets), quantity.FormatRatio(run.PeerCPU), is})
	}
	printTable(w, rows)
	fmt.Fprintln(w)
	for _, line := range why {
		fmt.Fprintln(w, line)
	}
}
