package web

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// The tools of the mesh come first, with their own parameters over those of their kind; a program is no kind to choose.
func TestTools(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(public))
	_, text, _ := b.ask(http.MethodGet, "/api/v1/tools", "")
	var doc toolsDoc
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var names []string
	by := map[string]toolDoc{}
	for _, tool := range doc.Tools {
		names = append(names, tool.Name)
		by[tool.Name] = tool
	}
	kinds := []string{"rtt"}
	for _, k := range probe.Kinds() {
		if k.Name != "command" {
			kinds = append(kinds, k.Name)
		}
	}
	if diff := cmp.Diff(kinds, names); diff != "" {
		t.Fatal(diff)
	}
	rtt, ping, throughput := by["rtt"], by["ping"], by["throughput"]
	want := parameterDoc{Name: "count", Type: "whole number", Default: "2", Usage: "echoes to send"}
	if rtt.Kind != "ping" || !rtt.OfMesh || rtt.Exclusive || rtt.DurationSeconds <= 0 || rtt.DurationSeconds > 5 || !slices.Contains(rtt.Parameters, want) {
		t.Errorf("rtt is %+v", rtt)
	}
	want.Default = "10"
	if ping.OfMesh || !slices.Contains(ping.Parameters, want) || !throughput.Exclusive || throughput.DurationSeconds < 10 {
		t.Errorf("ping is %+v, throughput %+v", ping, throughput)
	}
}

// The rounds that a pair's page offers are within the minute that docs/mesh-file.md gives everyone.
func TestOfferedRoundsTakeNoMinute(t *testing.T) {
	text, err := os.ReadFile("page/static/pair/routes.js")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`'p\.rounds': '(\d+)'`).FindSubmatch(text)
	if found == nil {
		t.Fatal("the page offers no rounds")
	}
	d, err := probe.Demand(measure.Task{Kind: "trace", Parameters: map[string]any{"rounds": string(found[1])}})
	if err != nil || d.DurationSeconds > time.Minute.Seconds() {
		t.Errorf("%s rounds take %v s, %v", found[1], d.DurationSeconds, err)
	}
}
