package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/terminal"
	"github.com/pathwise-net/pathwise/web"
)

// told is what a controller streams.
func told[L any](lines ...L) io.Reader {
	var text bytes.Buffer
	for _, l := range lines {
		_ = json.NewEncoder(&text).Encode(l) // into memory
	}
	return &text
}

// drawMeshDiagnosis draws a diagnosis of which one step fails and one is made in part.
func drawMeshDiagnosis(screen *terminal.Screen, w io.Writer) {
	s := &session{out: w, seen: screen}
	now := time.Now()
	result := func(m measure.Metric, v float64) *fleet.Progress {
		return &fleet.Progress{Result: &measure.Result{Status: measure.StatusOK, Metrics: map[measure.Metric]float64{m: v}}}
	}
	capacity := 48.7e6
	d, err := s.followDiagnosis(told(
		control.DiagnosisLine{Plan: []diagnose.Step{{Name: "ping", Why: "how long round trips take"}, {Name: "throughput-forward", Why: "what comes through"}}},
		control.DiagnosisLine{Step: "ping", State: control.StepWaiting, Begins: &now},
		control.DiagnosisLine{Step: "ping", State: control.StepRunning},
		control.DiagnosisLine{Step: "ping", Progress: result(measure.RTTMedian, 0.0401)},
		control.DiagnosisLine{Step: "ping", State: control.StepDone},
		control.DiagnosisLine{Step: "trace", State: control.StepFailed, Error: "bob is away"},
		control.DiagnosisLine{Step: "throughput-forward", State: control.StepWaiting, Begins: &now},
		control.DiagnosisLine{Step: "throughput-forward", State: control.StepRunning},
		control.DiagnosisLine{Step: "throughput-forward", Progress: &fleet.Progress{Interval: &measure.Interval{BitsPerSecond: 44e6}}},
		control.DiagnosisLine{Step: "throughput-forward", Progress: result(measure.Throughput, 46.1e6)},
		control.DiagnosisLine{Step: "throughput-forward", State: control.StepDone, Error: "carol was lost at the end"},
		control.DiagnosisLine{Diagnosis: &diagnose.Diagnosis{Verdict: diagnose.Healthy, AchievedBitsPerSecond: 46.1e6, ExpectedBitsPerSecond: &capacity}},
	), "carol")
	if err != nil {
		fmt.Fprintln(w, err)
		return
	}
	s.printDiagnosis(w, d)
}

// drawMeshRun draws a transfer of three seconds.
func drawMeshRun(screen *terminal.Screen, w io.Writer) {
	s := &session{out: w, seen: screen}
	now := time.Now()
	lines := []web.RunLine{{Run: "1", Begins: &now}}
	for i, rate := range []float64{21e6, 44e6, 47e6} {
		resent := int64(i % 2)
		lines = append(lines, web.RunLine{Progress: &fleet.Progress{Interval: &measure.Interval{Direction: measure.Forward, StartSeconds: float64(i),
			EndSeconds: float64(i + 1), BitsPerSecond: rate, Retransmits: &resent}}})
	}
	lines = append(lines, web.RunLine{Progress: &fleet.Progress{Result: &measure.Result{Kind: "throughput", Status: measure.StatusOK,
		Metrics: map[measure.Metric]float64{measure.Throughput: 37.3e6, measure.Retransmits: 1}}}})
	if _, err := s.follow(context.Background(), told(lines...), web.RunRequest{Source: "bob", Target: "carol", Tool: "bulk"}); err != nil {
		fmt.Fprintln(w, err)
	}
}

// drawMeshStatus draws a mesh of three hosts, of which one is away.
func drawMeshStatus(screen *terminal.Screen, w io.Writer) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	heard, long := now.Add(-4*time.Second), now.Add(-42*time.Minute)
	known := &fleet.Status{Version: "1.2.0", Spooled: 3, Clock: measure.Clock{ErrorSeconds: new(0.0004)}}
	(&session{out: w, seen: screen}).printStatus(w, &web.Status{Hosts: []control.Host{
		{Name: "bob", State: control.Here, Reach: "agent", Heard: &heard, Status: known},
		{Name: "carol", State: control.Here, Reach: "agent", Heard: &heard, Status: known},
		{Name: "dave", State: control.Away, Reach: "agent", Heard: &long},
	}, Overview: control.Overview{Plan: 7, Runs: 240, Awaited: 2, Until: now.Add(time.Hour)}}, now)
}

