package parse

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// examples are units that each of measure.Units can be read from.
var examples = map[string]string{
	"bits_per_second":    "bit/s, Mbit/s, Gbits/sec, Mbps, MB/s or MiB/s",
	"bytes_per_second":   "B/s, MB/s, MiB/s or Mbit/s",
	"packets_per_second": "packets/s, pps or kpps",
	"seconds":            "ns, us, ms, s or min",
	"bytes":              "B, kB, MB, KiB, MiB or KBytes",
	"ratio":              "% or ppm",
	"packets":            "packets",
	"score":              "points",
	"count":              "k or M",
}

func unitNames() string {
	var names []string
	for _, unit := range measure.Units {
		names = append(names, "_"+unit)
	}
	return strings.Join(names, ", ")
}

// factor is what a number with a unit is multiplied by to be in the unit that a metric's name ends in.
func factor(want, unit string, binary bool) (float64, error) {
	unit = strings.Trim(strings.TrimSpace(unit), "()[].,; ")
	if unit == "" {
		return 1, nil
	}
	f := 0.0
	switch want {
	case "seconds":
		f = times[strings.ToLower(unit)]
	case "ratio":
		f = ratios[strings.ToLower(unit)]
	case "bits_per_second":
		f = perSecond(unit, binary, bits, bitsAlone)
	case "bytes_per_second":
		f = perSecond(unit, binary, bits, nil) / 8
	case "bytes":
		f = scaled(unit, binary, sizes)
	case "packets":
		f = scaled(unit, binary, packets)
	case "packets_per_second":
		f = perSecond(unit, binary, packets, bare)
	case "score":
		f = scaled(unit, false, points)
	case "count":
		f = scaled(unit, binary, bare)
	}
	if f == 0 {
		return 0, fmt.Errorf("%s is no unit of _%s; it can be %s", quote(unit), want, examples[want])
	}
	return f, nil
}

var times = map[string]float64{
	"ns": 1e-9, "nsec": 1e-9, "nsecs": 1e-9, "nanosecond": 1e-9, "nanoseconds": 1e-9,
	"us": 1e-6, "µs": 1e-6, "μs": 1e-6, "usec": 1e-6, "usecs": 1e-6, "microsecond": 1e-6, "microseconds": 1e-6,
	"ms": 1e-3, "msec": 1e-3, "msecs": 1e-3, "millisecond": 1e-3, "milliseconds": 1e-3,
	"s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1,
	"m": 60, "min": 60, "mins": 60, "minute": 60, "minutes": 60,
	"h": 3600, "hr": 3600, "hour": 3600, "hours": 3600,
}

var ratios = map[string]float64{"%": 1e-2, "percent": 1e-2, "pct": 1e-2, "ppm": 1e-6}

// A base is a unit without its prefix, and what one of it counts.
type base struct {
	names  []string
	factor float64
	binary bool // its multiples are of 1024
}

// In every list the longer of two names stands first where it ends in the other.
var (
	bits = []base{
		{[]string{"bits", "bit", "b"}, 1, false},
		{[]string{"Bytes", "Byte"}, 8, true},
		{[]string{"bytes", "byte", "octets", "B"}, 8, false},
	}
	sizes = []base{
		{[]string{"bits", "bit", "b"}, 1. / 8, false},
		{[]string{"Bytes", "Byte"}, 1, true},
		{[]string{"bytes", "byte", "octets", "B"}, 1, false},
		{[]string{""}, 1, true},
	}
	packets = []base{
		{[]string{"packets", "packet", "pkts", "pkt", "datagrams", "segments", "segs", "p"}, 1, false},
		{[]string{""}, 1, false},
	}
	points    = []base{{[]string{"points", "point"}, 1, false}}
	bare      = []base{{[]string{""}, 1, false}}
	bitsAlone = []base{bits[0], bare[0]} // "100M" and "100mbit" are rates to iperf3 and tc
)

// perSecond is the factor of a rate: of one of the bases per second, or of one in short, which need not say so.
func perSecond(unit string, binary bool, bases, short []base) float64 {
	lower := strings.ToLower(unit)
	for _, ending := range []string{"/seconds", "/second", "/sec", "/s", " per second", " per sec", "ps"} {
		if strings.HasSuffix(lower, ending) {
			return scaled(strings.TrimSpace(unit[:len(unit)-len(ending)]), binary, bases)
		}
	}
	return scaled(unit, binary, short)
}

// scaled is the factor of a prefix and a base; 0: it is none.
func scaled(unit string, binary bool, bases []base) float64 {
	for _, b := range bases {
		for _, name := range b.names {
			prefix, found := strings.CutSuffix(unit, name)
			if !found && len(name) > 1 && !b.binary { // MBIT is as good as Mbit, but B is not b
				prefix, found = cutSuffixFold(unit, name)
			}
			if !found {
				continue
			}
			if f := multiple(strings.TrimSpace(prefix), binary || b.binary); f != 0 {
				return f * b.factor
			}
		}
	}
	return 0
}

func cutSuffixFold(s, suffix string) (before string, found bool) {
	if at := len(s) - len(suffix); at >= 0 && strings.EqualFold(s[at:], suffix) {
		return s[:at], true
	}
	return s, false
}

// multiple is what a prefix stands for: "" is 1, "k" or "K" 1000, or 1024 if binary, "Ki" 1024; 0: it is none.
func multiple(prefix string, binary bool) float64 {
	if prefix == "" {
		return 1
	}
	thousands := slices.Index([]string{"k", "m", "g", "t", "p", "e"}, strings.ToLower(prefix[:1])) + 1
	step := 1000.
	switch rest := prefix[1:]; {
	case thousands == 0 || rest != "" && rest != "i":
		return 0
	case rest == "i" || binary:
		step = 1024
	}
	return math.Pow(step, float64(thousands))
}
