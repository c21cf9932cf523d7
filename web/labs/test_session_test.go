package labs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
)

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
