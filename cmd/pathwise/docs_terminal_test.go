package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/vt"
	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/terminal"
)

// recording is what a command draws of made-up measurements.
type recording struct {
	command, what string
	draw          func(s *terminal.Screen, w io.Writer)
}

var recordings = []recording{
	{"pathwise ping carol", "The round trips of a path with a queue that comes and goes, and one lost packet in ten.", func(s *terminal.Screen, w io.Writer) {
		drawPings(s, w, "carol")
	}},
	{"pathwise ping carol dave erin", "Several hosts are measured at once, a row for each.", func(s *terminal.Screen, w io.Writer) {
		drawPings(s, w, "carol", "dave", "erin")
	}},
	{"pathwise ping 192.0.2.0/26", "Many hosts at once: the silent ones by name, of the others the worst first.", drawManyPings},
	{"pathwise ping carol --window 12", "A line for each number of packets in flight, and how the rate grows with it; at the end what that means.", drawWindows},
	{"pathwise ping carol -4 -6", "Both families at once, and which is faster.", drawFamilies},
	{"pathwise diagnose carol", "A line for each step that ended; while one runs, it stands below them with its latest figure. Then what is wrong, why, and the cure.",
		drawDiagnosed},
	{"pathwise throughput carol", "Of each interval the rate, and what this end's kernel says of the connection; at the end how the rate went, and both ends.", drawThroughput},
	{"pathwise fetch http://carol/file", "Of each interval the rate, and what this end's kernel says of the connection.", drawFetch},
	{"pathwise trace carol", "Each hop as soon as it is known, with the names of those that have one.", drawTrace},
	{"pathwise lab truth --links", "What each direction of a link did; where there is no room for all columns, some are left out.", func(screen *terminal.Screen, w io.Writer) {
		(&session{out: w, seen: screen}).printLinks(w, []lab.LinkTruth{
			{Between: [2]string{"denver", "chicago"}, Direction: "forward", Packets: 41210, Delivered: 40790, Dropped: map[string]uint64{"loss": 418, "queue": 2},
				DelaySeconds: lab.DelayTruth{Min: 0.023, Median: 0.0241, P99: 0.0312}, EmulatorLateSeconds: 0.0001},
			{Between: [2]string{"denver", "chicago"}, Direction: "reverse", Packets: 20108, Delivered: 20108,
				DelaySeconds: lab.DelayTruth{Min: 0.023, Median: 0.023, P99: 0.0231}, EmulatorLateSeconds: 0.0001}})
	}},
	{"pathwise calc mathis --rtt 50ms --loss 0.1%", "Below the working, the answer among its neighbours.", func(screen *terminal.Screen, w io.Writer) {
		c := calcCommand(&session{out: w, seen: screen})
		c.SetArgs([]string{"mathis", "--rtt", "50ms", "--loss", "0.1%"})
		if err := c.Execute(); err != nil {
			fmt.Fprintln(w, err)
		}
	}},
	{"pathwise mesh diagnose bob carol", "The steps that a host of the mesh makes, as it makes them; then the diagnosis.", drawMeshDiagnosis},
	{"pathwise mesh run bob carol bulk", "A run between two hosts of the mesh is drawn as the same measurement from here is.", drawMeshRun},
	{"pathwise mesh status", "Who is there. Where there is no room for all columns, some are left out.", drawMeshStatus},
}

// drawThroughput draws five seconds of a transfer that loses a packet in its third.
func drawThroughput(s *terminal.Screen, w io.Writer) {
	watched := newThroughputWatch(s, measure.Task{Target: "carol"})
	live := s.Start(watched.view)
	o := watched.equip(context.Background(), 0, probe.Options{}, live)
	for i, rate := range []float64{21e6, 44e6, 47e6, 33e6, 47e6} {
		resent := int64(0)
		if i == 2 {
			resent = 1
		}
		o.Reading(measure.TCPSample{End: measure.Sender, Direction: measure.Forward, Stream: 1,
			Values: map[string]float64{"rtt_seconds": 0.0412 + float64(i)/1000, "snd_cwnd_packets": float64(80 + 20*i), "snd_mss_bytes": 1448}})
		o.Interval(measure.Interval{Direction: measure.Forward, StartSeconds: float64(i), EndSeconds: float64(i + 1), BitsPerSecond: rate, Retransmits: &resent})
	}
	live.End(false)
	r := &measure.Result{Kind: "throughput", Metrics: map[measure.Metric]float64{measure.Throughput: 38.4e6, measure.Retransmits: 1}}
	for _, end := range []measure.TCPEnd{{End: measure.Sender, Host: "bob", SendBufferBytes: 2_500_000}, {End: measure.Receiver, Host: "carol", ReceiveBufferBytes: 6_200_000}} {
		end.Direction, end.CongestionControl, end.MSSBytes = measure.Forward, "cubic", 1448
		r.Samples.Ends = append(r.Samples.Ends, end)
	}
	watched.finished(0, r, nil)
	watched.outcome(w, s.Width())
}

