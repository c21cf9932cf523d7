package config

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/pathwise-net/pathwise/document"
)

// Schedule says when a test runs, for each of its pairs: Every some time, or by Cron.
type Schedule struct {
	Every    time.Duration
	Sampling Sampling      // of Every
	Step     time.Duration // of Geometric: how long one trial of chance Step/Every takes
	Cron     string        // five fields, or @hourly and the like
	Zone     string        // of Cron: an IANA name; "": UTC
	Phase    string        // the name of the phase whose schedule this is; "": the test's own

	Slot  time.Duration // how long after its time a run may still begin; 0: what the planner leaves
	Tries int           // within the slot, if a run fails; 0: 1

	due *due // of Cron
}

// Sampling is how the runs of a test are spread in time (RFC 2330, 11.1).
type Sampling string

const (
	Periodic  Sampling = "periodic"
	Poisson   Sampling = "poisson"   // exponential intervals, which meet periodic behaviour of the path without bias
	Geometric Sampling = "geometric" // the same in whole steps
)

// Bounds of a schedule.
const (
	MinEvery = time.Second          // the least time between runs: what shorter tests do within one run
	MaxEvery = 366 * 24 * time.Hour // the most: a test once a year also in a leap year
	maxTries = 10
	// defaultStep of geometric sampling is a hundredth of Every: chance 0.01 a step is near to Poisson.
	defaultStep = 100
)

// schedule reads the section schedules: names for what tests may say in full.
func (r *reader) schedule(n node) {
	for _, e := range n.entries("{hourly: {every: 1h}}") {
		value(e.at, new(string), parseName)
		if r.define(e.at) {
			r.schedules[e.key] = r.timing(e.value, false)
		}
	}
}

// phase reads the section phases.
func (r *reader) phase(n node) {
	for _, e := range n.entries("{nightly: {every: 24h}}") {
		value(e.at, new(string), parseName)
		if !r.define(e.at) {
			continue
		}
		s := r.timing(e.value, false)
		s.Phase = e.key
		r.mesh.phases[e.key] = len(r.mesh.Phases)
		r.mesh.Phases = append(r.mesh.Phases, Phase{e.key, s})
	}
}

// timing reads a schedule: in full, by the name of one, or of a test by the name of its phase.
func (r *reader) timing(n node, ofTest bool) Schedule {
	if n.isScalar() {
		s, known := r.schedules[n.text()]
		if !known {
			n.fail(n.text(), "a schedule such as {every: 10m}, or the name of one in schedules%s",
				document.Meant(n.text(), slices.Sorted(maps.Keys(r.schedules))))
		}
		return s
	}
	var s Schedule
	f := fields{
		"every":    into(&s.Every, parseEvery),
		"sampling": into(&s.Sampling, parseSampling),
		"step":     into(&s.Step, parseSpan),
		"cron":     into(&s.Cron, parseCron),
		"zone":     into(&s.Zone, parseZone),
		"slot":     into(&s.Slot, parseSpan),
		"tries":    into(&s.Tries, parseTries),
	}
	if ofTest {
		f["phase"] = func(n node) { r.phaseOf(n, &s) }
	}
	before := len(r.errs)
	given := n.fields("{every: 10m}", f)
	if len(r.errs) == before {
		checkTiming(n, given, &s, ofTest)
	}
	return s
}

// phaseOf takes over the schedule of a phase.
func (r *reader) phaseOf(n node, s *Schedule) {
	text, ok := n.scalar("the name of a phase")
	if !ok {
		return
	}
	p := r.mesh.Phase(text)
	if p == nil {
		n.fail(text, "the name of one of phases%s", document.Meant(text, slices.Sorted(maps.Keys(r.mesh.phases))))
		return
	}
	slot, tries := s.Slot, s.Tries
	*s = p.Schedule
	if slot > 0 {
		s.Slot = slot
	}
	if tries > 0 {
		s.Tries = tries
	}
}

// checkTiming checks what keys mean together, and fills in defaults.
func checkTiming(n node, given map[string]node, s *Schedule, ofTest bool) {
	kinds := []string{"every", "cron"}
	if ofTest {
		kinds = append(kinds, "phase")
	}
	set := slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return given[k].ast == nil })
	if len(set) != 1 {
		n.fail(strings.Join(set, ", "), "one of %s", strings.Join(kinds, ", "))
		return
	}
	for key, needs := range map[string]string{"sampling": "every", "step": "every", "zone": "cron"} {
		if v, has := given[key]; has && set[0] != needs {
			v.fail(v.text(), "%s only beside %s", key, needs)
		}
	}
	if step, has := given["step"]; has && (s.Sampling != Geometric || s.Step > s.Every) {
		step.fail(step.text(), "step only with sampling: geometric, and not above every")
	}
	if s.Phase != "" {
		return
	}
	if compiled, err := compileCron(s.Cron); err == nil {
		s.due = &due{compiled, zone(s.Zone)}
	}
	if s.Every > 0 && s.Sampling == "" {
		s.Sampling = Periodic
	}
	if s.Sampling == Geometric && s.Step == 0 {
		s.Step = s.Every / defaultStep
	}
	if slot, has := given["slot"]; has && s.Every > 0 && s.Slot > s.Every {
		slot.fail(slot.text(), "at most the time between runs, %v", s.Every)
	}
}

func parseEvery(s string) (time.Duration, error) {
	d, err := parseSpan(s)
	if err != nil || d < MinEvery || d > MaxEvery {
		return 0, bad(s, "a time from 1s to 366d, such as 10m")
	}
	return d, nil
}

func parseTries(s string) (int, error) {
	v, err := parseCount(s)
	if err != nil || v > maxTries {
		return 0, bad(s, "a whole number from 1 to 10")
	}
	return v, nil
}

func parseSampling(s string) (Sampling, error) {
	switch v := Sampling(s); v {
	case Periodic, Poisson, Geometric:
		return v, nil
	}
	return "", bad(s, "periodic, poisson or geometric")
}

// maxCron is twice the length of a line that lists every minute of an hour and every hour of a day.
const maxCron = 500

func parseCron(s string) (string, error) {
	c, err := compileCron(s)
	if err != nil || c.Next(referenceWeek).IsZero() {
		return "", bad(s, `minute, hour, day of month, month and day of week, such as "30 2 * * 1-5"; or @hourly, `+
			"@daily, @weekly, @monthly")
	}
	return s, nil
}

// compileCron leaves out what the library knows beside cron: @every, and zones before the rest ("TZ=UTC" alone panics).
func compileCron(s string) (cron.Schedule, error) {
	if len(s) > maxCron || strings.Contains(s, "=") || strings.HasPrefix(s, "@every") {
		return nil, errors.New("not in use here")
	}
	return cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor).Parse(s)
}

// parseZone reads the name of a time zone.
func parseZone(s string) (string, error) {
	if _, err := time.LoadLocation(s); err != nil || s == "" || s == "Local" {
		return "", bad(s, "a time zone such as Europe/London or UTC")
	}
	return s, nil
}

// zone is the time zone of a name that parseZone took.
func zone(name string) *time.Location {
	if l, err := time.LoadLocation(name); err == nil {
		return l
	}
	return time.UTC
}

// NextCron returns the first time after another at which a schedule by Cron is due: the zero time if there is none
// within five years, or if the schedule is not by Cron.
func (s *Schedule) NextCron(after time.Time) time.Time {
	if s.due == nil {
		return time.Time{}
	}
	return s.due.Next(after.In(s.due.zone))
}

// due is a compiled Cron, for whoever asks it a million times.
type due struct {
	cron.Schedule
	zone *time.Location
}
