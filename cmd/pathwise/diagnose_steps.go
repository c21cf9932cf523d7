package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/terminal"
)

// stepScreen shows the steps of a diagnosis on a terminal: a line for each that ended, with what came of it, and below it the one that
// is under way, with the latest figure.
type stepScreen struct {
	*terminal.Screen
	live *terminal.Live

	name, why, latest string // of the step under way; no name: there is none
	began             time.Time
	begins            time.Time // when it has its turn; zero: it runs
	turns             int       // of the spinner
}

// The pictures of a spinner, one a drawing.
var (
	spinner      = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	spinnerASCII = []string{"|", "/", "-", "\\"}
)

// stepName is how wide the names of steps are: those of two hosts of usual names.
const stepName = 26

// showSteps shows steps until the returned function is called, where there is a terminal to show them on.
func (s *session) showSteps() (end func()) {
	if !s.live() || s.steps != nil {
		return func() {}
	}
	steps := &stepScreen{Screen: s.screen()}
	s.steps, steps.live = steps, s.screen().Start(steps.view)
	return func() {
		steps.live.End(false)
		s.steps = nil
	}
}

func (x *stepScreen) view(columns int) []string {
	if x.name == "" {
		return nil
	}
	pictures := spinner
	if x.ASCII {
		pictures = spinnerASCII
	}
	x.turns++
	if wait := time.Until(x.begins); wait > time.Second {
		return []string{fmt.Sprintf("%s %-*s begins in %s", x.Accent(pictures[x.turns%len(pictures)]), stepName, x.name, wait.Round(time.Second))}
	}
	line := fmt.Sprintf("%s %-*s %3.0f s", x.Accent(pictures[x.turns%len(pictures)]), stepName, x.name, time.Since(x.began).Seconds())
	if x.latest != "" {
		line += "  " + x.Strong(x.latest)
	}
	if whole := line + "  " + x.Faint(x.why); ansi.StringWidth(whole) < columns {
		return []string{whole}
	}
	lines := []string{line}
	for why := range strings.SplitSeq(chart.Fold(x.why, "  ", columns-1), "\n") {
		lines = append(lines, x.Faint(why))
	}
	return lines
}

// beginStep shows a step until the returned function is called with what came of it: no Result is a step that was left out.
func (s *session) beginStep(name, target, why string) (ended func(*measure.Result, error)) {
	if s.steps == nil {
		s.progress("%s %s: %s…", name, target, why)
		return func(*measure.Result, error) {}
	}
	x := s.steps
	x.live.Change(func() { x.name, x.why, x.latest, x.began, x.begins = name+" "+target, why, "", time.Now(), time.Time{} })
	return func(r *measure.Result, err error) {
		x.live.Change(func() { x.name = "" })
		if line := x.line(name+" "+target, r, err); line != "" {
			x.live.Print(line)
		}
	}
}

// line is a step that ended.
func (x *stepScreen) line(name string, r *measure.Result, err error) string {
	done, failed := x.Good("✓"), x.Warn("✗")
	if x.ASCII {
		done, failed = x.Good("+"), x.Warn("!")
	}
	name = fmt.Sprintf("%-*s ", stepName, name)
	switch {
	case err != nil:
		return failed + " " + name + err.Error()
	case r == nil:
		return ""
	case r.Status == measure.StatusFailed && r.Error != nil:
		return failed + " " + name + *r.Error
	}
	return done + " " + name + cameOut(r)
}

// figures has the step under way show its figures as it goes. What came in the last moments, after the data had been sent, is no rate.
func (s *session) figures(kind string, o *probe.Options) {
	x := s.steps
	if x == nil {
		return
	}
	fetched := kind == "fetch"
	show := func(text string) { x.live.Change(func() { x.latest = text }) }
	longest := 0.
	o.Interval = func(i measure.Interval) {
		took := i.EndSeconds - i.StartSeconds
		longest = max(longest, took)
		if tail := took < longest/2; !tail && (i.Stream == 0 || fetched) { // of a file there is one stream, and no sum
			show(quantity.FormatRate(i.BitsPerSecond))
		}
	}
	o.Echo = func(e measure.Echo) {
		if e.RTTSeconds != nil {
			show(quantity.FormatSeconds(*e.RTTSeconds))
		}
	}
	o.Hop = func(h measure.Hop) { show(fmt.Sprintf("hop %d", h.TTL)) }
}

// outcomes of steps are the metrics that say most of a Result, in the order in which they are looked for.
var stepOutcomes = []struct {
	metric measure.Metric
	text   func(v float64) string
}{
	{measure.Throughput, quantity.FormatRate},
	{measure.Capacity, quantity.FormatRate},
	{measure.TransactionMedian, quantity.FormatSeconds},
	{measure.RTTMedian, quantity.FormatSeconds},
	{measure.PathMTU, func(v float64) string { return fmt.Sprintf("packets of %.0f bytes", v) }},
	{measure.HopCount, func(v float64) string { return quantity.FormatCount(int(v), "hop") }},
	{measure.Retransmits, func(v float64) string { return quantity.FormatCount(int(v), "packet") + " sent again" }},
	{measure.LossRatio, func(v float64) string { return twoDigits(v) + " % lost" }},
	{measure.HostSettingsBad, func(v float64) string { return quantity.FormatCount(int(v), "setting") + " in the way" }},
}

// cameOut is what came of a step, in two figures at most.
func cameOut(r *measure.Result) string {
	text, n := "", 0
	for _, o := range stepOutcomes {
		v, there := r.Get(o.metric)
		if !there || n == 2 {
			continue
		}
		if n++; n > 1 {
			text += ", "
		}
		text += o.text(v)
	}
	if n == 0 {
		return "done"
	}
	return text
}