// drawTrace draws a route of three hops, of which one has no name and one is silent.
func drawTrace(s *terminal.Screen, w io.Writer) {
	names := map[string]string{"10.0.0.1": "gateway.example.org", "10.0.2.7": "carol.example.net"}
	t := newTraceWatch(s, measure.Task{Target: "carol"}, func(_ context.Context, address string) (string, bool) { return names[address], true })
	live := s.Start(t.view)
	o := t.equip(context.Background(), 0, probe.Options{}, live)
	r := &measure.Result{Target: measure.Endpoint{Name: "carol", Address: "10.0.2.7"}}
	r.Samples.Hops = []measure.Hop{
		{TTL: 1, Addresses: []string{"10.0.0.1"}, RTTSeconds: []*float64{new(0.0011), new(0.0012), new(0.0019)}},
		{TTL: 2, Addresses: []string{}, RTTSeconds: []*float64{nil, nil, nil}},
		{TTL: 3, Addresses: []string{"10.0.1.3", "10.0.1.4"}, RTTSeconds: []*float64{new(0.0123), nil, new(0.0124)}},
		{TTL: 4, Addresses: []string{"10.0.2.7"}, RTTSeconds: []*float64{new(0.0241), new(0.0242), new(0.0242)}, Reply: "port unreachable"}}
	for _, h := range r.Samples.Hops {
		o.Hop(h)
	}
	live.End(false)
	t.finished(0, r, nil)
	t.outcome(w, s.Width())
}

// drawDiagnosed draws a diagnosis of a small window.
func drawDiagnosed(screen *terminal.Screen, w io.Writer) {
	s := &session{out: w, seen: screen}
	end := s.showSteps()
	for _, step := range []struct {
		name    string
		metrics map[measure.Metric]float64
		err     error
	}{
		{"ping", map[measure.Metric]float64{measure.RTTMedian: 0.0401, measure.LossRatio: 0}, nil},
		{"trace", nil, errors.New("nobody answers")},
		{"throughput-forward", map[measure.Metric]float64{measure.Throughput: 10.2e6, measure.Retransmits: 1}, nil},
	} {
		ended := s.beginStep(step.name, "carol", "for the reader")
		ended(&measure.Result{Status: measure.StatusOK, Metrics: step.metrics}, step.err)
	}
	end()
	expected := 47.1e6
	s.printDiagnosis(w, &diagnose.Diagnosis{Verdict: "receive-window-limited", ExpectedBitsPerSecond: &expected, AchievedBitsPerSecond: 10.2e6,
		Findings: []measure.Finding{{ID: "receive-window-limited", Severity: measure.Problem, Way: measure.Forward, Where: "receiver carol", Confidence: 0.97,
			Explanation: "The sender spends its time waiting for the receiver's window to open: 53.2 kB each round trip of 40.1 ms is all that can move. " +
				"The receiver's buffer is too small for the distance.",
			Evidence: []measure.Evidence{
				{Metric: "rwnd_limited_ratio", Value: 0.972, Unit: "ratio", Means: "share of the time that the receiver's window held the sender"},
				{Metric: "snd_wnd_bytes", Value: 53200, Unit: "bytes", Means: "the largest window that the receiver offered"}},
			Advice: []measure.Advice{{Host: "carol", Command: `sysctl -w net.ipv4.tcp_rmem="4096 87380 1638400"`,
				Why: "lets the kernel tune the receive buffer up to four times the bandwidth-delay product; put it in /etc/sysctl.d to keep it"}},
			Predicted: &measure.Predicted{BitsPerSecond: 45.1e6, Basis: "the next limit: a capacity of 48.7 Mbit/s, of which 96.5 % is payload"}}}})
}

