package schedule

import "time"

// RetryPause is how long a failed run waits before its second try, and twice as long before each one after: a listener
// that was slow to open has opened by then, and a path that flapped is back.
const RetryPause = 2 * time.Second

// Retry says when a run that was late or failed may begin again: within its slot and its tries, and never twice at
// once. tried counts the tries that began, and now is when the last one ended, or when a late host is ready. It is what
// an agent does on its own, and the controller for hosts without one.
func Retry(start time.Time, slot time.Duration, tries, tried int, now time.Time) (at time.Time, ok bool) {
	if tried >= max(tries, 1) {
		return time.Time{}, false
	}
	at = now
	if tried > 0 {
		at = now.Add(RetryPause << min(tried-1, 10))
	}
	if at.Before(start) {
		at = start
	}
	return at, !at.After(start.Add(slot))
}
