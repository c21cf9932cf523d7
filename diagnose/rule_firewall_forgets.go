package diagnose

import (
	"math"

	"github.com/pathwise-net/pathwise/measure"
)

// Of a connection that is silent for a while.
const (
	IdleTime    Name = "idle_time"
	IdleDied    Name = "died_idle"
	ControlLost Name = "lost_silent_connection"
)

// firewallForgets: a connection dies while it is silent, though the path goes on: a transaction after a pause is not answered, and the
// next, on a new connection, is at once. Something that keeps a table of connections has forgotten it.
var firewallForgets = Rule{
	ID:    "firewall-forgets",
	Of:    OfExchange,
	Needs: []Name{Exchanges, ExchangesFailed, IdleTime, IdleDied},
	Reads: []Name{ControlLost},
	Brings: []definition{
		{Name: IdleTime, Metric: "interval_seconds", Unit: "s", Means: "pause between two requests on one connection"},
		{Name: IdleDied, Metric: "transactions_failed_count", Unit: "transactions", Step: afterPause,
			Means: "after {idle_time} of silence a request was not answered, and the next one, on a new connection, was"},
		{Name: ControlLost, Metric: "transfer_seconds", Unit: "s",
			Means: "a connection that was silent meanwhile was lost, and the transfer, or the transactions, were not"},
	},
	Apart:   map[string]Name{"outage": IdleDied},
	Suspect: func(s *Subject) bool { return s.Value(ControlLost) > 0 },
	Look: func(s *Subject) *Claim {
		if !s.Is(IdleDied) || s.Value(ExchangesFailed) > 0 {
			return nil
		}
		return &Claim{
			Where: OnPath, Confidence: 0.9,
			Evidence: []Name{IdleDied, IdleTime, Exchanges, ControlLost},
			Advice:   []string{"between", "alive"}, Unpredicted: true,
			Words: map[string]string{"keep": format(max(1, math.Floor(s.Value(IdleTime)/2)), "")},
		}
	},
}

const (
	// idleLeast is the interval in seconds from which on transactions are there to see whether an idle connection lives: no other step
	// pauses for as long.
	idleLeast = 1.0
	// idleMost bounds the pause, in seconds: people wait for it twice, within a diagnosis of a minute.
	idleMost     = 10.0
	idlePatience = 2.0 // seconds for each transaction: a lost packet is sent again three times in it
)

// afterPause makes transactions with a pause as long as that in which a connection was lost, and three of them: one before a pause, one
// behind it, and one that shows whether a new connection is answered.
func afterPause(s *Subject) (Step, bool) {
	pause := min(idleMost, math.Ceil(max(idleLeast, s.Value(ControlLost))))
	step := exchange("idle", "whether a connection lives that is silent for a while", ownPattern,
		map[string]any{"count": 3, "interval": pause, "timeout": idlePatience})
	step.Seconds = 2*pause + idlePatience
	return step, true
}

// readIdle takes whether a connection died in a pause. The first transaction has to come to its end, and after one that did not another.
func readIdle(s *Subject, r *measure.Result) {
	all := r.Samples.Transactions
	if len(all) < 3 || all[0].Seconds == nil {
		return
	}
	died := false
	for i := 1; i+1 < len(all); i++ {
		died = died || all[i].Seconds == nil && all[i+1].Seconds != nil && all[i-1].Seconds != nil
	}
	pause, _ := r.Number("interval")
	s.setPositive(IdleTime, pause, r)
	s.set(IdleDied, yes(died, r))
}

// lostSilent returns the time of a transfer whose data came through to its end, while the connection that the two ends talk over, which
// is silent meanwhile, was lost; 0 of any other.
func lostSilent(s *Subject, r *measure.Result) float64 {
	all := samples(s, r, measure.Sender)
	lasts, told := r.Number("duration")
	if r.Status != measure.StatusPartial || !told || len(all) < 2 {
		return 0
	}
	last := all[len(all)-1]
	if done := untilDone(all); len(done) < len(all) { // it ended before it was to, having said enough, and was watched on
		return done[len(done)-1].ElapsedSeconds
	}
	for _, one := range all {
		if half := lasts / 2; one.ElapsedSeconds >= half && last.ElapsedSeconds >= lasts &&
			last.Values["bytes_acked"] > one.Values["bytes_acked"] {
			return lasts
		}
	}
	return 0
}

// lostAccount returns the time in seconds that transactions took which all came to their end, while the connection that the two ends talk over, which is
// silent meanwhile, was lost with the far end's account of them; 0 of any others.
func lostAccount(r *measure.Result) (lasted float64) {
	_, account := r.Get(measure.AnswerTime)
	only, _ := r.Parameters["connect"].(bool)
	if account || only || r.Metrics[measure.TransactionsDone] == 0 || r.Metrics[measure.TransactionsFailed] > 0 {
		return 0
	}
	for _, t := range r.Samples.Transactions {
		if t.Seconds != nil {
			lasted = max(lasted, t.StartSeconds+*t.Seconds)
		}
	}
	return lasted
}
