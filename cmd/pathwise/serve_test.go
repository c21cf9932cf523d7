package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/config"
)

// What is to be kept forever is so for the archive, too, and what the mesh file says nothing of is left to it.
func TestRetention(t *testing.T) {
	m, err := config.Parse([]config.File{{Name: "mesh.yaml", Text: []byte(
		"hosts: {a: 192.0.2.1}\ncontroller: {retention: {results: forever, rollups: {1m: 1y, 1d: forever}}}\n")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []archive.Rule{{Results: archive.Forever, Samples: archive.Forever,
		Rollups: [len(archive.Levels)]time.Duration{365 * 24 * time.Hour, 0, 0, archive.Forever}}}
	if diff := cmp.Diff(want, retention(m.Controller.Retention)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
