package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// A Result of a continuous measurement is a line.
func TestResultLine(t *testing.T) {
	r := owpingResult()
	r.Metrics[measure.SentPackets], r.Metrics[measure.RTTMedian] = 10, 0.03
	began := r.Started.Local().Format(time.TimeOnly)
	for _, c := range []struct {
		lost, there, back float64
		want              string
	}{
		{0, 0, 0, "10 sent; 0 lost; "},
		{3, 2, 1, "10 sent; 3 lost (2 there, 1 back); "},
		{3, 2, 0, "10 sent; 3 lost (30.0 %); "},
	} {
		r.Metrics[measure.LostPackets], r.Metrics[measure.LossRatio] = c.lost, c.lost/10
		r.Metrics[measure.LostOn(measure.Forward)], r.Metrics[measure.LostOn(measure.Reverse)] = c.there, c.back
		want := began + "  " + c.want + "forward 20.5 ms, jitter 1.00 ms; reverse 10.0 ms, jitter 1.00 ms; round trip 30.0 ms"
		if got := resultLine(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Results of a continuous measurement follow each other without a gap, and add up to what the lab did to the packets.
func TestContinuousAgainstTruth(t *testing.T) {
	carrying(t)
	spec, err := lab.ParseSpec(t.Name(), []byte("seed: 16\nhosts: {bob: {}, carol: {}}\nlinks:\n"+
		"  - {between: [bob, carol], forward: {delay: 20ms, loss: 4%}, reverse: {delay: 5ms, loss: 6%}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Start(t.Context(), spec, lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	readyOnCarol(t, l, otherReflector())
	var out bytes.Buffer
	onHost(t, l, "bob", &out, lab.Self(), "owd", "carol", "--continuous", "--every", "1s", "-c", "320", "-i", "10ms", "-W", "400ms", "--json")
	got := map[measure.Metric]float64{}
	var results int
	var before *measure.Result
	seq, open := 0, 0.
	for lines := json.NewDecoder(&out); lines.More(); results++ {
		r := &measure.Result{}
		if err := lines.Decode(r); err != nil {
			t.Fatal(err)
		}
		for m, v := range r.Metrics {
			got[m] += v
		}
		open = r.Metrics[measure.SentPackets] - r.Metrics[measure.SentOn(measure.Forward)]
		for _, e := range r.Samples.Echoes {
			if e.Seq != seq {
				t.Fatalf("Result %d: packet %d, want %d", results, e.Seq, seq)
			}
			seq++
		}
		if before != nil {
			if apart := r.Started.Sub(before.Started) - time.Second; apart.Abs() > time.Millisecond {
				t.Errorf("Result %d begins %v late", results, apart)
			}
			last := before.Samples.Echoes[len(before.Samples.Echoes)-1]
			gap := r.Started.Sub(before.Started).Seconds() + r.Samples.Echoes[0].SentSeconds - last.SentSeconds
			if gap < 0 || gap > 0.1 { // 10 ms, and what a busy machine is late
				t.Errorf("%v s between the packets at the seam before Result %d", gap, results)
			}
		}
		before = r
	}
	truth, err := l.Truth()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][2]float64{}
	for _, f := range truth.Flows {
		switch {
		case f.TargetPort == 862:
			want["there"] = [2]float64{float64(f.Packets), float64(f.Lost)}
		case f.SourcePort == 862:
			want["back"] = [2]float64{float64(f.Packets), float64(f.Lost)}
		}
	}
	told := map[string][2]float64{"there": {got[measure.SentPackets], got[measure.LostOn(measure.Forward)]},
		"back": {got[measure.SentOn(measure.Reverse)], got[measure.LostOn(measure.Reverse)]}}
	if diff := cmp.Diff(want, told); results != 4 || open == 0 && diff != "" || want["there"][1]+want["back"][1] < 15 {
		t.Errorf("%d Results, the fate of %v packets is open (-lab +told):\n%s", results, open, diff)
	}
}

// What cannot go on is refused by name.
func TestContinuousRefused(t *testing.T) {
	for args, want := range map[string]string{
		"--proto owamp --continuous":       "a server of owamp tells what it received only when a session is over; for continuous give stamp or twamp",
		"--continuous -4 -6":               "a continuous measurement is of one",
		"--every 1m":                       "it is of continuous measurements",
		"--continuous --every 1s -i 300ms": "give a multiple of the interval",
	} {
		var out, failed bytes.Buffer
		status := run(append([]string{"owd", "127.0.0.1"}, strings.Fields(args)...), nil, &out, &failed)
		if status != exitBadCall || !strings.Contains(failed.String(), want) || out.Len() > 0 {
			t.Errorf("%s: status %d, said %q", args, status, failed.String())
		}
	}
}
