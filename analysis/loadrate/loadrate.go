// Package loadrate finds the maximum IP-layer capacity of a path while one test runs, as RFC 9097 section 8.1 adjusts the rate that is offered: a sender
// takes its rates from a table, and goes up or down in it with each report of the receiver. It is pure: it knows of no socket, no clock and no protocol.
// It does not say what the capacity is: that is the most that the receiver got in one of its sub-intervals.
//
//	                     sequence errors <= 10          sequence errors <= 10        sequence errors > 10
//	                     and delay < 30 ms              and delay 30 to 90 ms        or delay > 90 ms
//	congestion not       10 rows up, and what was       stay                         third report of these: 30 rows down, and
//	confirmed, < 1 Gb/s  counted is forgotten                                        congestion is confirmed; else one row down
//	else                 one row up                     stay                         one row down
package loadrate

import (
	"math"
	"time"
)

// The defaults of RFC 9097, section 8.1 with its Table 1 and the pseudocode of appendix A.
const (
	FeedbackTime = 50 * time.Millisecond // between two reports of the receiver
	// SilenceTime is how long a sender goes on without a report, and a receiver without a packet.
	SilenceTime    = time.Second
	SubInterval    = time.Second           // over which the rate at the receiver is taken
	LowDelay       = 30 * time.Millisecond // of the delay above its least: below it the rate goes up
	HighDelay      = 90 * time.Millisecond // above it the rate goes down
	SequenceErrors = 10                    // more of them in a report are congestion
	FastRows       = 10                    // up in the table while congestion was not confirmed
	BackRows       = 3 * FastRows          // down when it is, as the rate had gone up fast
	// ConfirmReports is how many reports of congestion confirm it, as long as no report below the low threshold comes between.
	ConfirmReports = 3
)

// The table of rates in bit/s of IP packets:
//
//	row    0     1 …  1000      1001 …  1090
//	rate   0.5   1 …  1000 M    1.1  …  10 G
const (
	Least    = 500_000        // bit/s: the first row
	Most     = 10_000_000_000 // bit/s: the last one
	step     = 1_000_000      // from row 1 to highRow
	highStep = 100_000_000
	highRow  = 1000 // from this row on, 1 Gbit/s, the rate goes up by one row at a time in any case
)

// rate is what a row of the table of sending rates offers, in bit/s.
func rate(row int) int64 {
	switch {
	case row <= 0:
		return Least
	case row <= highRow:
		return int64(row) * step
	}
	return highRow*step + int64(row-highRow)*highStep
}

// rowOf is the highest row whose rate is at most so many bit/s, or the first.
func rowOf(bitsPerSecond int64) int {
	bitsPerSecond = min(bitsPerSecond, Most)
	if high := bitsPerSecond - highRow*step; high > 0 {
		return highRow + int(high/highStep)
	}
	return int(bitsPerSecond / step)
}

// Report is what the receiver tells of the time since the one before.
type Report struct {
	Packets int64         // that came
	Errors  int64         // of their sequence numbers: lost, out of order, or there twice
	Delay   time.Duration // how far the mean delay was above the least of the whole test
}

// Search is the state of a search. The zero value is none: see New.
type Search struct {
	row, last int
	congested int // reports of congestion since the last one that was clear of it; once they confirm it, none is forgotten
}

// New begins a search at the row of a rate in bit/s, and keeps it at or below another. Zero: the first and the last row.
func New(start, most int64) *Search {
	s := &Search{last: rowOf(Most)}
	if most > 0 {
		s.last = rowOf(most)
	}
	s.row = min(rowOf(start), s.last)
	return s
}

// Rate is the rate to send at now, in bit/s of IP packets.
func (s *Search) Rate() int64 { return rate(s.row) }

// Confirmed reports whether congestion was confirmed.
func (s *Search) Confirmed() bool { return s.congested >= ConfirmReports }

// Take adjusts the rate to what a report says. A report of no packets at all says nothing of delay, and changes nothing.
func (s *Search) Take(r Report) {
	if r.Packets <= 0 && r.Errors <= 0 {
		return
	}
	switch {
	case r.Errors > SequenceErrors || r.Delay > HighDelay:
		s.down()
	case r.Delay < LowDelay:
		s.up()
	}
}

func (s *Search) up() {
	if s.row < highRow && !s.Confirmed() {
		s.row, s.congested = min(s.row+FastRows, highRow, s.last), 0
		return
	}
	s.row = min(s.row+1, s.last)
}

func (s *Search) down() {
	s.congested = min(s.congested+1, math.MaxInt-1)
	if s.row < highRow && s.congested == ConfirmReports {
		s.row = max(s.row-BackRows, 0)
		return
	}
	s.row = max(s.row-1, 0)
}
