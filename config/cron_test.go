package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// What the library understands beside cron, and what makes it panic, is an error of the file.
func TestCronRefused(t *testing.T) {
	for _, text := range []string{
		"TZ=UTC", "CRON_TZ=UTC", "TZ=", "CRON_TZ=", "TZ=UTC 0 0 * * *", "@every 1s", "@every", "@", "@reboot", "", " ",
		"* * * *", "* * * * * *", "60 * * * *", "*/0 * * * *", "5-1 * * * *", "-1 * * * *", "1--2 * * * *", "0 0 30 2 *",
		"99999999999999999999 * * * *", "*/99999999999999999999 * * * *", strings.Repeat("1,", 300) + "1 * * * *",
	} {
		for _, mesh := range []string{
			fmt.Sprintf("hosts: {a: 10.0.0.1}\nschedules: {s: {cron: %q}}", text),
			fmt.Sprintf("hosts: {a: 10.0.0.1}\nphases: {s: {cron: %q}}", text),
			fmt.Sprintf("hosts: {a: 10.0.0.1}\ntools: {t: {probe: host}}\ntests: [{tool: t, hosts: all, schedule: {cron: %q}}]", text),
		} {
			var wrong Errors
			if _, err := Parse([]File{{"f", []byte(mesh)}}, nil); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "minute, hour") {
				t.Errorf("%s: %v; want Errors that say what a cron line is", mesh, err)
			}
		}
	}
}

// A panic while files are read is an error.
func TestParsePanic(t *testing.T) {
	var wrong Errors
	m, err := Parse([]File{{"f", []byte("tools: {t: {probe: x}}")}}, panicking{})
	if m != nil || !errors.As(err, &wrong) || !strings.Contains(err.Error(), "no such luck") {
		t.Errorf("%v, %v; want Errors that say what stopped the reader", m, err)
	}
}

// FuzzSchedule holds that a schedule is refused, or is due at times that come one after another.
func FuzzSchedule(f *testing.F) {
	for _, text := range []string{"30 2 * * 1-5", "@daily", "TZ=UTC", "*/5 0-6,22 1 JAN-MAR mon", "0 0 29 2 *", "? ? * * *"} {
		f.Add(text, "UTC", "10m")
	}
	f.Add("5 3 * * *", "Europe/London", "1s")
	f.Fuzz(func(t *testing.T, line, name, span string) {
		if every, err := parseEvery(span); err == nil && (every < MinEvery || every > MaxEvery) {
			t.Errorf("every %q: %v", span, every)
		}
		if _, err := parseZone(name); err != nil {
			name = "UTC"
		}
		if _, err := parseCron(line); err != nil {
			return
		}
		compiled, err := compileCron(line)
		if err != nil {
			t.Fatal(err)
		}
		s := Schedule{Cron: line, Zone: name, due: &due{compiled, zone(name)}}
		at := referenceWeek
		for range 5 {
			next := s.NextCron(at)
			if !next.After(at) || next.Second() != 0 || next.Sub(at) > 10*366*24*time.Hour {
				t.Fatalf("%q in %s: %v comes after %v", line, name, next, at)
			}
			at = next
		}
		if n := cronPerDay(&s); n < 0 || n > 24*60 {
			t.Errorf("%q in %s: %v a day", line, name, n)
		}
	})
}

// panicking is a Checker with a defect.
type panicking struct{ someKinds }

func (panicking) Validate(measure.Task) error { panic("no such luck") }
