package policy

import (
	"fmt"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/quantity"
)

// Hours is a stretch of every week, or of every day: "Mon-Fri 08:00-18:00", "22:00-06:00", "Sat,Sun". One that ends before
// it begins goes on past midnight and belongs to the day on which it begins.
type Hours quantity.Hours

// shortDays makes short names of whole ones.
var shortDays = strings.NewReplacer("sunday", "sun", "monday", "mon", "tuesday", "tue", "wednesday", "wed", "thursday", "thu",
	"friday", "fri", "saturday", "sat")

// ParseHours reads what Hours describes.
func ParseHours(text string) (Hours, error) {
	bad := fmt.Errorf("%q: want hours such as Mon-Fri 08:00-18:00, 22:00-06:00 or Sat,Sun", text)
	h := quantity.Hours{To: quantity.DayMinutes}
	fields := strings.Fields(text)
	if n := len(fields); n > 0 && strings.Contains(fields[n-1], ":") {
		var err error
		if h, err = quantity.ParseHours(fields[n-1]); err != nil {
			return Hours{}, bad
		}
		if n == 1 {
			return Hours(h), nil
		}
		fields = fields[:n-1]
	}
	if len(fields) != 1 {
		return Hours{}, bad
	}
	for part := range strings.SplitSeq(shortDays.Replace(strings.ToLower(fields[0])), ",") {
		some, err := quantity.ParseDays(part)
		if err != nil {
			return Hours{}, bad
		}
		h.Days = append(h.Days, some...)
	}
	return Hours(h), nil
}

// Hold reports whether a time is within the hours, by its own zone.
func (h Hours) Hold(t time.Time) bool { return quantity.Hours(h).During(t.Location(), t, t) }
