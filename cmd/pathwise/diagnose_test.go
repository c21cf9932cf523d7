package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// One end has selective acknowledgements switched off, and slow start overshoots a queue: each segment that is missing then takes
// a round trip. The window often holds the sender in such a transfer, but not in each:
// package diagnose has the Results of one.
func TestDiagnoseWithoutSACK(t *testing.T) {
	t.Parallel()
	carrying(t)
	s := setting{rate: "50mbit", rtt: 40 * ms, seed: 5, fault: withSysctl("carol", "net.ipv4.tcp_sack", "0")}
	carried(t, s, func(l *lab.Lab) error {
		if err := l.Set("denver", "chicago", "queue=250kB"); err != nil {
			return err
		}
		d := diagnoseIn(t, l, s, append([]string{"carol", "-t", "3", "--cc", "reno"}, oneWay...)...)
		if d.Verdict != "no-sack" && d.Verdict != diagnose.Healthy { // in some runs the overshoot is mended soon
			return fmt.Errorf("verdict %s, want no-sack: %s", d.Verdict, inShort(d))
		}
		return nil
	})
}

// Where nothing listens, a diagnosis says what answered, in a document, what of pings of full size is lost, and that it could not measure.
// Nothing is called healthy.
func TestDiagnoseWithoutResponder(t *testing.T) {
	t.Parallel()
	var out, said bytes.Buffer
	status := run([]string{"diagnose", "127.0.0.1", "-p", "9", "--json", "--fail-on", "unknown"}, nil, &out, &said)
	var d diagnose.Diagnosis
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if status != exitFailed || d.Verdict != diagnose.Unknown || len(d.Findings) != 1 || d.Findings[0].ID != "no-transfer" ||
		len(d.Results) != 5 || !strings.Contains(said.String(), "connection refused") {
		t.Errorf("exit status %d, %q\n%s", status, said.String(), inShort(&d))
	}
}

