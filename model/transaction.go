package model

import "time"

// A Transaction is what a program has of another over a network: turns, each of a request and its answer, of which the next begins
// when the one before has ended.
type Transaction struct {
	Turns           int     // 0: 1
	Request, Answer float64 // bytes of each turn
	RTT             time.Duration
	Rate            float64 // bit/s of TCP payload that the path carries; 0: no limit

	// New says that it opens a connection of its own: a round trip for the handshake, and slow start for what the first turn moves.
	New       bool
	SlowStart SlowStart // of New; an MSS of 0 leaves it out
}

// Trips returns how many round trips the transaction takes at the least.
//
//	new connection   SYN ->  <- SYN ACK              1
//	first turn       rounds of slow start            rounds of the request + rounds of the answer - 1
//	every other      request ->  <- answer           1
//
// Source: RFC 9293 section 3.5; RFC 6928 for the rounds.
func (t Transaction) Trips() float64 {
	trips := float64(max(1, t.Turns))
	if !t.New {
		return trips
	}
	trips++
	if t.SlowStart.MSS > 0 {
		for _, bytes := range []float64{t.Request, t.Answer} {
			if bytes > 0 {
				trips += t.SlowStart.ToDeliver(bytes, 0) - 1
			}
		}
	}
	return trips
}

// TransactionTime returns what the round trips of a transaction take, and its bytes. It leaves out what the programs take at both
// ends, losses, and acknowledgements that are waited for.
func TransactionTime(t Transaction) time.Duration {
	turns := float64(max(1, t.Turns))
	return TurnsTime(t.Trips(), t.RTT, turns*(t.Request+t.Answer), t.Rate)
}
