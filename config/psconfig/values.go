package psconfig

import (
	"math"
	"regexp"
	"strconv"
	"time"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/quantity"
)

// Each of these functions turns a value of a pSConfig template into that of a probe's parameter. false: there is none that means the
// same. nil with true: the parameter is left out, since the value means its default.

func count(v any) (any, bool) {
	n, ok := v.(float64)
	if !ok || n != math.Trunc(n) || n < 1 || n > math.MaxInt32 {
		return nil, false
	}
	return int(n), true
}

// padded turns the padding of an OWAMP packet into the size of its payload.
func padded(v any) (any, bool) {
	n, ok := v.(float64)
	if !ok || n != math.Trunc(n) || n < 0 || n > math.MaxUint16 {
		return nil, false
	}
	return int(n) + owampHeader, true
}

func bitRate(v any) (any, bool) {
	n, ok := v.(float64)
	return shortRate(n), ok && n >= 1
}

// only accepts one value, which the probe's parameter has as well.
func only(value string) func(any) (any, bool) {
	return func(v any) (any, bool) { return value, v == value }
}

func word(v any) (any, bool) {
	s, ok := v.(string)
	return s, ok && config.CheckName(s) == nil
}

func isoTime(v any) (any, bool) {
	s, _ := v.(string)
	d, ok := parseISO(s)
	return shortTime(d), ok
}

func secondsTime(v any) (any, bool) {
	n, ok := v.(float64)
	if !ok || n <= 0 || n > (24*time.Hour).Seconds() {
		return nil, ok && n == 0 // no timeout: the probe's own
	}
	return shortTime(time.Duration(n * float64(time.Second))), true
}

func yes(v any) (any, bool) {
	b, ok := v.(bool)
	if !b {
		return nil, ok
	}
	return true, ok
}

// not turns a switch into a parameter that means the opposite.
func not(v any) (any, bool) {
	b, ok := v.(bool)
	if b {
		return nil, ok
	}
	return true, ok
}

// udp turns the switch "udp" of a throughput test into a protocol.
func udp(v any) (any, bool) {
	b, ok := v.(bool)
	if !b {
		return nil, ok
	}
	return "udp", ok
}

// tos turns the whole octet into the code point in its upper six bits.
func tos(v any) (any, bool) {
	n, ok := v.(float64)
	if !ok || n != math.Trunc(n) || n < 0 || n > 255 || int(n)%4 != 0 {
		return nil, false
	}
	return int(n) / 4, true
}

// isoDuration is an ISO 8601 duration as pScheduler takes it: no years, no months.
var isoDuration = regexp.MustCompile(`^P(?:([\d.]+)W)?(?:([\d.]+)D)?(?:T(?:([\d.]+)H)?(?:([\d.]+)M)?(?:([\d.]+)S)?)?$`)

// parseISO reads an ISO 8601 duration above zero.
func parseISO(s string) (time.Duration, bool) {
	m := isoDuration.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	const day = 24 * time.Hour
	seconds := 0.0
	for i, each := range []time.Duration{7 * day, day, time.Hour, time.Minute, time.Second} {
		if m[i+1] == "" {
			continue
		}
		v, err := strconv.ParseFloat(m[i+1], 64)
		if err != nil {
			return 0, false
		}
		seconds += v * each.Seconds()
	}
	if seconds <= 0 || seconds > quantity.MaxSpan.Seconds() {
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}
