package main

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/web/labs"
)

// The lab page's tests are this program on the hosts of a lab: its own command lines, with what it prints.
func TestLabPageRunsThisProgram(t *testing.T) {
	if shown := openLabs(&config.Controller{}); shown != nil {
		t.Error("labs are shown though the mesh file does not say so")
	}
	shown := openLabs(&config.Controller{Labs: true})
	t.Setenv(actAsPathwise, "1")
	l := shownLab(t, "rate: 20mbit, delay: 5ms")
	for kind, metric := range map[string]measure.Metric{"ping": measure.RTTMedian, "throughput": measure.Throughput} {
		lines, value := 0, 0.0
		err := shown.Test(t.Context(), l.Name, labs.Test{Kind: kind, From: "bob", To: "carol", Seconds: 1.5}, func(line labs.Line) {
			lines++
			if line.Result != nil {
				value = line.Result.Metrics[metric]
			}
		})
		if err != nil || lines < 3 || value <= 0 || kind == "ping" && value < 0.01 {
			t.Errorf("%s: %v, %d lines, %s %v", kind, err, lines, metric, value)
		}
	}
}

// shownLab is a lab of two hosts, whose link is as told.
func shownLab(t *testing.T, link string) *lab.Lab {
	t.Helper()
	spec, err := lab.ParseSpec("lab.yaml", []byte("hosts: {bob: {}, carol: {}}\nlinks: [{between: [bob, carol], "+link+"}]"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Start(context.Background(), spec, lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// "Fix it in the lab" is a real diagnosis over the lab: it names what the link was given, and once that is taken away a transfer comes to
// what was predicted. It takes half a minute, and is asked for by PATHWISE_LAB_FIX.
func TestLabIsDiagnosed(t *testing.T) {
	if os.Getenv("PATHWISE_LAB_FIX") == "" {
		t.Skip("PATHWISE_LAB_FIX asks for none")
	}
	shown := openLabs(&config.Controller{Labs: true})
	t.Setenv(actAsPathwise, "1")
	l := shownLab(t, "rate: 20mbit, delay: 5ms, loss: 3%")
	transfer := func() (rate float64) {
		t.Helper()
		err := shown.Test(t.Context(), l.Name, labs.Test{Kind: "throughput", From: "bob", To: "carol", Seconds: 3}, func(line labs.Line) {
			if line.Result != nil {
				rate = line.Result.Metrics[measure.Throughput]
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return rate
	}
	before := transfer()
	var found diagnose.Diagnosis
	err := shown.Test(t.Context(), l.Name, labs.Test{Kind: "diagnosis", From: "bob", To: "carol", Seconds: 3}, func(line labs.Line) {
		if err := json.Unmarshal(line.Diagnosis, &found); err != nil {
			t.Error(err)
		}
	})
	if err != nil || found.Verdict != "random-loss" || len(found.Findings) == 0 || found.Findings[0].Predicted == nil {
		t.Fatalf("%v, verdict %q, findings %+v; want random-loss with a prediction", err, found.Verdict, found.Findings)
	}
	if _, err := shown.Change(l.Name, labs.Wish{Link: 0, Direction: "both", Settings: []string{"loss="}}); err != nil {
		t.Fatal(err)
	}
	predicted, after := float64(found.Findings[0].Predicted.BitsPerSecond), transfer()
	if t.Logf("%.3g bit/s before, %.3g predicted, %.3g after", before, predicted, after); before > 0.7*predicted || math.Abs(after-predicted) > 0.2*predicted {
		t.Error("want less than seven tenths of what is predicted before, and within a fifth of it after")
	}
}
