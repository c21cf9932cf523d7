package host

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// An Item is one thing that is audited: all that is known of it stands in its entry.
type Item struct {
	ID      string
	Title   string // what is audited, for people
	Area    Area
	Key     string // of a setting of the kernel, as sysctl(8) writes it; "": it is none
	Reads   string // where the kernel shows what is no setting
	Means   string // what it does, in plain words
	Formula string // what is needed, of the rate and the round trip
	Source  string // of the formula

	// Of a setting: what its value should be, and what to set: "" where all is well. bad is what it is otherwise.
	bad   Status
	wants func(value string, n Need) (needed, set string)
	// Of anything else: what each subject was found to be.
	find func(*Facts, Need) []seen
}

// seen is what one subject of an Item was found to be.
type seen struct {
	subject, value, needed string
	status                 Status   // "": ok
	why                    string   // what is wrong here, before what the Item means
	key                    string   // under which Facts.Configured may have it
	command, keep          string   // how to cure it by hand
	changes                []Change // how to cure it at once
}

// Items are all, area by area.
func Items() []Item {
	return slices.Concat(tcpItems, socketItems, coreItems, interfaceItems, adapterItems, cpuItems, clockItems,
		diskItems, firewallItems, routeItems)
}

// look says what each subject of an Item was found to be.
func (i Item) look(f *Facts, n Need) []seen {
	if i.Key == "" {
		return i.find(f, n)
	}
	value, there := f.Sysctls[i.Key]
	if !there {
		return nil // this kernel has none, or hides it from this namespace
	}
	needed, set := i.wants(value, n)
	s := seen{value: value, needed: needed, key: i.Key}
	if set != "" {
		s.status, s.changes = i.bad, settings(i.Key, set)
	}
	return []seen{s}
}

// one of several values is right; the first is what to set.
func one(right ...string) func(string, Need) (string, string) {
	return func(value string, _ Need) (needed, set string) {
		if needed = strings.Join(right, " or "); !slices.Contains(right, value) {
			set = right[0]
		}
		return needed, set
	}
}

// least is a number that must not be below what a formula gives.
func least(formula func(Need) float64) func(string, Need) (string, string) {
	return func(value string, n Need) (needed, set string) {
		want := whole(formula(n))
		if got, err := strconv.ParseFloat(value, 64); err == nil && got < want {
			set = number(want)
		}
		return "at least " + number(want), set
	}
}

// thirdLeast is the third of three numbers, the most that autotuning gives, which must not be below what a formula gives.
func thirdLeast(formula func(Need) float64) func(string, Need) (string, string) {
	return func(value string, n Need) (needed, set string) {
		want := whole(formula(n))
		parts := strings.Fields(value)
		if len(parts) != 3 {
			return "three numbers", ""
		}
		if got, err := strconv.ParseFloat(parts[2], 64); err == nil && got < want {
			set = strings.Join([]string{parts[0], parts[1], number(want)}, " ")
		}
		return "a third number of at least " + number(want), set
	}
}

// largestSetting is the most that the kernel's settings of buffers hold (they are signed, of 32 bits).
const largestSetting = math.MaxInt32

// whole rounds up to what a setting may be.
func whole(v float64) float64 { return min(math.Ceil(v), largestSetting) }

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
