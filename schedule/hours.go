package schedule

import "time"

// Hours says whether something is closed at a time, and until when that answer holds. It must be a function of its
// argument alone; until is after at, and the zero Time means for ever.
type Hours func(at time.Time) (closed bool, until time.Time)

// Weekly closes from one time of day to another on days of the week. With from after until it closes overnight, and the
// day is the one on which it begins; with both the same it closes all day. Times are of the clock on the wall.
func Weekly(days []time.Weekday, from, until time.Duration, where *time.Location) Hours {
	var on [7]bool
	for _, d := range days {
		on[d] = true
	}
	wall := func(day time.Time, clock time.Duration) time.Time {
		return time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, int(clock), where)
	}
	return func(at time.Time) (bool, time.Time) {
		at = at.In(where)
		next := at.AddDate(0, 0, 1)
		for offset := -1; offset <= 8; offset++ { // yesterday's may still go on; a week always has an answer
			day := time.Date(at.Year(), at.Month(), at.Day()+offset, 12, 0, 0, 0, where)
			if !on[day.Weekday()] {
				continue
			}
			begin, end := wall(day, from), wall(day, until)
			if until <= from {
				end = wall(day.AddDate(0, 0, 1), until)
			}
			if at.Before(begin) {
				return false, begin
			}
			if at.Before(end) {
				return true, end
			}
		}
		return false, next
	}
}
