package diagnose

import (
	"fmt"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

// aim is what the parts of a path are held against.
type aim struct {
	way    measure.Way
	whole  stretch
	trip   float64 // seconds, of the whole
	evenly float64 // bit/s, of packets that are sent evenly to count losses; 0: nothing is known of the path
	needed float64 // bit/s: what the whole must be able to reach through a part
	run    float64 // packets from loss to loss that are tested for
	slow   bool    // the whole does not reach what it should
	hosts  string  // which host holds the whole, by its diagnosis; "": the path does
}

const (
	// twice is how many times as fast the whole could be through a part that passes: a limit that allows more than that is not the cause.
	twice = mostAllowed
	// losesMore is how many times the losses of a run length that passes one that fails for certain has: see model.RunLengthTest.
	losesMore = 4.0
	// unlikely is the share of what the link carries below which a transfer that loses packets is not well: one that is keeps fullShare of it.
	unlikely = 0.5
	// evenPart is the share of the path that packets to count losses take: what others leave of it mostly, and no queue fills.
	evenPart = 0.5
)

// aimAt says what parts are held against: a rate and a round trip that are named, or what the diagnosis of the whole says.
func aimAt(d *Diagnosis, t *Target) aim {
	a := aim{way: measure.Way(measure.Forward)}
	if f := d.First(); f != nil && f.Way != "" {
		a.way = f.Way
		if !strings.HasPrefix(f.Where, "path") {
			a.hosts = f.ID + " (" + f.Where + ")"
		}
	}
	s := gather(d.Results).ways[string(a.way)]
	a.evenly = float64(int64(min(evenPart*max(s.Value(Capacity), s.Value(Steady)), halfFastest)))
	a.whole = readStretch(a.way, a.evenly, d.Results)
	a.trip = a.whole.trip
	w := &a.whole
	if t != nil {
		if a.trip = max(a.trip, t.RTT.Seconds()); a.trip > 0 {
			a.run = model.TargetRunLength(t.Rate, seconds(a.trip), w.mss)
		}
		a.needed, a.slow = t.Rate, w.most() < t.Rate
		a.run = max(a.run, leastRun)
		return a
	}
	a.slow, a.needed = !w.full(), twice*w.rate
	if w.carries > 0 {
		a.needed = min(a.needed, fullShare*w.carries)
	}
	if w.rate > 0 && a.trip > 0 {
		a.run = losesMore * model.LossBudget(w.rate, seconds(a.trip), w.mss, model.CIndependent).RunLengthPackets
	}
	if w.lost >= enoughLosses { // then the question is whether a part loses as much as the whole
		a.run = max(a.run, losesMore*w.sent/w.lost)
	}
	a.run = max(a.run, leastRun)
	return a
}

// judged is what can be said of a part.
type judged struct {
	outcome Outcome
	limit   Limit
	could   *Estimate // the whole, through the part; nil: not told
	means   string
}

// losses says whether a part loses so often that the whole reaches no more than it does.
func (a *aim) losses(s *stretch) Outcome {
	if s.sent == 0 {
		return Untold
	}
	switch model.NewRunLengthTest(a.run).Judge(s.sent, s.lost) {
	case model.Passes:
		return Passes
	case model.Fails:
		return Fails
	}
	return Untold
}

// judge says whether a part, or a prefix of the path, would let the whole reach what it must.
func (a *aim) judge(s *stretch) judged {
	switch {
	case s.stuck:
		return judged{Fails, LimitStuck, &Estimate{}, "a connection opened, and nothing came through on it"}
	case !s.moved:
		return judged{outcome: Untold, means: "no transfer was measured over it"}
	case !a.whole.moved && !a.whole.stuck:
		return judged{outcome: Untold, means: "no transfer was measured over the whole"}
	case a.whole.stuck:
		return judged{Passes, "", nil, "data came through"}
	case !a.slow:
		return judged{Passes, LimitRate, a.through(s), "the whole reaches what it must through it"}
	}
	could := a.through(s)
	if a.losses(s) == Fails {
		return a.lossy(s, could)
	}
	if why := a.limited(s); why != nil {
		return *why
	}
	switch {
	case s.most() < a.needed:
		return judged{outcome: Untold, means: s.held + " held the transfer at " + quantity.FormatRate(s.rate)}
	case a.losses(s) == Untold && a.losses(&a.whole) != Passes:
		return judged{Untold, LimitLoss, could, a.counted(s) + ", which does not tell"}
	}
	return judged{Passes, LimitRate, could, "the whole could reach " + quantity.FormatRate(could.Value)}
}

// through is what the whole could reach through a part by its rate and its losses. It is no less than what it does reach.
func (a *aim) through(s *stretch) *Estimate {
	most := s.most()
	e := &Estimate{most, most, most}
	if loss := s.loss(); loss != nil && a.trip > 0 {
		e = byLossOf(loss, a.whole.mss, a.trip, most)
	}
	return &Estimate{max(e.Value, a.whole.rate), max(e.Low, a.whole.rate), max(e.High, a.whole.rate)}
}

// counted says what was lost of packets that were sent evenly.
func (a *aim) counted(s *stretch) string {
	return fmt.Sprintf("%.0f of %.0f packets were lost at %s", s.lost, s.sent, quantity.FormatRate(a.evenly))
}

// lossy is a part whose losses keep the whole where it is. Where they would let it reach less than a third of what it does, they come
// only at the rate at which they were counted, as behind a limit that drops what is above it.
func (a *aim) lossy(s *stretch, could *Estimate) judged {
	formula := byLossOf(s.loss(), a.whole.mss, a.trip, s.most())
	if formula.High < a.whole.rate/3 && s.rate < a.needed {
		return judged{Fails, LimitRate, &Estimate{max(s.rate, a.whole.rate), a.whole.rate, max(s.rate, a.whole.rate)},
			a.counted(s) + ", and a transfer reached " + quantity.FormatRate(s.rate)}
	}
	return judged{Fails, LimitLoss, could, fmt.Sprintf("%s, which leave %s over a round trip of %s", a.counted(s),
		quantity.FormatRate(formula.Value), quantity.FormatSeconds(a.trip))}
}

// limited says what else than losses of even packets keeps the whole where it is; nil: nothing that was measured.
func (a *aim) limited(s *stretch) *judged {
	over := quantity.FormatSeconds(a.trip)
	share := 0.0
	if s.segments > 0 {
		share = s.resent / s.segments
	}
	switch queue := a.byQueue(s); {
	case s.held == "" && s.most() < a.needed:
		reached := max(s.most(), a.whole.rate)
		means := fmt.Sprintf("a transfer reached no more than %s", quantity.FormatRate(s.most()))
		if share >= collides && a.losses(s) == Passes {
			means += fmt.Sprintf(", and sent %s of its packets again, where packets that go one way alone pass", inText(share, "ratio"))
		}
		return &judged{Fails, LimitRate, &Estimate{reached, reached, reached}, means}
	case s.rate < unlikely*s.carries && s.resent >= enoughLosses && a.losses(s) == Passes:
		formula := byLossOf(&Estimate{share, share, share}, a.whole.mss, a.trip, s.most())
		if formula.Value >= a.needed {
			return nil
		}
		could := &Estimate{max(formula.Value, a.whole.rate), a.whole.rate, max(formula.High, a.whole.rate)}
		return &judged{Fails, LimitCollisions, could, fmt.Sprintf("a transfer sent %s of its packets again, which over %s leave %s, where "+
			"packets that go one way alone pass", inText(share, "ratio"), over, quantity.FormatRate(formula.Value))}
	case queue > 0 && queue < a.needed && a.byQueue(&a.whole) < a.needed && a.losses(&a.whole) != Fails:
		reached := max(queue, a.whole.rate)
		return &judged{Fails, LimitQueue, &Estimate{reached, a.whole.rate, reached}, fmt.Sprintf("its queue overflowed with %s in it: a window "+
			"that grows over %s overflows it at %s", quantity.FormatSize(int64(s.queue)), over, quantity.FormatRate(queue))}
	}
	return nil
}

// byQueue is the rate at which a window that doubles each round trip of the whole overflows the queue of a part, half of it being there at
// once (RFC 8337 section 8.2.1); 0: no queue overflowed.
func (a *aim) byQueue(s *stretch) float64 {
	if a.trip == 0 {
		return 0
	}
	return model.WindowLimit(2*s.queue, seconds(a.trip))
}
