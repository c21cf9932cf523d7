package labs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
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

// Each change is what was asked for, and undo goes back step by step.
func TestChangeAndUndo(t *testing.T) {
	s, name := start(t)
	steps := []struct {
		wish Wish
		want string
	}{
		{Wish{Direction: Both, Settings: []string{"delay=20ms", "loss=1%"}}, "map[delay:20ms loss:1% rate:100mbit]\nmap[delay:20ms loss:1% rate:100mbit]\n"},
		{Wish{Direction: Reverse, Settings: []string{"loss="}}, "map[delay:20ms loss:1% rate:100mbit]\nmap[delay:20ms rate:100mbit]\n"},
		{Wish{Settings: []string{"forward.delay=9ms", "rate=1mbit"}}, "map[delay:9ms loss:1% rate:1mbit]\nmap[delay:20ms rate:1mbit]\n"},
		{Wish{Direction: Forward, Fault: "policer"}, "map[delay:9ms loss:1% police:{rate: 10mbit, burst: 50kB} rate:1mbit]\nmap[delay:20ms rate:1mbit]\n"},
	}
	before := []string{"map[delay:5ms rate:100mbit]\nmap[delay:5ms rate:100mbit]\n"}
	for i, step := range steps {
		step.wish.By = "anna"
		doc, err := s.Change(name, step.wish)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.ReplaceAll(step.want, "50kB", "50000B"), settings(doc, 0)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", step.wish, diff)
		}
		if c := doc.Changes[0]; len(doc.Changes) != i+1 || c.ID != i+1 || c.By != "anna" || c.What == "" {
			t.Errorf("changes %+v", doc.Changes)
		}
		before = append(before, settings(doc, 0))
	}
	for i := range steps {
		doc, err := s.Undo(name, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before[len(steps)-1-i], settings(doc, 0)); diff != "" {
			t.Errorf("undone %d (-want +got):\n%s", i+1, diff)
		}
	}
	if _, err := s.Undo(name, nil, false); !errors.Is(err, ErrNothing) {
		t.Errorf("one more: %v", err)
	}
}

// A link goes back as it was while the other, and what somebody changed from outside, stay.
func TestUndoOfOneLink(t *testing.T) {
	s, name := start(t)
	for _, w := range []Wish{{Settings: []string{"delay=20ms"}}, {Link: 1, Settings: []string{"delay=30ms"}}, {Settings: []string{"loss=1%", "jitter=1ms"}}} {
		if _, err := s.Change(name, w); err != nil {
			t.Fatal(err)
		}
	}
	if err := (&lab.Lab{Name: name}).Set("bob", "denver", "loss=3%"); err != nil {
		t.Fatal(err)
	}
	first := 0
	doc, err := s.Undo(name, &first, true)
	if err != nil {
		t.Fatal(err)
	}
	want := "map[delay:5ms loss:3% rate:100mbit]\nmap[delay:5ms loss:3% rate:100mbit]\n"
	if diff := cmp.Diff(want, settings(doc, 0)); diff != "" || doc.Links[1].Forward.Settings["delay"] != "30ms" || len(doc.Changes) != 1 {
		t.Errorf("%d changes are left (-want +got):\n%s", len(doc.Changes), diff)
	}
	for range mostChanges + 5 {
		if doc, err = s.Change(name, Wish{Settings: []string{"delay=1ms", "loss=2%"}}); err != nil {
			t.Fatal(err)
		}
	}
	if len(doc.Changes) != mostChanges {
		t.Errorf("%d changes are kept, want %d", len(doc.Changes), mostChanges)
	}
}

