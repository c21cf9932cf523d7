package quantity

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHours(t *testing.T) {
	for text, want := range map[string]Hours{
		"08:00-18:00": {From: 480, To: 1080}, "8:00-18:00": {From: 480, To: 1080}, "00:00-24:00": {To: DayMinutes},
		"22:00-06:00": {From: 1320, To: 1800}, "22:00-00:00": {From: 1320, To: DayMinutes},
	} {
		if got, err := ParseHours(text); err != nil || !cmp.Equal(want, got) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "8-9", "24:00-01:00", "08:00-24:01", "08:00-08:00", "08:60-09:00", "29:00-30:00", "08:00"} {
		var bad *Error
		if got, err := ParseHours(text); !errors.As(err, &bad) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

func TestDays(t *testing.T) {
	for text, want := range map[string][]time.Weekday{
		"sat": {time.Saturday}, "Sun": {time.Sunday}, "Fri-mon": {time.Friday, time.Saturday, time.Sunday, time.Monday}, "sunday": nil, "": nil,
		"mon-": nil, "mon-fri-sat": nil,
	} {
		if got, err := ParseDays(text); !cmp.Equal(want, got) || (err == nil) != (want != nil) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
