package probe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/quantity"
)

// Ways to search.
const (
	SearchTrials  = "trials"  // for the highest rate of which no more than 1 % is lost, by one test after another
	SearchRFC9097 = "rfc9097" // for the maximum IP-layer capacity, within one test
)

// checkSearch refuses a search of what has no rate to search for.
func (p *Throughput) checkSearch() error {
	c := &p.Config
	switch {
	case p.Search != "" && p.Search != SearchTrials && p.Search != SearchRFC9097:
		return &input.Error{Field: "search", Value: p.Search, Remedy: "give " + oneOf([]string{SearchTrials, SearchRFC9097})}
	case p.Search != "" && (c.Proto == iperf3.TCP || c.Bidir || c.Bytes > 0 || c.Blocks > 0):
		return &input.Error{Field: "search", Value: p.Search, Remedy: "it is of udp in one direction, for a time: leave out proto, bytes, blocks and bidir"}
	}
	return nil
}

// searchField is the parameter of a search. Older mesh files have true for trials.
func searchField() field[Throughput] {
	b := word(func(p *Throughput) *string { return &p.Search }, SearchTrials, SearchRFC9097)
	set := b.set
	b.set = func(p *Throughput, v any) string {
		switch fmt.Sprint(v) { // a mesh file's is of yes or no
		case "true":
			v = SearchTrials
		case "false":
			p.Search = ""
			return ""
		}
		return set(p, v)
	}
	return field[Throughput]{Name: "search", Default: "none", Alone: SearchTrials, binding: b,
		Meaning: "of udp: trials finds the highest rate of which no more than 1 % is lost, from rate on (10mbit unless said), by tests of a second or of the duration; " +
			"rfc9097 the maximum IP-layer capacity within one test, to a Pathwise responder"}
}

// What a search tries, and when a rate passes.
const (
	searchStart = 10_000_000 // bit/s; a path that carries less is found by halving
	searchLeast = 64_000     // bit/s: below it no search goes
	searchClose = 1.05       // a rate that failed, over one that passed: then the search is over
	searchMost  = 40         // trials: sixteen doublings, five halvings of the gap, and each that failed or was sent too slowly twice
	searchTrial = time.Second

	// searchLoss is the loss ratio that passes: the PERT guide to best practice raises the rate until loss passes 1 %.
	searchLoss = 0.01
	// searchSure is the loss ratio from which a failure is believed at once; one below it is tried again, as RFC 9097 section 8 wants congestion confirmed.
	searchSure = 0.1
	// searchDelay is in seconds how much delay may vary: the upper threshold of RFC 9097 section 8.1. A long queue loses nothing for the length of a trial.
	searchDelay = 0.09
	// searchSent is the share of the rate asked for below which a sender sends as much as it can.
	searchSent = 0.9
	// searchArrived is the share of the rate sent below which the path carries less: the rest waits in a queue.
	searchArrived = 0.97
)

// rateSearch finds the highest rate that passes: it doubles the rate until one fails, then halves the gap between the two.
//
//	passed  |--------o-----o--o|      |
//	failed  |                  |x  x  x            done when the two are close
type rateSearch struct {
	start          int64
	passed, failed int64 // bit/s: the highest that did, the lowest that did not; 0: none
}

// next is the rate to try in bit/s; 0: the search is over.
func (s *rateSearch) next() int64 {
	switch {
	case s.passed == 0 && s.failed == 0:
		return s.start
	case s.failed == 0:
		return 2 * s.passed
	case s.passed == 0 && s.failed/2 >= searchLeast:
		return s.failed / 2
	case s.passed == 0 || float64(s.failed) <= searchClose*float64(s.passed):
		return 0
	}
	return int64(math.Sqrt(float64(s.passed) * float64(s.failed)))
}

func (s *rateSearch) take(rate int64, passed bool) {
	if passed {
		s.passed = max(s.passed, rate)
	} else if s.failed == 0 || rate < s.failed {
		s.failed = rate
	}
}

// judgeTrial says why a trial at a rate did not pass; "": it did.
func judgeTrial(r *measure.Result, way string) string {
	m := r.Metrics
	if loss := m[measure.LossRatio]; loss > searchLoss {
		if m[measure.ReceiverDropped]+m[measure.SenderDropped] > 0.9*m[measure.LostPackets] {
			return "a host lost " + quantity.FormatRatio(loss)
		}
		return quantity.FormatRatio(loss) + " lost"
	}
	if arrived := m[measure.Throughput]; arrived < searchArrived*m[measure.SentRate]*(1-searchLoss) {
		return quantity.FormatRate(arrived) + " came of " + quantity.FormatRate(m[measure.SentRate])
	}
	if vary := m[measure.PDVP95(way)]; vary > searchDelay {
		return "delay varied by " + quantity.FormatSeconds(vary)
	}
	return ""
}

