package probe

import (
	"maps"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/analysis/passage"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// overWindow is a window of which all is known that will be.
type overWindow struct {
	owdWindow
	sent     []owdPacket
	arrivals []passage.Answer // to its packets, and to some after them
	lasted   time.Duration
	last     bool
}

// owdTeller makes Results of windows, with what is known of those before. One goroutine has it.
type owdTeller struct {
	OWD
	like *measure.Result // that the others are made after; only read

	seam   passage.Seam
	came   []passage.Answer // to the packets of the window before
	heard  time.Time
	before []stat.Exchange // the last ones, counted from began
	began  time.Time
	told   bool // a window was
}

// mostBefore is how many exchanges of before tell of the clocks as well: those of a window as it is by default, and what a step at a seam takes.
const mostBefore = 600

// tellAll makes the Results of all windows that come. It returns that of the last; nil: none came.
func (t *owdTeller) tellAll(over <-chan overWindow) (last *measure.Result) {
	for w := range over {
		r := t.tell(&w)
		switch {
		case w.last:
			last = r
		case t.Finished != nil:
			t.Finished(r)
		}
	}
	return last
}

// tell makes the Result of a window.
func (t *owdTeller) tell(w *overWindow) *measure.Result {
	r := newResult("owd", t.Target)
	r.Source, r.Target, r.Parameters = t.like.Source, t.like.Target, maps.Clone(t.like.Parameters)
	r.Started, r.DurationSeconds = w.started.UTC(), w.lasted.Seconds()
	if !t.told {
		r.Notes = append(r.Notes, t.like.Notes...)
	}
	r.Notes = append(r.Notes, w.notes...)
	r.Clock = t.like.Clock
	if t.told && !w.last { // whoever waits for the last one is not to wait for a daemon that keeps the clock
		r.Clock = askedClock()
	}
	r.Clock.StepSeconds = w.stepped.Seconds()
	t.told = true

	run := owdRun{OWD: t.OWD, started: w.started, first: w.first, sent: w.sent}
	packets := run.known(r)
	ways := t.waysOf(w, len(packets))
	run.heard = t.heard
	r.TargetClock = farClock(packets)
	f := reducePackets(packets, ways, t.since(w.started), w.started.Round(0), claimed(r))
	run.fill(r, packets, &f)
	t.keep(&f, w.started)
	return r
}

// waysOf divides what became of a window's first packets by ways.
func (t *owdTeller) waysOf(w *overWindow, packets int) (ways passage.Ways) {
	all := append(t.came, w.arrivals...)
	if t.seam.Packet < w.first { // some of the window before were on their way when the measurement ended
		_, t.seam = t.seam.Of(w.first, all)
	}
	ways, t.seam = t.seam.Of(w.first+packets, all)
	t.came = nil
	for _, a := range w.arrivals {
		if a.Index < w.first+len(w.sent) {
			t.came = append(t.came, a)
		}
	}
	if len(w.arrivals) > 0 {
		t.heard = w.started
	}
	return ways
}

// since are the exchanges of before, counted from another time.
func (t *owdTeller) since(began time.Time) []stat.Exchange {
	by := began.Round(0).Sub(t.began.Round(0)).Seconds()
	all := slices.Clone(t.before)
	for i := range all {
		e := &all[i]
		e.Sent, e.Arrived, e.Answered, e.Received = e.Sent-by, e.Arrived-by, e.Answered-by, e.Received-by
	}
	return all
}

// keep keeps the last exchanges, from the last step of a clock on.
func (t *owdTeller) keep(f *owdFigures, began time.Time) {
	if !f.known {
		return
	}
	t.before, t.began = f.exchanges[max(0, len(f.exchanges)-mostBefore):], began
	if n := len(f.clocks.Steps); n > 0 {
		step := f.clocks.Steps[n-1]
		t.before = slices.DeleteFunc(t.before, func(e stat.Exchange) bool { return e.Sent < step.At })
	}
}
