package config

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/quantity"
)

// pair is a key and its value in a mesh file that is written: a text, a number, a bool, a list []any, or pairs.
type pair struct {
	key   string
	value any
}

// write prints the mesh file: a line for each thing that has a name.
func (i *importer) write() []byte {
	var b strings.Builder
	for _, section := range []string{"hosts", "tools", "groups"} {
		if len(i.out[section]) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s:\n", section)
		for _, p := range i.out[section] {
			fmt.Fprintf(&b, "  %s: %s\n", flow(p.key), flow(p.value))
		}
	}
	for _, section := range []string{"tests", "exclude"} {
		if len(i.out[section]) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s:\n", section)
		for _, p := range i.out[section] {
			fmt.Fprintf(&b, "  - %s\n", flow(p.value))
		}
	}
	return []byte(b.String())
}

// bare is a text that YAML reads as itself in any place, and as nothing but a text.
var bare = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._/@-]*[A-Za-z0-9])?$`)

// flow prints a value on one line.
func flow(v any) string {
	switch v := v.(type) {
	case []pair:
		var parts []string
		for _, p := range v {
			parts = append(parts, flow(p.key)+": "+flow(p.value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		var parts []string
		for _, one := range v {
			parts = append(parts, flow(one))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		if bare.MatchString(v) {
			return v // read as a text even where it looks like a number: this package goes by what is written
		}
		text, _ := json.Marshal(v) // a text always can be; JSON's are YAML's, too
		return string(text)
	}
	return fmt.Sprint(v)
}

// shortTime prints a duration in the largest unit that leaves it whole.
func shortTime(d time.Duration) string {
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		if d >= u.size && d%u.size == 0 {
			return fmt.Sprintf("%d%s", d/u.size, u.name)
		}
	}
	return d.String()
}

// shortRate prints bit/s in the largest unit that leaves them whole.
func shortRate(bits float64) string {
	for _, u := range []struct {
		name string
		size float64
	}{{"gbit", 1e9}, {"mbit", 1e6}, {"kbit", 1e3}} {
		if n := bits / u.size; n >= 1 && n == float64(int64(n)) {
			return strconv.FormatInt(int64(n), 10) + u.name
		}
	}
	return strconv.FormatFloat(bits, 'f', -1, 64)
}

// isoDuration is an ISO 8601 duration as pScheduler takes it: no years, no months.
var isoDuration = regexp.MustCompile(`^P(?:([\d.]+)W)?(?:([\d.]+)D)?(?:T(?:([\d.]+)H)?(?:([\d.]+)M)?(?:([\d.]+)S)?)?$`)

// parseISO reads an ISO 8601 duration above zero.
func parseISO(s string) (time.Duration, bool) {
	m := isoDuration.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	seconds := 0.0
	for i, each := range []float64{7 * daySeconds, daySeconds, 3600, 60, 1} {
		if m[i+1] == "" {
			continue
		}
		v, err := strconv.ParseFloat(m[i+1], 64)
		if err != nil {
			return 0, false
		}
		seconds += v * each
	}
	if seconds <= 0 || seconds > quantity.MaxSpan.Seconds() {
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}
