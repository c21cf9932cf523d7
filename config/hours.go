package config

import (
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/quantity"
)

// readHours reads hours, of which there is at least one: none at all could mean always or never.
func readHours(n node) (all []quantity.Hours) {
	if len(n.items()) == 0 {
		n.fail("", "hours such as 08:00-18:00")
	}
	values(&all, quantity.ParseHours)(n)
	return all
}

func readDays(n node) (all []time.Weekday) {
	if len(n.items()) == 0 {
		n.fail("", "days such as mon-fri")
	}
	var ranges [][]time.Weekday
	values(&ranges, quantity.ParseDays)(n)
	for _, days := range ranges {
		all = append(all, days...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// onDays restricts hours to days; days without hours are whole days.
func onDays(hours []quantity.Hours, days []time.Weekday) []quantity.Hours {
	if len(days) > 0 && len(hours) == 0 {
		hours = []quantity.Hours{{From: 0, To: quantity.DayMinutes}}
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

// within says whether some of the hours are on, as quantity.Hours.During does.
func within(hours []quantity.Hours, zone *time.Location, from, to time.Time) bool {
	return slices.ContainsFunc(hours, func(h quantity.Hours) bool { return h.During(zone, from, to) })
}
