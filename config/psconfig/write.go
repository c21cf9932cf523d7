package psconfig

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
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

// mostComments is how many notes stand in the mesh file: as many as somebody reads there. All of thousands could make it larger than
// a mesh file may be.
const mostComments = 200

// comments are the lines of a mesh file that its notes stand in; nil where there are none.
func comments(notes []Note) (lines []string) {
	for n, note := range notes {
		if n == mostComments {
			return append(lines, fmt.Sprintf("# - and %d more, which the import told\n", len(notes)-n))
		}
		if n == 0 {
			lines = append(lines, "# What a pSConfig template had that is not in this mesh file, or is something else here:\n")
		}
		lines = append(lines, "# - "+printable(note.String())+"\n")
	}
	return lines
}

// printable escapes what could end a comment: a template's own names are in notes.
func printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
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
			return v // read as a text even where it looks like a number: package config goes by what is written
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
