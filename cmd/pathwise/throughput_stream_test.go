package main

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// Under --json-stream each interval is a line as it ends, and the last line is the Result.
func TestThroughputStream(t *testing.T) {
	listener, err := iperf3.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- (&iperf3.Server{}).Serve(t.Context(), listener) }()
	port := listener.Addr().(*net.TCPAddr).String()
	file := filepath.Join(t.TempDir(), "out")
	mustRun(t, file, []string{"throughput", port, "--rate", "10mbit", "--time", "0.7", "--interval", "0.2", "--json-stream"})
	out, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for line := range bytes.Lines(out) {
		var one struct {
			Event string          `json:"event"`
			Data  json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		events = append(events, one.Event)
		var r measure.Result
		if one.Event == "result" && (json.Unmarshal(one.Data, &r) != nil || len(r.Samples.Intervals) != len(events)-1) {
			t.Errorf("the Result has %d intervals, %d were told", len(r.Samples.Intervals), len(events)-1)
		}
	}
	if len(events) < 4 || slices.Index(events, "result") != len(events)-1 {
		t.Errorf("events %v", events)
	}
}
