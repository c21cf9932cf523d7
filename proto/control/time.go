package control

import (
	"math"
	"math/bits"
	"time"
)

// Timestamp is a moment: seconds since 1900 in its upper half, 2^-32 seconds in its lower (RFC 5905). Those whose first bit is 0 are after
// 7 February 2036, when the seconds begin anew.
type Timestamp uint64

// sinceNTP is how many seconds Unix time began after the time of NTP.
const sinceNTP = 2_208_988_800

// TimestampOf is a moment, to the nanosecond. That of the zero time is 0, which stands for no moment.
func TimestampOf(t time.Time) Timestamp {
	if t.IsZero() {
		return 0
	}
	return Timestamp(uint64(uint32(t.Unix()+sinceNTP))<<32 | fraction(t.Nanosecond()))
}

// fraction is the least number of 2^-32 s that is not below some nanoseconds, so that they come back.
func fraction(nanoseconds int) uint64 { return (uint64(nanoseconds)<<32 + 1e9 - 1) / 1e9 }

// Time is the moment, between 1968 and 2104; the zero time for 0.
func (t Timestamp) Time() time.Time {
	if t == 0 {
		return time.Time{}
	}
	seconds := int64(t >> 32)
	if t>>63 == 0 {
		seconds += 1 << 32
	}
	return time.Unix(seconds-sinceNTP, nanoseconds(uint64(t)))
}

func nanoseconds(fraction uint64) int64 { return int64(uint64(uint32(fraction)) * 1e9 >> 32) }

// Interval is a time span, in 2^-32 seconds.
type Interval uint64

// IntervalOf is a time span, to the nanosecond; 0 for one below 0.
func IntervalOf(d time.Duration) Interval {
	if d <= 0 {
		return 0
	}
	return Interval(uint64(d/time.Second)<<32 | fraction(int(d%time.Second)))
}

// Duration is the time span. None is longer than a Duration can be: 2^32 s are 136 years.
func (i Interval) Duration() time.Duration {
	return time.Duration(i>>32)*time.Second + time.Duration(nanoseconds(uint64(i)))
}

// ErrorEstimate is what a time stamp is worth (RFC 4656, section 4.1.2).
//
//	 0                   1
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|S|Z|   Scale   |  Multiplier   |    error = Multiplier * 2^Scale * 2^-32 s
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// S says that the clock is synchronised by something outside, such as NTP: without it the error says nothing of the moment. Z is of STAMP
// and of TWAMP by RFC 8186: the time stamp has the format of PTP. Multiplier 0 is not allowed, and makes some receivers end the session.
type ErrorEstimate uint16

const (
	synchronised ErrorEstimate = 1 << 15
	ptpFormat    ErrorEstimate = 1 << 14
	mostScale                  = 63
)

// Unknown is the estimate of a clock of which nothing is known: not synchronised, and its error as large as can be said.
const Unknown ErrorEstimate = mostScale<<8 | 1

// EstimateOf is the least estimate that is not below a bound; that of a clock which is not synchronised is Unknown.
func EstimateOf(bound time.Duration, sync bool) ErrorEstimate {
	if !sync {
		return Unknown
	}
	units := max(1, uint64(IntervalOf(min(bound, math.MaxInt32*time.Second))))
	scale := max(0, bits.Len64(units)-8)
	if units>>scale<<scale != units { // rounded up, which may need one more bit
		units = units>>scale<<scale + 1<<scale
		scale = max(0, bits.Len64(units)-8)
	}
	return synchronised | ErrorEstimate(scale)<<8 | ErrorEstimate(units>>scale)
}

// Valid reports whether the estimate is one.
func (e ErrorEstimate) Valid() bool { return e&0xff != 0 }

// PTP reports whether the time stamp has the format of PTP.
func (e ErrorEstimate) PTP() bool { return e&ptpFormat != 0 }

// Bound is how far the time stamp may be from the true time. It is not known where the clock is not synchronised or the estimate is not
// valid, nor where it is beyond what a Duration can hold.
func (e ErrorEstimate) Bound() (bound time.Duration, known bool) {
	scale := int(e >> 8 & mostScale)
	if e&synchronised == 0 || !e.Valid() || scale > 55 {
		return 0, false
	}
	units := uint64(e&0xff) << scale
	return Interval(units).Duration() + 1, true // what was cut off is less than 1 ns
}
