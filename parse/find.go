package parse

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Bounds: what a program prints, and what a rule makes of it, must cost the agent neither memory nor time.
const (
	// MaxInput is how many bytes of a text are read, as many as package probe keeps of one. As JSON they may become 40 MB.
	MaxInput = 1 << 20
	// maxDecoding is how many bytes are tried as JSON, over all the places where a document seems to begin.
	maxDecoding = 4 * MaxInput
	// maxMatches of a regular expression at most: a line every 0.1 s for an hour. Each costs some 60 bytes.
	maxMatches = 36_000
	// maxExpression keeps what regexp compiles small.
	maxExpression = 2000
)

// compile checks the rule and returns what finds its text.
func (r Rule) compile() (finder, error) {
	bad := func(field, value, remedy string) (finder, error) {
		return nil, &RuleError{r.Metric, field, value, remedy}
	}
	switch set := r.given(); {
	case r.Metric.Unit() == "":
		return bad("metric", string(r.Metric), "a name is lower-case words joined by \"_\" and ends in "+unitNames())
	case len(set) != 1:
		return bad("rule", strings.Join(set, " "), "give one of regex, json and key")
	case len(r.Regex)+len(r.JSON)+len(r.Key) > maxExpression:
		return bad(set[0], r.Regex+r.JSON+r.Key, fmt.Sprintf("give at most %d letters", maxExpression))
	}
	if r.Unit != "" {
		if _, err := factor(r.Metric.Unit(), r.Unit, r.Binary); err != nil {
			return bad("unit", r.Unit, "give one such as "+examples[r.Metric.Unit()])
		}
	}
	switch {
	case r.Regex != "":
		return r.compileRegex()
	case r.JSON != "":
		return r.compileJSON()
	}
	if words := keyWords(r.Key); words == "" || strings.ContainsAny(r.Key, "=:\n") {
		return bad("key", r.Key, "give what stands left of \"=\" or \":\" in its line")
	}
	return keyFinder(keyWords(r.Key)), nil
}

// given names the fields of the rule that say where to look.
func (r Rule) given() (set []string) {
	for _, f := range []struct{ name, value string }{{"regex", r.Regex}, {"json", r.JSON}, {"key", r.Key}} {
		if f.value != "" {
			set = append(set, f.name)
		}
	}
	return set
}

type regexFinder struct {
	*regexp.Regexp
	number, unit int // groups; unit is -1 where there is none
}

func (r Rule) compileRegex() (finder, error) {
	e, err := regexp.Compile("(?m)" + r.Regex)
	if err != nil {
		why := strings.ReplaceAll(strings.TrimPrefix(err.Error(), "error parsing regexp: "), "(?m)", "")
		return nil, &RuleError{r.Metric, "regex", r.Regex, why + "; see the syntax of RE2"}
	}
	f := regexFinder{e, max(1, e.SubexpIndex("value")), e.SubexpIndex("unit")}
	if e.NumSubexp() == 0 || f.number == f.unit {
		return nil, &RuleError{r.Metric, "regex", r.Regex, "put parentheses around the number, as in \"rate ([0-9.]+) Mb/s\""}
	}
	return f, nil
}

func (f regexFinder) String() string {
	return "regex " + strconv.Quote(strings.TrimPrefix(f.Regexp.String(), "(?m)"))
}

func (f regexFinder) find(o *output) (number, unit string, err error) {
	all := f.FindAllStringSubmatchIndex(o.text, maxMatches+1)
	switch {
	case len(all) == 0:
		return "", "", errNothing
	case len(all) > maxMatches:
		return "", "", fmt.Errorf("%s matches more than %d times; make it match less", f, maxMatches)
	}
	last := all[len(all)-1]
	group := func(n int) string {
		if n < 0 || last[2*n] < 0 {
			return ""
		}
		return o.text[last[2*n]:last[2*n+1]]
	}
	return group(f.number), group(f.unit), nil
}

// keyFinder is a key in lower case with single spaces.
type keyFinder string

func keyWords(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

func (f keyFinder) String() string { return "key " + strconv.Quote(string(f)) }

func (f keyFinder) find(o *output) (number, unit string, err error) {
	for _, line := range slices.Backward(strings.Split(o.text, "\n")) {
		at := strings.IndexAny(line, "=:")
		if at < 0 || keyWords(line[:at]) != string(f) {
			continue
		}
		number, unit = firstWords(line[at+1:])
		return number, unit, nil
	}
	return "", "", errNothing
}

// firstWords returns a number and the word that follows it after one space at most. What stands farther off is another
// column, or a remark.
func firstWords(s string) (digits, unit string) {
	s = strings.TrimSpace(s)
	digits, _ = splitNumber(s)
	rest := strings.TrimPrefix(s[len(digits):], " ")
	if digits == "" || strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, "\t") {
		return digits, ""
	}
	if words := strings.Fields(strings.ReplaceAll(rest, " per ", "/")); len(words) > 0 {
		unit = words[0]
	}
	return digits, unit
}