// drawFamilies draws pings over two families, of which the second takes longer.
func drawFamilies(s *terminal.Screen, w io.Writer) {
	tasks := overEach([]measure.Task{{Target: "carol", Parameters: map[string]any{}}}, (&hostFlags{four: true, six: true}).families())
	p := newPingWatch(s, tasks)
	live := s.Start(p.view)
	for i, address := range []string{"10.0.0.2", "fd70:6174:6877::2"} {
		watched := p.equip(context.Background(), i, probe.Options{}, live)
		late := float64(i) * 0.004
		for seq := 1; seq <= 10; seq++ {
			watched.Echo(measure.Echo{Seq: seq, RTTSeconds: new(0.02 + late + float64(seq%4)*0.0006)})
		}
		r := &measure.Result{Target: measure.Endpoint{Name: "carol", Address: address}, Metrics: map[measure.Metric]float64{measure.SentPackets: 10,
			measure.ReceivedPackets: 10, measure.RTTMedian: 0.0209 + late, measure.RTTMin: 0.02 + late, measure.RTTP95: 0.0218 + late, measure.RTTMax: 0.0218 + late}}
		live.Change(func() { p.finished(i, r, nil) })
	}
	live.End(false)
	p.outcome(w, s.Width())
}

// drawFetch draws three seconds of a file that comes faster and faster.
func drawFetch(s *terminal.Screen, w io.Writer) {
	watched := newThroughputWatch(s, measure.Task{Kind: "fetch", Target: "carol"})
	live := s.Start(watched.view)
	o := watched.equip(context.Background(), 0, probe.Options{}, live)
	r := &measure.Result{Kind: "fetch", Metrics: map[measure.Metric]float64{measure.Throughput: 31.2e6, measure.ReceivedBytes: 11.7e6, measure.FirstByte: 0.0416}}
	for i, rate := range []float64{12e6, 34e6, 47e6} {
		o.Reading(measure.TCPSample{End: measure.Receiver, Direction: measure.Reverse, Stream: 1,
			Values: map[string]float64{"rcv_rtt_seconds": 0.0412 + float64(i)/1000, "rcv_wnd_bytes": float64(200_000 * (i + 1))}})
		o.Interval(measure.Interval{Stream: 1, Direction: measure.Reverse, StartSeconds: float64(i), EndSeconds: float64(i + 1), BitsPerSecond: rate})
	}
	r.Samples.Ends = []measure.TCPEnd{{End: measure.Receiver, Direction: measure.Reverse, Host: "bob", CongestionControl: "cubic", MSSBytes: 1448, ReceiveBufferBytes: 6_200_000}}
	live.End(false)
	watched.finished(0, r, nil)
	watched.outcome(w, s.Width())
}

// A step of a mesh that waits says when it begins, and one that runs what it is for and its latest figure. A run that waits says so, too.
func TestMeshWaitsOnATerminal(t *testing.T) {
	var out bytes.Buffer
	screen := terminal.Sized(&out, 80, 24)
	s := &session{out: &out, seen: screen}
	end := s.showSteps()
	m := newMeshSteps(s, "carol")
	drawn := func() (text string) {
		m.live.Change(func() { text = ansi.Strip(strings.Join(m.view(80), "\n")) })
		return text
	}
	soon := time.Now().Add(time.Hour)
	m.take(s, &control.DiagnosisLine{Plan: []diagnose.Step{{Name: "ping", Why: "how long round trips take"}}})
	m.take(s, &control.DiagnosisLine{Step: "ping", State: control.StepWaiting, Begins: &soon})
	if text := drawn(); !strings.Contains(text, "ping carol                 begins in 1h0m0s") {
		t.Errorf("waiting: %q", text)
	}
	m.take(s, &control.DiagnosisLine{Step: "ping", State: control.StepRunning})
	m.take(s, &control.DiagnosisLine{Step: "ping", Progress: &fleet.Progress{Echo: &measure.Echo{RTTSeconds: new(0.0123)}}})
	if text := drawn(); !strings.HasSuffix(text, "0 s  12.3 ms  how long round trips take") {
		t.Errorf("running: %q", text)
	}
	both := []string{"transactions", "connections"} // which are under way at once
	for _, step := range both {
		m.take(s, &control.DiagnosisLine{Step: step, State: control.StepWaiting, Begins: &soon})
	}
	m.take(s, &control.DiagnosisLine{Step: both[0], Progress: &fleet.Progress{Result: &measure.Result{Kind: "transact"}}})
	m.take(s, &control.DiagnosisLine{Step: both[0], State: control.StepDone})
	m.take(s, &control.DiagnosisLine{Step: both[1], State: control.StepFailed, Error: "no answer"})
	end()
	if text := ansi.Strip(out.String()); !strings.Contains(text, "✓ transactions carol") || !strings.Contains(text, "✗ connections carol          no answer") {
		t.Errorf("at once: %q", text)
	}
	run := meshWatch{session: s, what: "bulk from bob to carol", begins: soon}
	if text := ansi.Strip(run.view(80)[0]); text != "bulk from bob to carol begins in 1h0m0s" {
		t.Errorf("a run that waits: %q", text)
	}
}
