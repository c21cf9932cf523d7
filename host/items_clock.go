package host

import (
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/quantity"
)

// clockItems are what time stamps are worth.
var clockItems = []Item{
	{ID: "clock-source", Title: "Where time stamps come from", Area: Clock, Reads: "/sys/devices/system/clocksource/clocksource0/current_clocksource", find: clockSource,
		Means: "Where time stamps come from. TCP takes one for each packet: from some sources that costs a microsecond and more."},
	{ID: "clock-synchronised", Title: "A clock that a time server keeps", Area: Clock, Reads: "adjtimex(2)", find: clockSynchronised,
		Means: "Whether a daemon keeps this clock with others; without, delays one way and times of two machines cannot be compared."},
	{ID: "clock-error", Title: "How wrong the clock may be", Area: Clock, Reads: "adjtimex(2) maxerror", find: clockError,
		Means: "How wrong the clock may be by the kernel's own bound.", Formula: "half of the round trip", Source: "RFC 7679 section 3.7: the error must be far below the delay one way"},
}

// slowSources are read from a device, or count ticks.
var slowSources = []string{"hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"}

func clockSource(f *Facts, _ Need) []seen {
	if f.Time.Source == "" {
		return nil
	}
	s := seen{value: f.Time.Source, needed: "tsc, kvm-clock or the like"}
	if slices.Contains(slowSources, f.Time.Source) {
		s.status, s.keep = Warning, "clocksource=NAME on the kernel's command line"
		for _, other := range f.Time.Available {
			if !slices.Contains(slowSources, other) {
				s.command = "echo " + other + " > /sys/devices/system/clocksource/clocksource0/current_clocksource"
			}
		}
	}
	return []seen{s}
}

func clockSynchronised(f *Facts, _ Need) []seen {
	switch {
	case !f.Time.Known:
		return nil
	case f.Time.Synchronised:
		return []seen{{value: "yes", needed: "yes"}}
	}
	return []seen{{value: "no", needed: "yes", status: Warning, command: "timedatectl set-ntp true", keep: "systemctl enable --now chrony"}}
}

// clockError is asked only of a clock that is kept: the bound of another says nothing.
func clockError(f *Facts, n Need) []seen {
	if !f.Time.Known || !f.Time.Synchronised {
		return nil
	}
	most := max(n.RTT/2, time.Millisecond)
	s := seen{value: quantity.FormatSeconds(f.Time.MaxError.Seconds()), needed: "under " + quantity.FormatSeconds(most.Seconds())}
	if f.Time.MaxError >= most {
		s.status, s.command = Warning, "chronyc sources; take servers that are near"
	}
	return []seen{s}
}
