package policy

import (
	"fmt"
	"strings"
	"time"
)

// Hours is a stretch of every week, or of every day: "Mon-Fri 08:00-18:00", "22:00-06:00", "Sat,Sun". One that ends before
// it begins goes on past midnight and belongs to the day on which it begins.
type Hours struct {
	days     [7]bool // from Sunday
	from, to int     // minutes of the day; to is at most 24 h
}

const dayMinutes = 24 * 60

// ParseHours reads what Hours describes.
func ParseHours(text string) (Hours, error) {
	bad := fmt.Errorf("%q: want hours such as Mon-Fri 08:00-18:00, 22:00-06:00 or Sat,Sun", text)
	h := Hours{to: dayMinutes}
	fields := strings.Fields(text)
	if len(fields) == 0 || len(fields) > 2 {
		return h, bad
	}
	last := fields[len(fields)-1]
	if strings.Contains(last, ":") {
		from, to, ok := strings.Cut(last, "-")
		var okFrom, okTo bool
		h.from, okFrom = minuteOf(from)
		h.to, okTo = minuteOf(to)
		if !ok || !okFrom || !okTo || h.from == h.to || h.from == dayMinutes {
			return h, bad
		}
		fields = fields[:len(fields)-1]
	}
	if len(fields) == 0 {
		h.days = [7]bool{true, true, true, true, true, true, true}
		return h, nil
	}
	if len(fields) > 1 {
		return h, bad
	}
	for part := range strings.SplitSeq(fields[0], ",") {
		first, last, span := strings.Cut(part, "-")
		if !span {
			last = first
		}
		from, okFrom := dayOf(first)
		to, okTo := dayOf(last)
		if !okFrom || !okTo {
			return h, bad
		}
		for day := from; ; day = (day + 1) % 7 {
			h.days[day] = true
			if day == to {
				break
			}
		}
	}
	return h, nil
}

func dayOf(name string) (int, bool) {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if strings.EqualFold(name, day.String()[:3]) || strings.EqualFold(name, day.String()) {
			return int(day), true
		}
	}
	return 0, false
}

func minuteOf(clock string) (int, bool) {
	if clock == "24:00" {
		return dayMinutes, true
	}
	t, err := time.Parse("15:04", clock)
	return t.Hour()*60 + t.Minute(), err == nil
}

// Hold reports whether a time is within the hours, by its own zone.
func (h Hours) Hold(t time.Time) bool {
	minute, day := t.Hour()*60+t.Minute(), int(t.Weekday())
	if h.from < h.to {
		return h.days[day] && minute >= h.from && minute < h.to
	}
	yesterday := (day + 6) % 7
	return h.days[day] && minute >= h.from || h.days[yesterday] && minute < h.to
}
