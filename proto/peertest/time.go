package peertest

import "time"

// Timestamp is a point in time as RFC 4656 section 4.1.2 has it: seconds since 1900 in the upper 32 bits, fractions in the lower.
// The same format without the epoch holds intervals: timeouts and parameters of slots.
type Timestamp uint64

// secondsTo1970 are those between the epoch of NTP and that of Unix.
const secondsTo1970 = 2208988800

// Stamp is a time as a Timestamp.
func Stamp(t time.Time) Timestamp {
	return Timestamp(uint64(t.Unix()+secondsTo1970)<<32 | uint64(t.Nanosecond())<<32/1e9)
}

// Interval is a length of time as a Timestamp.
func Interval(d time.Duration) Timestamp {
	return Timestamp(uint64(d/time.Second)<<32 | uint64(d%time.Second)<<32/1e9)
}

// Time is the point in time.
func (t Timestamp) Time() time.Time {
	return time.Unix(int64(t>>32)-secondsTo1970, int64((uint64(t)&0xffffffff)*1e9>>32))
}

// Duration is the length of time.
func (t Timestamp) Duration() time.Duration {
	return time.Duration(t>>32)*time.Second + time.Duration((uint64(t)&0xffffffff)*1e9>>32)
}

// ErrorEstimate is the field of 16 bits beside a time stamp (RFC 4656 section 4.1.2):
//
//	|S|Z|   Scale   |  Multiplier   |   the error is Multiplier * 2^(Scale-32) seconds
type ErrorEstimate uint16

// someError is what the peers say of their own clock: not synchronized, an error of 2^-7 seconds.
const someError ErrorEstimate = 25<<8 | 1

// Synchronized reports the S bit.
func (e ErrorEstimate) Synchronized() bool { return e&0x8000 != 0 }

// check reports an estimate that the RFC forbids.
func (e ErrorEstimate) check() error {
	const section = "RFC 4656 section 4.1.2"
	switch {
	case e&0xff == 0:
		return violated(section, "the Multiplier of an Error Estimate must not be zero")
	case e&0x4000 != 0:
		return violated(section, "the Z bit of an Error Estimate must be zero")
	}
	return nil
}
