package probe

import (
	"context"
	"strconv"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
)

// mostRounds of a Trace are an hour of one a second: a test of a mesh has an end that its plan can wait for.
const mostRounds = 3600

// roundsFields are the parameters of a Trace in rounds. The command line has flags of its own for them: see LiveTrace.
func roundsFields() []field[Trace] {
	return []field[Trace]{
		{Name: roundsName, Default: "none", Meaning: "in place of a trace so many rounds, each of a packet to each hop, by icmp where proto says nothing: loss, round trips and jitter of each hop, and from which on the path loses packets",
			binding: whole(func(t *Trace) *int { return &t.Rounds }, 1, mostRounds)},
		{Name: everyName, Default: "1s", Meaning: "with rounds: from one to the next",
			binding: span(func(t *Trace) *time.Duration { return &t.Every })},
	}
}

const (
	roundsName = "rounds"
	everyName  = "every"
)

// checkRounds says what does not go with Rounds.
func (t Trace) checkRounds() error {
	if t.Rounds == 0 {
		if t.Every != 0 {
			return &input.Error{Field: everyName, Value: t.Every.String(), Remedy: "give rounds as well, which it is between"}
		}
		return nil
	}
	for _, other := range []struct {
		name string
		on   bool
	}{{"multipath", t.Multipath}, {"both", t.Both}, {"mtu", t.MTU}, {"middlebox", t.Middlebox}, {"new-flow", t.NewFlow}, {"queries", t.Queries != 0}} {
		if other.on {
			return &input.Error{Field: roundsName, Value: strconv.Itoa(t.Rounds), Remedy: "leave away " + other.name + ", which is of a trace that is made once"}
		}
	}
	return (&LiveTrace{Trace: t}).Validate()
}

// doRounds is Do of a Trace that has Rounds.
func (t Trace) doRounds(ctx context.Context) (*measure.Result, error) {
	live := &LiveTrace{Trace: t}
	if t.Round == nil {
		return live.Do(ctx)
	}
	ended, quiet := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(quiet)
		live.tell(t.Round, ended)
	}()
	r, err := live.Do(ctx)
	close(ended)
	<-quiet
	return r, err
}

// tellEvery is how often it is looked whether a round is over: as often as people read a table that changes.
const tellEvery = 500 * time.Millisecond

// tell calls round with what came of all rounds so far, where another one has begun, until ended is closed.
func (l *LiveTrace) tell(round func(measure.RoundsSample), ended <-chan struct{}) {
	next := time.NewTicker(tellEvery)
	defer next.Stop()
	for told := 0; ; {
		select {
		case <-next.C:
			if s := l.State().Rounds; s.Rounds > told {
				told = s.Rounds
				round(s)
			}
		case <-ended:
			return
		}
	}
}

// roundsDemand reckons with a route on which no hop answers.
func (t *Trace) roundsDemand() measure.Demand {
	all := t.withDefaults()
	setDefault(&all.Every, liveEvery)
	each := 2 * wire(t.Target, t.Family, udpHeader+tracePayload) * float64(all.MaxTTL)
	return measure.Demand{DurationSeconds: float64(all.Rounds)*all.Every.Seconds() + 3*all.Timeout.Seconds(), // two for the length of the route, and one for the last answers
		Bytes: each * float64(all.Rounds), BitsPerSecond: 8 * each / 2 / all.Every.Seconds()}
}

// roundsBytes are those of the latest round trips of 15 hops, and of what rounds came to, in the archive.
const roundsBytes = 5000

// RoundsLine is the line for people of rounds so far.
func RoundsLine(s measure.RoundsSample) string {
	return "round " + strconv.Itoa(s.Rounds) + ": " + s.Loss.Verdict
}
