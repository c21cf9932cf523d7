package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// segmentLab is a path of three segments, with a point behind each but the last, and what is put into one of them. Two hosts more are asked in
// vain: on one nothing answers, the other is far from the path.
func segmentLab(t *testing.T, change map[int]string) *lab.Lab {
	t.Helper()
	links := []string{"rate: 60mbit, delay: 2ms, queue: 300kB", "rate: 55mbit, delay: 10ms, queue: 300kB", "rate: 50mbit, delay: 7ms, queue: 300kB"}
	for i, with := range change {
		links[i] = with
	}
	spec, err := lab.ParseSpec("segments", fmt.Appendf(nil, `
seed: 1
hosts: {bob: {}, p1: {}, p2: {}, carol: {}, deaf: {}, far: {}}
routers: [r1, r2, r3]
links:
  - {between: [bob, r1], %s}
  - {between: [r1, r2], %s}
  - {between: [r2, r3], %s}
  - {between: [r1, p1], rate: 1gbit}
  - {between: [r2, p2], rate: 1gbit}
  - {between: [r3, carol], rate: 1gbit, delay: 1ms}
  - {between: [r1, deaf], rate: 1gbit}
  - {between: [r1, far], rate: 1gbit, delay: 15ms}
`, links[0], links[1], links[2]))
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Start(context.Background(), spec, lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close lab: %v", err)
		}
	})
	for _, host := range []string{"p1", "p2", "carol"} {
		startResponder(t, l, host)
	}
	return l
}

// segmentFaults are what makes a segment slow, as the shape of its link in place of that of segmentLab, by its delay.
var segmentFaults = []struct{ name, shape string }{
	{"duplex", "rate: 100mbit, delay: %s, duplex: mismatch"},
	{"loss", "rate: 55mbit, delay: %s, queue: 300kB, forward: {loss: 0.1%%}"},
	{"queue", "rate: 40mbit, delay: %s, queue: 15kB"},
	{"policer", "rate: 55mbit, delay: %s, queue: 300kB, forward: {police: {rate: 10mbit, burst: 50kB}}"},
}

// recordSegments is the environment variable that names a folder for what TestDiagnoseSegments measures, of which package diagnose has a copy.
const recordSegments = "PATHWISE_TEST_SEGMENTS"

// A fault is found in the segment that it was put into, and what is wrong with points that do not divide the path is said. The others, in
// each segment, package diagnose has Results of; the full calibration plays them all.
func TestDiagnoseSegments(t *testing.T) {
	t.Parallel()
	full := os.Getenv(calibrate) == "full"
	for i, fault := range segmentFaults {
		for at, delay := range []string{"2ms", "10ms", "7ms"} {
			if (i == 0 && at == 0) || full {
				inSegments(t, fmt.Sprintf("%s-%d", fault.name, at+1), map[int]string{at: fmt.Sprintf(fault.shape, delay)})
			}
		}
	}
	if full {
		inSegments(t, "healthy-0", nil)
	}
}

// inSegments diagnoses a path by segments, and checks that the one is blamed whose number its name ends in, or none for 0: again where it fails
// and this machine could not carry the lab. A policer may look like a narrow link.
func inSegments(t *testing.T, name string, change map[int]string) {
	check := func(status int, d *diagnose.Diagnosis) error {
		if d.Segments == nil {
			return fmt.Errorf("status %d, no segments", status)
		}
		at, states := int(name[len(name)-1])-'1', []diagnose.PointState{}
		for _, p := range d.Segments.Points {
			states = append(states, p.State)
		}
		want := []diagnose.PointState{diagnose.PointOffRoute, diagnose.PointUsed, diagnose.PointAway, diagnose.PointUsed}
		if status != exitFailed || !slices.Equal(states, want) || !strings.Contains(d.Segments.Points[2].Means, "refused") {
			return fmt.Errorf("status %d, points %+v, want status %d and %v", status, d.Segments.Points, exitFailed, want)
		}
		found, blamed := d.Segments.Verdict == diagnose.BlameNone, "none"
		if at >= 0 {
			blamed = d.Segments.Segments[at].Name()
			found = found && strings.HasPrefix(name, "policer") && d.Segments.Narrowest == blamed ||
				d.Segments.Verdict == diagnose.BlameOne && slices.Equal(d.Segments.Blamed, []string{blamed})
		}
		if !found {
			return fmt.Errorf("want %s", blamed)
		}
		return nil
	}
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		carrying(t)
		for try := 1; ; try++ {
			l := segmentLab(t, change)
			status, d := diagnoseEnds(t, l, setting{}, append([]string{"carol", "-t", "3", "--segments", "far,p2,deaf,p1"}, oneWay...)...)
			err := check(status, d)
			truth, truthErr := l.Truth()
			switch {
			case err == nil:
				keepSegments(t, name, d)
				return
			case truthErr != nil || !truth.Emulator.Bottleneck || try == mostTries:
				var out bytes.Buffer
				if d.Segments != nil {
					printSegments(&out, d.Segments)
				}
				t.Fatalf("%v\n%s\n%s", errors.Join(err, truthErr), out.String(), inShort(d))
			}
			t.Logf("once more, as the emulator was the bottleneck (%s): %v", truth.Emulator.Why, err)
		}
	})
}

// keepSegments writes a diagnosis where it is wanted, without what its segments are not judged by.
func keepSegments(t *testing.T, name string, d *diagnose.Diagnosis) {
	dir := os.Getenv(recordSegments)
	if dir == "" {
		return
	}
	unused := func(r *measure.Result) bool { return r.Kind == "audit" || r.Kind == "transact" }
	d.Results, d.Segments.Results = slices.DeleteFunc(d.Results, unused), slices.DeleteFunc(d.Segments.Results, unused)
	for _, r := range slices.Concat(d.Results, d.Segments.Results) {
		r.Samples.Echoes, r.Samples.Intervals = nil, nil
		r.Samples.TCPInfo = slices.DeleteFunc(r.Samples.TCPInfo, func(s measure.TCPSample) bool { return s.End == measure.Receiver })
	}
	if err := document.WritePacked(filepath.Join(dir, name+".json.gz"), d); err != nil {
		t.Fatal(err)
	}
}

// Points that cannot be are refused before anything is measured.
func TestBadSegments(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--segments", "a,a"}, `--segments: "a": want each host once`},
		{[]string{"--segments", "127.0.0.1:5202"}, `--segments: "127.0.0.1:5202": want each host once, and HOST itself not among them`},
		{[]string{"--segments", "a:b"}, "--segments: "},
		{[]string{"--segments", "1,2,3,4,5,6,7,8,9"}, "--segments: 9 points: want 8 at most"},
		{[]string{"--segments", "a", "--budget", "20s"}, "--budget: "},
		{[]string{"--segments", ""}, "--segments: "},
	} {
		var said bytes.Buffer
		status := run(append([]string{"diagnose", "127.0.0.1", "-p", "9"}, c.args...), nil, io.Discard, &said)
		if status != exitBadCall || !strings.Contains(said.String(), c.says) {
			t.Errorf("%v: exit status %d, %s", c.args, status, said.String())
		}
	}
}
