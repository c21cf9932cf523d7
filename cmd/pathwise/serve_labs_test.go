package main

import (
	"context"
	"testing"

	"github.com/pathwise-net/pathwise/config"
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
	spec, err := lab.ParseSpec("lab.yaml", []byte("hosts: {bob: {}, carol: {}}\nlinks: [{between: [bob, carol], rate: 20mbit, delay: 5ms}]"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Start(context.Background(), spec, lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
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
