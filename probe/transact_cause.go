package probe

import (
	"fmt"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

// told is what a test of transactions says of where their time went. Times are in seconds.
type told struct {
	Writes, Turns     int
	Request, Response float64 // bytes of a turn
	Rate              float64 // bit/s that the path carries; 0: not known
	NoDelay, Pad      bool
	New, Connect      bool
	QuickAck          string

	Usual, Ideal, Latest float64
	Opening              float64 // the least that a connection took to open
	Gather               float64 // that the far end waited for the rest of a request, on the average
	Resent               float64 // packets
}

func toldOf(r *measure.Result) told {
	of := func(name string) float64 { v, _ := r.Number(name); return v }
	is := func(name string) bool { v, _ := r.Parameters[name].(bool); return v }
	m := r.Metrics
	quick, _ := r.Parameters["quickack"].(string)
	return told{Writes: int(of("writes")), Turns: int(of("turns")), Request: of("request"), Response: of("response"), Rate: of("rate"),
		NoDelay: is("nodelay"), Pad: is("pad"), New: is("new"), Connect: is("connect"), QuickAck: quick,
		Usual: m[measure.TransactionMedian], Ideal: m[measure.TransactionIdeal], Latest: m[measure.TransactionMax],
		Opening: m[measure.ConnectMin], Gather: m[measure.RequestGather], Resent: m[measure.Retransmits]}
}

const (
	// timerLeast is what a retransmission timer adds to a transaction at the least, in seconds: 200 ms on Linux, less what the usual
	// transaction was itself late by.
	timerLeast = 0.19
	// usualMSS is what a segment carries over Ethernet, in bytes: 1,500 less the headers of IPv4 and TCP with its timestamps.
	usualMSS = 1448
)

// explain says in sentences where the time of the usual transaction went, what its turns cost, and what made the longest late. It says
// nothing where no transaction came to its end.
func (t told) explain() []string {
	if t.Usual <= 0 || t.Ideal <= 0 {
		return nil
	}
	sentences := []string{t.cause()}
	if t.Turns > 1 {
		sentences = append(sentences, t.costOfTurns())
	}
	if late := t.Latest - t.Usual; t.Resent > 0 && late >= timerLeast {
		sentences = append(sentences, fmt.Sprintf("the longest waited %s more: a packet was lost, which a timer of 200 ms and more had to find",
			quantity.FormatSeconds(late)))
	}
	return sentences
}

// trip is the round trip.
func (t told) trip() float64 {
	if t.New || t.Connect {
		return t.Opening
	}
	bytes := 0.
	if t.Rate > 0 {
		bytes = float64(t.Turns) * (t.Request + t.Response) * 8 / t.Rate
	}
	return (t.Ideal - bytes) / float64(max(1, t.Turns))
}

// cause names what the usual transaction waited for.
//
//	writer     | piece 1 |---------------------->           gather: from here
//	             Nagle keeps piece 2      delayed ACK
//	           | ACK     |<----------------------
//	           | piece 2 |---------------------->           to here: a round trip and the delay of the acknowledgement
//	           | answer  |<----------------------
func (t told) cause() string {
	excess := (t.Usual - t.Ideal) / float64(max(1, t.Turns))
	trip := t.trip()
	matters := max(noticed, trip/4)
	switch {
	case t.Connect || excess < matters:
		return t.unheld()
	case t.Writes > 1 && !t.NoDelay && t.Gather >= matters:
		return fmt.Sprintf("cause: Nagle's algorithm held the second write for an acknowledgement%s: a round trip of %s, %s; "+
			"one write or --nodelay saves that",
			t.eachTurn(), quantity.FormatSeconds(trip), delayed(excess-trip))
	case t.Request+t.Response > model.InitialWindow*usualMSS:
		return fmt.Sprintf("cause: %s are more than TCP sends at first, and each round of slow start is a round trip",
			quantity.FormatSize(int64(t.Request+t.Response)))
	}
	return "cause: not the way requests are written: queues or busy hosts, which `pathwise diagnose` tells apart"
}

// unheld is the sentence of a usual transaction that nothing held on its way: it takes what the path and the hosts take.
func (t told) unheld() string {
	sentence := "cause: round trips alone; a nearer far end or fewer turns make it shorter"
	if t.Usual-t.Ideal > t.Ideal {
		sentence = "cause: the hosts, whose kernels and programs take longer than the path; a nearer far end changes little"
	}
	switch {
	case t.Connect:
		if t.Usual-t.Ideal < max(noticed, t.Ideal/4) {
			return sentence + "; " + t.oneByOne("")
		}
		return t.oneByOne("")
	case t.Writes > 1 && t.NoDelay:
		return sentence + "; the writes left at once, without Nagle's algorithm"
	case t.Writes > 1 && t.Pad:
		return sentence + "; each write fills whole segments, which Nagle's algorithm lets go"
	}
	if t.New {
		sentence += "; " + t.oneByOne("connections ")
	}
	return sentence
}

// oneByOne says how many come in a second, to three digits, or to the whole number.
func (t told) oneByOne(things string) string {
	rate := 1 / t.Usual
	if rate >= 1000 {
		return fmt.Sprintf("one after the other: %.0f %sa second", rate, things)
	}
	return fmt.Sprintf("one after the other: %.3g %sa second", rate, things)
}

func (t told) eachTurn() string {
	if t.Turns > 1 {
		return " in each turn"
	}
	return ""
}

// ackDelayed is the time in seconds from which an acknowledgement counts as delayed: a tenth of 40 ms, the least that Linux delays one by
// (TCP_DELACK_MIN). Less is what the hosts took.
const ackDelayed = 0.004

// delayed says by how much an acknowledgement was late.
func delayed(seconds float64) string {
	if seconds < ackDelayed {
		return "not delayed"
	}
	return "delayed by " + quantity.FormatSeconds(seconds)
}

// costOfTurns compares turns with one in which all requests, and all answers, are written at once on a connection that has not sent much.
func (t told) costOfTurns() string {
	trip, turns := t.trip(), float64(t.Turns)
	start := model.SlowStart{MSS: usualMSS}
	rounds := start.ToDeliver(turns*t.Request, 0) + start.ToDeliver(turns*t.Response, 0) - 1
	once := model.TurnsTime(rounds, time.Duration(trip*float64(time.Second)), turns*(t.Request+t.Response), t.Rate).Seconds()
	return fmt.Sprintf("cost of turns: %d at a round trip of %s are %s; all in one turn takes about %s, %s with slow start", t.Turns,
		quantity.FormatSeconds(trip), quantity.FormatSeconds(turns*trip), quantity.FormatSeconds(once), quantity.FormatCount(int(rounds), "round trip"))
}