// ErrNothingPassed means that a search found no rate that passes.
var ErrNothingPassed = errors.New("no rate passed")

// search makes trials at rates that a rateSearch asks for, and returns the Result of the best one that passed, with all of them in its samples.
func (p *Throughput) search(ctx context.Context) (*measure.Result, error) {
	config := p.Config
	setDefault(&config.Duration, searchTrial)
	config.Proto, config.Interval = iperf3.UDP, -1
	way := measure.Forward
	if config.Reverse {
		way = measure.Reverse
	}
	s := rateSearch{start: config.Rate}
	setDefault(&s.start, searchStart)
	var best, last *measure.Result
	var trials []measure.Trial
	ended := ""
	began := time.Now()
	again := false // the trial is the second one at a rate, as the first failed or the sender was kept from sending
	for rate := s.next(); rate > 0 && len(trials) < searchMost && ended == ""; {
		one := *p
		one.Search, one.OnInterval, one.alone = "", nil, true
		one.Config = config
		one.Config.Rate = rate
		r, err := one.Do(ctx)
		var refused *iperf3.PeerError
		if errors.As(err, &refused) && best != nil {
			ended = "the target refuses " + quantity.FormatRate(float64(rate)) + ": " + refused.Error()
			break
		}
		if last = r; err != nil {
			return p.found(best, last, trials, began), err
		}
		t := trialOf(r, rate, judgeTrial(r, way))
		trials = append(trials, t)
		if p.OnTrial != nil {
			p.OnTrial(t)
		}
		streams := float64(max(1, config.Parallel))
		short := t.SentBitsPerSecond < searchSent*float64(rate)*streams // of what was to be sent
		if !again && (short || t.Failure != "" && t.LossRatio < searchSure) {
			again = true
			continue
		}
		again = false
		if t.Failure != "" {
			s.take(rate, false)
		} else {
			if sent := min(rate, int64(t.SentBitsPerSecond/streams)); best == nil || sent > s.passed {
				best = r
				s.take(sent, true)
			}
			if short {
				ended = "the sender sends no more than " + quantity.FormatRate(t.SentBitsPerSecond)
			}
		}
		rate = s.next()
	}
	r := p.found(best, last, trials, began)
	if ended != "" {
		r.Note("the search ended below what the path may carry: " + ended)
	}
	if best == nil {
		err := fmt.Errorf("%w: of %s and less, %s", ErrNothingPassed, quantity.FormatRate(float64(s.start)), trials[len(trials)-1].Failure)
		r.Fail(err)
		return r, err
	}
	return r, nil
}

// found is the Result of a search: of its best trial, or of its last one where none passed.
func (p *Throughput) found(best, last *measure.Result, trials []measure.Trial, began time.Time) *measure.Result {
	r := best
	if r == nil {
		r = last
	}
	r.Started, r.DurationSeconds = began.UTC(), time.Since(began).Seconds()
	r.Parameters["search"] = SearchTrials
	r.Samples.Trials = trials
	return r
}

func trialOf(r *measure.Result, rate int64, failure string) measure.Trial {
	m := r.Metrics
	return measure.Trial{BitsPerSecond: float64(rate), SentBitsPerSecond: m[measure.SentRate], ReceivedBitsPerSecond: m[measure.Throughput], LossRatio: m[measure.LossRatio],
		Failure: failure}
}

// TrialLine is a trial as it is told on the way.
func TrialLine(t measure.Trial) string {
	outcome := "passed, " + quantity.FormatRatio(t.LossRatio) + " lost"
	if t.Failure != "" {
		outcome = "failed: " + t.Failure
	}
	return fmt.Sprintf("tried %12s  came %12s  %s", quantity.FormatRate(t.BitsPerSecond), quantity.FormatRate(t.ReceivedBitsPerSecond), outcome)
}

// searchSummary says between which rates the limit is.
func searchSummary(trials []measure.Trial) string {
	passed, failed, why := 0., 0., ""
	for _, t := range trials {
		if t.Failure == "" {
			passed = max(passed, t.ReceivedBitsPerSecond)
		}
	}
	for _, t := range trials {
		if t.Failure != "" && (failed == 0 || t.BitsPerSecond < failed) {
			failed, why = t.BitsPerSecond, t.Failure
		}
	}
	switch {
	case passed == 0:
		return "none passed"
	case failed == 0:
		return quantity.FormatRate(passed) + " passed, and none failed"
	}
	return fmt.Sprintf("%s passed; at %s %s", quantity.FormatRate(passed), quantity.FormatRate(failed), why)
}
