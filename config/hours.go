package config

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
	From, To int            // minutes since midnight; To is above From, and above 24 h on the day after
}

const dayMinutes = 24 * 60

var hoursPattern = regexp.MustCompile(`^([0-2][0-9]):([0-5][0-9])-([0-2][0-9]):([0-5][0-9])$`)

// parseHours reads 08:00-18:00, or 22:00-06:00 over midnight.
func parseHours(s string) (Hours, error) {
	want := bad(s, "hours such as 08:00-18:00, or 22:00-06:00 over midnight")
	m := hoursPattern.FindStringSubmatch(s)
	if m == nil {
		return Hours{}, want
	}
	minutes := func(h, m string) int {
		hour, _ := strconv.Atoi(h) // two digits, as the pattern says
		minute, _ := strconv.Atoi(m)
		return hour*60 + minute
	}
	h := Hours{From: minutes(m[1], m[2]), To: minutes(m[3], m[4])}
	if h.From >= dayMinutes || h.To > dayMinutes || h.From == h.To {
		return Hours{}, want
	}
	if h.To < h.From {
		h.To += dayMinutes
	}
	return h, nil
}

// readHours reads hours, of which there is at least one: none at all could mean always or never.
func readHours(n node) (all []Hours) {
	if len(n.items()) == 0 {
		n.fail("", "hours such as 08:00-18:00")
	}
	values(&all, parseHours)(n)
	return all
}

// days are the names of the days of the week, by time.Weekday.
var days = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// parseDays reads sat, or mon-fri.
func parseDays(s string) ([]time.Weekday, error) {
	first, last, two := strings.Cut(strings.ToLower(s), "-")
	if !two {
		last = first
	}
	from, to := slices.Index(days, first), slices.Index(days, last)
	if from < 0 || to < 0 {
		return nil, bad(s, "days such as sat or mon-fri: "+strings.Join(days, ", "))
	}
	all := []time.Weekday{time.Weekday(from)}
	for from != to {
		from = (from + 1) % 7
		all = append(all, time.Weekday(from))
	}
	return all, nil
}

func readDays(n node) (all []time.Weekday) {
	if len(n.items()) == 0 {
		n.fail("", "days such as mon-fri")
	}
	var ranges [][]time.Weekday
	values(&ranges, parseDays)(n)
	for _, days := range ranges {
		all = append(all, days...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// onDays restricts hours to days; days without hours are whole days.
func onDays(hours []Hours, days []time.Weekday) []Hours {
	if len(days) > 0 && len(hours) == 0 {
		hours = []Hours{{From: 0, To: dayMinutes}}
	}
	for i := range hours {
		hours[i].Days = days
	}
	return hours
}

// during says whether the exclusion holds at any moment from one time until just before another; without hours it
// always does.
func (x *Exclusion) during(from, to time.Time) bool {
	return len(x.Hours) == 0 || within(x.Hours, x.zone, from, to)
}

// within says whether some of the hours, by the clocks of a zone, are on at any moment from one time until just before
// another, or at the one if both are the same.
func within(hours []Hours, zone *time.Location, from, to time.Time) bool {
	from, to = from.In(zone), to.In(zone)
	year, month, day := from.Date()
	for n := -1; ; n++ { // hours that began the day before may not be over
		midnight := time.Date(year, month, day+n, 0, 0, 0, 0, zone)
		if midnight.After(to) {
			return false
		}
		for _, h := range hours {
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
}

// String prints hours as a mesh file has them.
func (h Hours) String() string {
	to := h.To
	if to > dayMinutes {
		to -= dayMinutes
	}
	return fmt.Sprintf("%02d:%02d-%02d:%02d", h.From/60, h.From%60, to/60, to%60)
}