// drawWindows draws windows of a path of 10 Mbit/s with a queue.
func drawWindows(s *terminal.Screen, w io.Writer) {
	v := newWindowWatch(s, measure.Task{Target: "carol"})
	live := s.Start(v.view)
	o := v.equip(context.Background(), 0, probe.Options{}, live)
	for n := 1; n <= 12; n++ {
		rtt := max(0.005, float64(n)*0.00082)
		o.Echo(measure.Echo{Seq: n, RTTSeconds: &rtt})
		o.Window(measure.WindowSample{InFlight: n, Sent: 40 * n, Lost: max(0, n-10), BitsPerSecond: min(10e6, float64(n)*1.64e6), RTTMinSeconds: 0.005, RTTMedianSeconds: rtt})
	}
	live.End(false)
	v.outcome(w, s.Width())
	probe.WriteNotes(w, &measure.Result{Notes: []string{"normal: the path carries 10.0 Mbit/s"}})
}

// drawPings draws pings of 20 requests, of whose answers every tenth is lost and the others take longer and shorter by turns.
func drawPings(s *terminal.Screen, w io.Writer, hosts ...string) {
	var tasks []measure.Task
	for _, host := range hosts {
		tasks = append(tasks, measure.Task{Target: host})
	}
	p := newPingWatch(s, tasks)
	live := s.Start(p.view)
	for i, host := range hosts {
		watched := p.equip(context.Background(), i, probe.Options{}, live)
		r := &measure.Result{Target: measure.Endpoint{Name: host, Address: fmt.Sprintf("10.0.0.%d", i+2)}, Metrics: map[measure.Metric]float64{
			measure.SentPackets: 20, measure.ReceivedPackets: 18, measure.RTTMedian: 0.0243, measure.RTTMin: 0.0202, measure.RTTP95: 0.0277, measure.RTTMax: 0.0281}}
		for seq := 1; seq <= 20; seq++ {
			rtt := 0.02 + float64((seq*7+i)%13)*0.0006
			e := measure.Echo{Seq: seq, RTTSeconds: &rtt}
			if seq%10 == 4 {
				e.RTTSeconds = nil
			}
			watched.Echo(e)
		}
		live.Change(func() { p.finished(i, r, nil) })
	}
	live.End(false)
	p.outcome(w, s.Width())
}

// lineEnds writes text to an emulated terminal as the kernel does, which begins a line anew where there is a line feed.
type lineEnds struct{ io.Writer }

func (l lineEnds) Write(b []byte) (int, error) {
	_, err := l.Writer.Write(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")))
	return len(b), err
}

// recordedRows is how high the emulated terminals are: whatever a command draws, with what it draws live, fits them.
const recordedRows = 60

// screenOf is what an emulated terminal shows of a recording.
func (r recording) screenOf(columns int) string {
	emulator := vt.NewEmulator(columns, recordedRows)
	r.draw(terminal.Sized(emulator, columns, recordedRows), lineEnds{emulator})
	var lines []string
	for _, line := range strings.Split(emulator.String(), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// docs/terminal.md has what terminals of 80 and of 140 columns show.
func TestTerminalPage(t *testing.T) {
	page := readDoc(t, "terminal.md")
	before, _, _ := strings.Cut(page, "\n## `")
	want := strings.TrimRight(before, "\n") + "\n"
	for _, r := range recordings {
		want += fmt.Sprintf("\n## `%s`\n\n%s\n", r.command, r.what)
		narrow, wide := r.screenOf(80), r.screenOf(140)
		if narrow == wide {
			want += fmt.Sprintf("\nIn 80 columns and in 140:\n\n```text\n%s\n```\n", narrow)
			continue
		}
		want += fmt.Sprintf("\nIn 80 columns:\n\n```text\n%s\n```\n\nIn 140 columns:\n\n```text\n%s\n```\n", narrow, wide)
	}
	if *update {
		if err := os.WriteFile(filepath.Join("..", "..", "docs", "terminal.md"), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(page, want); diff != "" {
		t.Errorf("docs/terminal.md, which -update writes (-page +terminal):\n%s", diff)
	}
}
