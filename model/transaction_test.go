package model

import (
	"testing"
	"time"
)

// A mail of nine turns takes nine round trips, pipelined four (RFC 2920); a copy of 400 kB in steps of 4 kB a hundred.
func TestTransactionTime(t *testing.T) {
	const ms = time.Millisecond
	tcp := SlowStart{MSS: 1000}
	for _, c := range []struct {
		name  string
		t     Transaction
		trips float64
		time  time.Duration
	}{
		{"one", Transaction{Request: 100, Answer: 100, RTT: 72 * ms}, 1, 72 * ms},
		{"mail", Transaction{Turns: 9, RTT: 40 * ms}, 9, 360 * ms},
		{"mail, pipelined", Transaction{Turns: 4, RTT: 40 * ms}, 4, 160 * ms},
		{"copy in steps", Transaction{Turns: 100, Request: 4096, RTT: 75 * ms}, 100, 7500 * ms},
		{"with its bytes", Transaction{Turns: 2, Request: 900, Answer: 100, RTT: 10 * ms, Rate: 1e6}, 2, 36 * ms},
		{"new", Transaction{New: true, Request: 100, RTT: 10 * ms}, 2, 20 * ms},
		{"new, within the first window", Transaction{New: true, Request: 10_000, Answer: 1, RTT: 10 * ms, SlowStart: tcp}, 2, 20 * ms},
		{"new, beyond it both ways", Transaction{New: true, Request: 10_001, Answer: 30_001, RTT: 10 * ms, SlowStart: tcp}, 5, 50 * ms},
		{"beyond it on one that stands", Transaction{Request: 10_001, RTT: 10 * ms, SlowStart: tcp}, 1, 10 * ms},
	} {
		if trips, took := c.t.Trips(), TransactionTime(c.t); trips != c.trips || took != c.time {
			t.Errorf("%s: %v round trips, %v; want %v, %v", c.name, trips, took, c.trips, c.time)
		}
	}
}