// A program's connection is looked at while it runs, without a responder: where the program that receives reads nothing, that is the verdict,
// and the diagnosis is done. Where the program has no connection, that is said, and the rest goes on.
func TestDiagnoseProgram(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	far, err := l.Accept() // and reads nothing
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	go func() { _, _ = near.Write(make([]byte, 64<<20)) }() // which ends when it is closed
	port := fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	for _, c := range []struct{ port, verdict, says string }{
		{port, "receiver-application-slow", ""},
		{"9", diagnose.Unknown, "no connection with 127.0.0.1 has port 9 at either end"},
	} {
		var out, said bytes.Buffer
		status := run([]string{"diagnose", "127.0.0.1", "-p", "9", "--json", "--program", c.port}, nil, &out, &said)
		var d diagnose.Diagnosis
		if err := json.Unmarshal(out.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(d.Results[0].Notes, " ")
		if (status == exitDone) != (c.says == "") || d.Verdict != c.verdict || !strings.HasPrefix(notes, c.says) || d.Results[0].Kind != "sockets" {
			t.Errorf("port %s: exit status %d, %q, notes %q\n%s", c.port, status, said.String(), notes, inShort(&d))
		}
	}
	var said bytes.Buffer
	if status := run([]string{"diagnose", "127.0.0.1", "--program", "0"}, nil, io.Discard, &said); status != exitBadCall || !strings.Contains(said.String(), "program") {
		t.Errorf("port 0: exit status %d, %q", status, said.String())
	}
}

// A host moves its own bytes faster than its trains of single packets tell: then these are no capacity.
func TestDiagnoseLoopback(t *testing.T) {
	t.Parallel()
	carrying(t)
	s := setting{rate: "50mbit", rtt: 40 * ms, seed: 1}
	l := startCalibration(t, s)
	startResponder(t, l, "bob")
	d := diagnoseIn(t, l, s, "127.0.0.1", "-t", "1")
	if expected := d.ExpectedBitsPerSecond; expected != nil && *expected < d.AchievedBitsPerSecond {
		t.Errorf("expected %v of %v", *expected, d.AchievedBitsPerSecond)
	}
	notes := d.Notes
	for _, r := range d.Results {
		notes = append(notes, r.Notes...)
	}
	if d.ExpectedBitsPerSecond == nil && len(notes) == 0 {
		t.Errorf("nothing says why no capacity is known: %s", inShort(d))
	}
}

// A rate that the path carries is accepted, without a diagnosis; one above it is not, which is status 3 and a diagnosis that says why.
func TestDiagnoseAccepts(t *testing.T) {
	t.Parallel()
	carrying(t)
	s := setting{rate: "20mbit", rtt: 10 * ms, seed: 1}
	l := startCalibration(t, s)
	for rate, want := range map[string]struct {
		status  int
		outcome diagnose.Outcome
		results int
	}{"15mbit": {exitDone, diagnose.Passes, 2}, "30mbit": {exitBadResult, diagnose.Fails, 8}} {
		status, d := diagnoseEnds(t, l, s, "carol", "-t", "2", "--accept", "--target-rate", rate)
		if status != want.status || d.Acceptance == nil || d.Acceptance.Outcome != want.outcome || len(d.Results) < want.results {
			t.Errorf("%s: status %d, %+v, %d Results", rate, status, d.Acceptance, len(d.Results))
		}
	}
}

// --fail-on fails for what it names and for what is worse; an unknown verdict only where it is named.
func TestFailOn(t *testing.T) {
	of := func(verdict string, severities ...measure.Severity) *diagnose.Diagnosis {
		d := &diagnose.Diagnosis{Verdict: verdict}
		for _, s := range severities {
			d.Findings = append(d.Findings, measure.Finding{Severity: s})
		}
		return d
	}
	for _, c := range []struct {
		name string
		d    *diagnose.Diagnosis
		bad  string // values of --fail-on with which it is
	}{
		{"healthy", of(diagnose.Healthy), ""},
		{"healthy, full", of(diagnose.Healthy, measure.Info), ""},
		{"unknown", of(diagnose.Unknown, measure.Info), "unknown"},
		{"unexplained", of("unexplained", measure.Warning), "warning unknown"},
		{"a problem", of("random-loss", measure.Problem, measure.Warning), "problem warning unknown"},
	} {
		for _, least := range []string{"", "problem", "warning", "unknown"} {
			if want := least != "" && strings.Contains(c.bad, least); isBad(c.d, least) != want {
				t.Errorf("%s with --fail-on %q: %v, want %v", c.name, least, !want, want)
			}
		}
	}
	for _, command := range [][]string{{"diagnose", "127.0.0.1"}, {"mesh", "diagnose", "a", "b"}} {
		var said bytes.Buffer
		if status := run(append(command, "--fail-on", "healthy"), nil, io.Discard, &said); status != exitBadCall ||
			!strings.Contains(said.String(), "want problem, warning or unknown") {
			t.Errorf("%v: exit status %d, %s", command, status, said.String())
		}
	}
}

// What is printed of a finding has its way.
func TestFindingNamesItsWay(t *testing.T) {
	var out bytes.Buffer
	for _, way := range []measure.Way{measure.Forward, measure.Reverse, ""} {
		printFinding(&out, &measure.Finding{ID: "path-full", Severity: measure.Info, Way: way, Where: "path", Confidence: 0.9})
	}
	for _, want := range []string{"info: path-full, forward (path;", "info: path-full, reverse (path;", "info: path-full (path;"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

// What came of every cause is told, each way, with the facts.
func TestConsideredIsTold(t *testing.T) {
	text, err := os.ReadFile("../../diagnose/testdata/without-sack.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Results []*measure.Result `json:"results"`
	}
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	printConsidered(&out, diagnose.Diagnose(recorded.Results))
	for _, want := range []string{"\nconsidered, way forward:\n", "\n  holds    no-sack                 not selective acknowledgements, retransmits ",
		"\n  refuted  receive-window-limited  it would leave ", "\n  absent   application-limited     send room share ",
		"\n  unknown  shallow-buffer          half loss: no measurement told it"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
