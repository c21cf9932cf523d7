package control

import (
	"testing"
	"time"
)

// Moments come back to the nanosecond, those after 2036 too.
func TestTimestamp(t *testing.T) {
	for want, moment := range map[Timestamp]time.Time{
		0x83aa7e80_00000000: time.Unix(0, 0),
		0x83aa7e80_80000000: time.Unix(0, 500_000_000),
		0x83aa7e80_fffffffc: time.Unix(0, 999_999_999),
		0xffffffff_00000000: time.Date(2036, 2, 7, 6, 28, 15, 0, time.UTC),
		0x00000000_00000005: time.Date(2036, 2, 7, 6, 28, 16, 1, time.UTC),
		0x00000001_00000000: time.Date(2036, 2, 7, 6, 28, 17, 0, time.UTC),
		0:                   {},
	} {
		if got := TimestampOf(moment); got != want {
			t.Errorf("%v: %#x, want %#x", moment, uint64(got), uint64(want))
		}
		if got := want.Time(); !got.Equal(moment) {
			t.Errorf("%#x: %v, want %v", uint64(want), got.UTC(), moment.UTC())
		}
	}
}

func TestInterval(t *testing.T) {
	for want, span := range map[Interval]time.Duration{
		0: 0, 1 << 31: 500 * time.Millisecond, 3<<32 | 1<<30: 3250 * time.Millisecond, 5: 1,
	} {
		if got := IntervalOf(span); got != want || got.Duration() != span {
			t.Errorf("%v: %#x, and back %v; want %#x", span, uint64(got), got.Duration(), uint64(want))
		}
	}
	if got := IntervalOf(-time.Second); got != 0 {
		t.Errorf("less than nothing: %#x", uint64(got))
	}
	if got := Interval(1<<64 - 1).Duration(); got < 136*365*24*time.Hour {
		t.Errorf("the longest: %v", got)
	}
}

// An estimate is never below the bound that it was made of, and at most a hundredth above it.
func TestErrorEstimate(t *testing.T) {
	for _, bound := range []time.Duration{1, 59, 60, 61, 119, 999, time.Microsecond, 123_456, time.Millisecond, 16_777_215, time.Second,
		time.Hour, 24 * 365 * time.Hour} {
		e := EstimateOf(bound, true)
		got, known := e.Bound()
		if !known || !e.Valid() || got < bound || got > bound+bound/100+2 {
			t.Errorf("%v: %#x, which is %v, %v", bound, uint16(e), got, known)
		}
	}
	for name, c := range map[string]struct {
		e            ErrorEstimate
		known, valid bool
	}{
		"a synchronised clock":                {0x8001 | 20<<8, true, true},
		"not synchronised":                    {0x0001, false, true},
		"multiplier 0":                        {0x8000 | 20<<8, false, false},
		"what lost packets have":              {0x3f01, false, true},
		"synchronised, and beyond all bounds": {0xbfff, false, true},
		"no bound at all":                     {EstimateOf(time.Second, false), false, true},
	} {
		if _, known := c.e.Bound(); known != c.known || c.e.Valid() != c.valid {
			t.Errorf("%s: known %v, valid %v", name, known, c.e.Valid())
		}
	}
	if got, _ := EstimateOf(0, true).Bound(); got != 1 {
		t.Errorf("a bound of 0: %v", got)
	}
	if !ErrorEstimate(0x4001).PTP() || ErrorEstimate(0xbf01).PTP() {
		t.Error("the format of PTP is not told from that of NTP")
	}
}
