package quantity

import (
	"errors"
	"strings"
	"time"
)

// Moment is a time, or how long ago it was. The zero value is none.
type Moment struct {
	time time.Time
	ago  time.Duration
	past bool // ago holds
}

var errMoment = errors.New("want a time such as 2026-11-20T10:00:00Z, or how long ago, such as -2h")

// ParseMoment reads a time by RFC 3339, or how long ago it was: "-2h".
func ParseMoment(s string) (m Moment, err error) {
	ago, past := strings.CutPrefix(s, "-")
	if m.past = past; past {
		m.ago, err = ParseSpan(ago)
	} else {
		m.time, err = time.Parse(time.RFC3339Nano, s)
	}
	if err != nil {
		return Moment{}, errMoment
	}
	return m, nil
}

// At is the time meant, where it is now; the zero time of the zero Moment.
func (m Moment) At(now time.Time) time.Time {
	if m.past {
		return now.Add(-m.ago)
	}
	return m.time
}

// IsZero says that no time was given.
func (m Moment) IsZero() bool { return m == Moment{} }
