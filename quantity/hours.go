package quantity

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Hours is a part of some days of the week, by the wall clock of a zone. It may end on the day after.
type Hours struct {
	Days     []time.Weekday // on which it begins; nil: every day
	From, To int            // minutes since midnight; To is above From, and above DayMinutes on the day after
}

// DayMinutes are the minutes of a day.
const DayMinutes = 24 * 60

var hoursPattern = regexp.MustCompile(`^([0-2]?[0-9]):([0-5][0-9])-([0-2]?[0-9]):([0-5][0-9])$`)

// ParseHours reads 08:00-18:00, or 22:00-06:00 over midnight, of every day. The error is an *Error.
func ParseHours(s string) (Hours, error) {
	bad := &Error{Value: s, Want: "hours such as 08:00-18:00, or 22:00-06:00 over midnight"}
	m := hoursPattern.FindStringSubmatch(s)
	if m == nil {
		return Hours{}, bad
	}
	minutes := func(h, m string) int {
		hour, _ := strconv.Atoi(h) // digits, as the pattern says
		minute, _ := strconv.Atoi(m)
		return hour*60 + minute
	}
	h := Hours{From: minutes(m[1], m[2]), To: minutes(m[3], m[4])}
	if h.From >= DayMinutes || h.To > DayMinutes || h.From == h.To {
		return Hours{}, bad
	}
	if h.To < h.From {
		h.To += DayMinutes
	}
	return h, nil
}

// String prints hours as ParseHours reads them, without their days.
func (h Hours) String() string {
	to := h.To
	if to > DayMinutes {
		to -= DayMinutes
	}
	return fmt.Sprintf("%02d:%02d-%02d:%02d", h.From/60, h.From%60, to/60, to%60)
}

// During says whether the hours, by the clock of a zone, are on at any moment from one time until just before another, or at the one
// if both are the same.
func (h Hours) During(zone *time.Location, from, to time.Time) bool {
	from, to = from.In(zone), to.In(zone)
	year, month, day := from.Date()
	for n := -1; ; n++ { // hours that began the day before may not be over
		midnight := time.Date(year, month, day+n, 0, 0, 0, 0, zone)
		if midnight.After(to) {
			return false
		}
		if h.Days != nil && !slices.Contains(h.Days, midnight.Weekday()) {
			continue
		}
		begin := time.Date(year, month, day+n, 0, h.From, 0, 0, zone)
		end := time.Date(year, month, day+n, 0, h.To, 0, 0, zone)
		if (begin.Before(to) || begin.Equal(from)) && from.Before(end) {
			return true
		}
	}
}

// days are the names of the days of the week, by time.Weekday.
var days = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// ParseDays reads sat, or mon-fri, in any case. The error is an *Error.
func ParseDays(s string) ([]time.Weekday, error) {
	first, last, two := strings.Cut(strings.ToLower(s), "-")
	if !two {
		last = first
	}
	from, to := slices.Index(days, first), slices.Index(days, last)
	if from < 0 || to < 0 {
		return nil, &Error{Value: s, Want: "days such as sat or mon-fri: " + strings.Join(days, ", ")}
	}
	all := []time.Weekday{time.Weekday(from)}
	for from != to {
		from = (from + 1) % 7
		all = append(all, time.Weekday(from))
	}
	return all, nil
}
