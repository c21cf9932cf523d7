package probe

import (
	"cmp"
	"fmt"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/sock"
)

// A continuous measurement is one session that goes on, and a Result of each window of it. Schedule, numbers of packets, socket and what is known of the
// clocks go on from window to window; a window's packets are those that were due in it, so that none is between two of them.
//
//	            window 0            window 1
//	due        |1 2 3 4 5 6 7 8 9 |10 11 12 13 …
//	told                                  ^ timeout after the end of window 0: the fates of its packets are known
//
// What is kept is a window and the packets that are open.

const (
	owdEvery = time.Minute
	// owdLeastEvery is the shortest window: of some packets at the usual interval.
	owdLeastEvery = time.Second
	// owdMostEvery is the longest: a page and an archive have a value a day at least.
	owdMostEvery = 24 * time.Hour
)

// checkContinuous refuses what windows cannot be.
func (p OWD) checkContinuous() error {
	wrong := func(field, value, remedy string) error {
		return &input.Error{Field: field, Value: value, Remedy: remedy}
	}
	if !p.Continuous {
		switch {
		case p.Every != 0:
			return wrong("every", p.Every.String(), "it is of continuous measurements; give continuous as well, or leave it out")
		case p.Time != 0:
			return wrong("time", p.Time.String(), "it is of continuous measurements; give continuous as well, or count")
		}
		return nil
	}
	if p.Proto == protoOWAMP {
		return wrong("proto", p.Proto, "a server of owamp tells what it received only when a session is over; for continuous give stamp or twamp")
	}
	if err := cmp.Or(checkDuration("every", p.Every, owdLeastEvery, owdMostEvery), checkDuration("time", p.Time, 0, 100*365*24*time.Hour)); err != nil {
		return err
	}
	most := owdMaxCount * p.Interval
	switch {
	case p.Every < p.Interval:
		return wrong("every", p.Every.String(), fmt.Sprintf("give at least the interval, %v", p.Interval))
	case p.Every > most:
		return wrong("every", p.Every.String(), fmt.Sprintf("at this interval give at most %v", most))
	case !p.Poisson && p.Every%p.Interval != 0:
		return wrong("every", p.Every.String(), fmt.Sprintf("give a multiple of the interval, %v", p.Interval))
	}
	return nil
}

// windowPackets is how many packets are due in a window, of Poisson on the average.
func (p OWD) windowPackets() int { return int(p.Every / p.Interval) }

// owdWindow is one of a session.
type owdWindow struct {
	number  int           // from 0: it is from number times the length of windows on
	first   int           // packet
	started time.Time     // by both clocks of this host
	wall    sock.Wall     // from then on
	stepped time.Duration // by how much this host's clock was set in it
	notes   []string
}

// owdWindows are those that have begun and are not told yet, by time.
type owdWindows struct {
	every time.Duration
	begun []owdWindow
}

// begin notes that a packet is due at a time after the start of the session, and returns the window that begins with it; nil: it is of the last one.
func (w *owdWindows) begin(due time.Duration, packet int) *owdWindow {
	number := int(due / w.every)
	if n := len(w.begun); n > 0 && w.begun[n-1].number >= number {
		return nil
	}
	w.begun = append(w.begun, owdWindow{number: number, first: packet})
	return &w.begun[len(w.begun)-1]
}

// end is when the first window ended, and the packet after its last; ok is false while it goes on.
func (w *owdWindows) end() (at time.Duration, packet int, ok bool) {
	if len(w.begun) < 2 {
		return 0, 0, false
	}
	return time.Duration(w.begun[0].number+1) * w.every, w.begun[1].first, true
}

// take takes the first window out.
func (w *owdWindows) take() owdWindow {
	first := w.begun[0]
	w.begun = append(w.begun[:0], w.begun[1:]...)
	return first
}

// beginLead is how long after its start the first packet of a run leaves that follows another one without a gap: what a host takes to begin a run, to
// look a name up, and to ask a server for a session over a round trip of 100 ms.
const beginLead = 500 * time.Millisecond

// begins is when the first packet is due.
func (p OWD) begins() time.Time {
	now := time.Now()
	if !p.alone || p.Begin.IsZero() {
		return now
	}
	return now.Add(p.Begin.Add(beginLead).Round(0).Sub(now.Round(0))) // by the wall clock, which several runs agree on
}

// skip is how much of the schedule a run leaves out which begins late: what is missing at its beginning is no part of the one before.
func (r *owdRun) skip(late time.Duration) time.Duration {
	if !r.alone || r.Begin.IsZero() || late <= 0 {
		return 0
	}
	r.skipped = min(int((late+r.Interval-1)/r.Interval), r.Count)
	r.Count -= r.skipped
	return time.Duration(r.skipped) * r.Interval
}
