package labs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/link"
)

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