// A slider that is moved key by key is one change; anything else is a change of its own.
func TestMovesAreOneChange(t *testing.T) {
	began := time.Now()
	delay := func(text string) (both [2]link.Shape) {
		s, _, err := link.ParseSetting("delay=" + text)
		if err != nil {
			t.Fatal(err)
		}
		return [2]link.Shape{s, s}
	}
	first := Change{At: began, What: "delay=2ms", before: delay("1ms"), after: delay("2ms")}
	for want, second := range map[string]Change{
		"1 of 1ms to 3ms": {At: began.Add(oneMove / 2), What: "delay=3ms", before: delay("2ms"), after: delay("3ms")},
		"2 of 2ms to 4ms": {At: began.Add(oneMove), What: "delay=4ms", before: delay("2ms"), after: delay("4ms")},
		"2 of 2ms to 5ms": {At: began, What: "delay=5ms", By: "carol", before: delay("2ms"), after: delay("5ms")},
		"2 of 9ms to 6ms": {At: began, What: "delay=6ms", before: delay("9ms"), after: delay("6ms")}, // somebody else came between
		"2 of 2ms to 7ms": {At: began, What: "delay=7ms loss=1%", before: delay("2ms"), after: delay("7ms")},
		"2 of 2ms to 8ms": {At: began, What: "delay=8ms", Seconds: 1, before: delay("2ms"), after: delay("8ms")},
	} {
		k, one := &known{}, first
		k.keep(&one)
		k.keep(&second)
		last := k.changes[len(k.changes)-1]
		ms := func(s [2]link.Shape) time.Duration { return time.Duration(*s[0].Delay) }
		if got := fmt.Sprintf("%d of %v to %v", len(k.changes), ms(last.before), ms(last.after)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// What ended by itself is not brought back by undoing what was changed after it.
func TestUndoAfterAnEnd(t *testing.T) {
	s, name := start(t)
	was, err := s.Lab(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []Wish{{Settings: []string{"loss=1%"}, Seconds: 3600}, {Settings: []string{"loss=2%"}}} {
		if _, err := s.Change(name, w); err != nil {
			t.Fatal(err)
		}
	}
	all := s.known[name].changes
	all[0].Seconds = (all[1].At.Sub(all[0].At) + time.Microsecond).Seconds() // as if it had ended just after the second; a nanosecond may be rounded away
	if doc, err := s.Undo(name, nil, false); err != nil || settings(doc, 0) != settings(was, 0) {
		t.Errorf("undone: %v, %s", err, settings(doc, 0))
	}
}

// A change without which the link could not be any more is not undone, and keeps none before it from being.
func TestUndoOfWhatMustStay(t *testing.T) {
	s, name := start(t)
	for _, w := range []Wish{{Settings: []string{"delay=9ms"}}, {Settings: []string{"rate=", "corrupt=1%"}}, {Settings: []string{"rate=1mbit"}}} {
		if _, err := s.Change(name, w); err != nil {
			t.Fatal(err)
		}
	}
	if err := (&lab.Lab{Name: name}).Set("bob", "denver", "duplex=half"); err != nil { // which needs a rate
		t.Fatal(err)
	}
	var bad interface{ BadInput() bool }
	if _, err := s.Undo(name, nil, true); !errors.As(err, &bad) || !strings.Contains(err.Error(), "rate=1mbit cannot be undone any more") {
		t.Errorf("undone: %v", err)
	}
	if doc, err := s.Lab(name); err != nil || len(doc.Changes) > 0 || doc.Links[0].Forward.Settings["delay"] != "5ms" {
		t.Errorf("%v, %+v", err, doc.Changes)
	}
}

func TestBadWishes(t *testing.T) {
	s, name := start(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("1\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, w := range map[string]Wish{
		`loss: "2": want a ratio`:                {Settings: []string{"loss=2"}},
		`"los": want rate, trace`:                {Settings: []string{"los=1%"}},
		`"los": want a key`:                      {Settings: []string{"los="}},
		`"loss": want KEY=VALUE`:                 {Settings: []string{"loss"}},
		`settings: none`:                         {},
		`link: 2: lab ` + name + ` has links 0`:  {Link: 2, Settings: []string{"loss=1%"}},
		`link: -1: lab`:                          {Link: -1, Settings: []string{"loss=1%"}},
		`for_seconds: -1`:                        {Settings: []string{"loss=1%"}, Seconds: -1},
		`trace: names a file`:                    {Settings: []string{"trace=" + secret}},
		`jitter: names a file`:                   {Settings: []string{"jitter={table_file: /etc/passwd}"}},
		`rules: names a file`:                    {Settings: []string{"rules=[{trace: /etc/passwd}]"}},
		`fault: "../outage": want one of random`: {Fault: "../outage"},
		`duplex: half one way and full`:          {Direction: Forward, Settings: []string{"duplex=half"}},
		`loss: "1%, delay: 1ms": want one value`: {Settings: []string{"loss=1%, delay: 1ms"}},
		"delay: value is not allowed":            {Settings: []string{"delay=1ms}\n{x: y"}},
		`delay: "2h": want`:                      {Settings: []string{"delay=2h"}},
	} {
		_, err := s.Change(name, w)
		var bad interface{ BadInput() bool }
		if err == nil || !errors.As(err, &bad) || !bad.BadInput() {
			t.Errorf("%+v: %v, want bad input: %s", w, err, want)
		} else if !strings.Contains(err.Error(), want) {
			t.Logf("%+v: %v", w, err)
			t.Errorf("want %s", want)
		}
	}
	if doc, err := s.Lab(name); err != nil || len(doc.Changes) != 0 || doc.Links[0].Forward.Settings["delay"] != "5ms" {
		t.Errorf("what was refused left something: %+v, %v", doc, err)
	}
	for _, name := range []string{"", "nobody", "../" + name, name + "\x00", strings.Repeat("x", 200), "@pathwise-lab-0-" + name} {
		if _, err := s.Lab(name); !errors.Is(err, lab.ErrNoLab) {
			t.Errorf("lab %q: %v", name, err)
		}
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

func TestTests(t *testing.T) {
	s, name := start(t)
	var echoes, intervals int
	run := func(kind string) (rtt, rate float64) {
		t.Helper()
		err := s.Test(t.Context(), name, Test{Kind: kind, From: "bob", To: "carol", Seconds: 1.5}, func(l Line) {
			switch {
			case l.Echo != nil:
				echoes++
			case l.Interval != nil:
				intervals++
			case l.Result != nil:
				rtt, rate = l.Result.Metrics["rtt_median_seconds"], l.Result.Metrics["throughput_bits_per_second"]
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return rtt, rate
	}
	if rtt, _ := run("ping"); rtt < 0.02 || echoes < 2 {
		t.Errorf("%d echoes, round trip %v s", echoes, rtt)
	}
	if _, rate := run("throughput"); rate < 1e6 || rate > 50e6 || intervals < 2 {
		t.Errorf("%d intervals, %v bit/s", intervals, rate)
	}
	var found json.RawMessage
	err := s.Test(t.Context(), name, Test{Kind: "diagnosis", From: "bob", To: "carol", Seconds: 1.5}, func(l Line) { found = l.Diagnosis })
	if want := `"carol --port 5299 --time 1.5s --json"`; err != nil || !strings.Contains(string(found), want) {
		t.Errorf("a diagnosis is %s, %v; want one of %s", found, err, want)
	}
	for want, c := range map[string]Test{
		`from: "denver": want a host`: {Kind: "ping", From: "denver", To: "bob"},
		`to: "--help": want a host`:   {Kind: "ping", From: "bob", To: "--help"},
		`to: "bob": is the host`:      {Kind: "ping", From: "bob", To: "bob"},
		`kind: "exec": want ping, t`:  {Kind: "exec", From: "bob", To: "carol"},
		`seconds: 61: want 1 to 60`:   {Kind: "ping", From: "bob", To: "carol", Seconds: 61},
	} {
		var bad interface{ BadInput() bool }
		if err := s.Test(t.Context(), name, c, nil); err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &bad) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	broken := &Labs{Program: "/nowhere/pathwise"}
	if err := broken.Test(t.Context(), name, Test{Kind: "ping", From: "bob", To: "carol"}, nil); err == nil || !strings.Contains(err.Error(), "/nowhere") {
		t.Errorf("without a program: %v", err)
	}
}

// When who asked goes, so does the test, at both ends; meanwhile there is no second one.
func TestTestEndsWithItsCaller(t *testing.T) {
	s, name := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	once := false
	err := s.Test(ctx, name, Test{Kind: "throughput", From: "bob", To: "carol", Seconds: 50}, func(l Line) {
		if once {
			return
		}
		once = true
		if got := running(t, name); !strings.Contains(got, "respond") || !strings.Contains(got, "measure") {
			t.Errorf("during the test these run: %q", got)
		}
		if err := s.Test(ctx, name, Test{Kind: "ping", From: "bob", To: "carol"}, nil); !errors.Is(err, ErrBusy) {
			t.Errorf("a second test: %v", err)
		}
		cancel()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cut off: %v", err)
	}
	if got := running(t, name); got != "" {
		t.Errorf("left behind: %q", got)
	}
	if doc, err := s.Lab(name); err != nil || doc.Testing {
		t.Errorf("the lab is not free again: %v", err)
	}
}

// running is what runs on the hosts of a lab, but for what looks.
func running(t *testing.T, name string) string {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh")
	}
	out, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	script := `for p in /proc/[0-9]*; do test "${p#/proc/}" = 1 -o "${p#/proc/}" = $$ || tr '\0' ' ' < $p/cmdline 2>/dev/null; done`
	p, err := (&lab.Lab{Name: name}).Start(t.Context(), "bob", lab.Command{Argv: []string{"sh", "-c", script}, Stdout: out})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for word := range strings.FieldsSeq(string(bytes.ToValidUTF8(text, nil))) {
		if word == "respond" || word == "measure" {
			all = append(all, word)
		}
	}
	return strings.Join(all, " ")
}
