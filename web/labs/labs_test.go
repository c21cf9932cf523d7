package labs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/respond"
)

func TestMain(m *testing.M) {
	lab.RunEngineIfAsked() // the labs of these tests are this test binary again
	if len(os.Args) > 1 && slices.Contains([]string{"lab", "respond", "diagnose"}, os.Args[1]) {
		if err := program(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// program is as much of pathwise as Test runs on hosts.
func program(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if args[0] == "respond" { // respond --port PORT
		kind := respond.Kinds()[0]
		o, err := kind.Open(ctx, ":"+args[2], respond.Limits{Tests: 1, Longest: time.Minute, Streams: 1}, nil)
		if err != nil {
			return err
		}
		fmt.Println(respond.AnsweringOn + o.Addr.String())
		return o.Serve(ctx)
	}
	if args[0] == "diagnose" { // diagnose HOST --port PORT --time TIME --json
		_, err := fmt.Printf("{\n  \"verdict\": \"healthy\",\n  \"args\": %q\n}\n", strings.Join(args[1:], " "))
		return err
	}
	seconds, err := strconv.ParseFloat(args[5], 64) // lab measure KIND HOST --seconds SECONDS --port PORT
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(args[7])
	if err != nil {
		return err
	}
	return Measure(ctx, os.Stdout, args[2], args[3], port, time.Duration(seconds*float64(time.Second)), nil)
}

const twoHosts = `
hosts: {bob: {}, carol: {}}
routers: [denver]
links:
  - {between: [bob, denver], rate: 100mbit, delay: 5ms}
  - {between: [denver, carol], rate: 50mbit, delay: 5ms, forward: {loss: {every: 100000}}}
`

// start stands a lab up, and returns what shows it.
func start(t *testing.T) (*Labs, string) {
	t.Helper()
	spec, err := lab.ParseSpec("lab.yaml", []byte(twoHosts))
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
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &Labs{Program: self}, l.Name
}

func settings(doc *Lab, link int) string {
	var b strings.Builder
	for _, w := range []Way{doc.Links[link].Forward, doc.Links[link].Reverse} {
		fmt.Fprintln(&b, w.Settings) // fmt sorts keys
	}
	return b.String()
}

func TestShow(t *testing.T) {
	s, name := start(t)
	doc, err := s.Lab(name)
	if err != nil {
		t.Fatal(err)
	}
	if doc.Began.IsZero() || time.Since(doc.Began) > time.Hour || len(doc.Nodes) != 3 || len(doc.Links) != 2 || doc.Links[1].Between != [2]string{"denver", "carol"} || doc.Changes == nil {
		t.Errorf("%+v", doc)
	}
	if diff := cmp.Diff(map[string]float64{"rate": 50e6, "delay": 0.005}, doc.Links[1].Forward.Values); diff != "" { // the loss is no number
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("map[delay:5ms loss:{every: 100000} rate:50mbit]\nmap[delay:5ms rate:50mbit]\n", settings(doc, 1)); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	again, err := s.Lab(name)
	if err != nil || again != doc && time.Since(s.known[name].shownAt) < freshness/2 {
		t.Errorf("asked anew at once: %v", err)
	}
}

// A lab that kept somebody waiting and then did not answer is not asked again for as long a time.
func TestNoAnswer(t *testing.T) {
	s, name := start(t)
	if _, err := s.Lab(name); err != nil {
		t.Fatal(err)
	}
	k := s.known[name]
	if _, err := k.look(&lab.Lab{Name: "nobody"}); !errors.Is(err, lab.ErrNoLab) || k.failed != err || k.failedUntil.IsZero() {
		t.Errorf("%v, kept %v until %v", err, k.failed, k.failedUntil)
	}
	k.shownAt, k.failedUntil = time.Time{}, time.Now().Add(time.Hour)
	if _, err := s.Lab(name); err != k.failed {
		t.Errorf("asked again: %v", err)
	}
	k.failedUntil = time.Now()
	if _, err := s.Lab(name); err != nil {
		t.Error(err)
	}
}

// Every fault can be given to a link that has a rate, and taken back; one that is for a time ends by itself.
func TestFaults(t *testing.T) {
	s, name := start(t)
	was, err := s.Lab(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Faults() {
		for _, setting := range f.Settings {
			if _, _, err := link.ParseSetting(setting); err != nil || f.Title == "" || !strings.HasSuffix(f.Text, ".") {
				t.Errorf("%+v: %v", f, err)
			}
		}
		doc, err := s.Change(name, Wish{Fault: f.Name, Direction: Forward, Link: 1})
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		if settings(doc, 1) == settings(was, 1) || doc.Changes[0].What != f.Title {
			t.Errorf("%s changes nothing", f.Name)
		}
		if doc, err = s.Undo(name, nil, false); err != nil || settings(doc, 1) != settings(was, 1) {
			t.Errorf("%s taken back: %v, %s", f.Name, err, settings(doc, 1))
		}
	}
	doc, err := s.Change(name, Wish{Fault: "outage", Seconds: 3})
	if err != nil || doc.Links[0].Forward.Values["down"] != 1 || doc.Links[0].Reverse.Values["down"] != 1 {
		t.Fatalf("cut: %v, %+v", err, doc)
	}
	for late := time.Now().Add(30 * time.Second); doc.Links[0].Forward.Values["down"] == 1; time.Sleep(100 * time.Millisecond) {
		if doc, err = s.Lab(name); err != nil || time.Now().After(late) {
			t.Fatalf("the cut does not end: %v", err)
		}
	}
	if doc, err = s.Undo(name, nil, false); err != nil || settings(doc, 0) != settings(was, 0) {
		t.Errorf("undone after its end: %v, %s", err, settings(doc, 0))
	}
}
