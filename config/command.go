package config

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/parse"
)

// readWords reads a command: a line that is split into words, or the list of them.
func readWords(n node) (words []string) {
	if n.isScalar() {
		if value(n, &words, splitWords) {
			checkPlaceholders(n, words)
		}
		return words
	}
	for _, item := range n.items() {
		if text, ok := item.scalar("a word of the command"); ok {
			words = append(words, text)
		}
	}
	if len(words) == 0 || words[0] == "" {
		n.fail("", "a program and its arguments")
	}
	checkPlaceholders(n, words)
	return words
}

// valueName is what a placeholder may be called.
func valueName(n node) bool {
	names := placeholder.FindString("{" + n.text() + "}")
	if names != "{"+n.text()+"}" || strings.Contains(n.text(), ".") {
		n.fail(n.text(), "a name of lower-case letters, digits and underscores")
		return false
	}
	return true
}

func readValues(n node) map[string]string {
	all := map[string]string{}
	for _, e := range n.entries("{file: /data/1GB}") {
		if text, ok := e.value.scalar("one value"); ok && valueName(e.at) {
			all[e.key] = text
		}
	}
	return all
}

// readRules reads how metrics are found in what a program prints: a regular expression, or a mapping.
func readRules(n node) (rules []parse.Rule) {
	for _, e := range n.entries(`{throughput_bits_per_second: "rate ([0-9.]+) Mb/s"}`) {
		rule := parse.Rule{Metric: measure.Metric(e.key)}
		if e.value.isScalar() {
			rule.Regex = e.value.text()
		} else {
			e.value.fields(`{json: "$.end.bits_per_second"}`, fields{
				"regex":  into(&rule.Regex, parseText),
				"json":   into(&rule.JSON, parseText),
				"key":    into(&rule.Key, parseText),
				"unit":   into(&rule.Unit, parseText),
				"binary": into(&rule.Binary, parseBool),
				"scale":  into(&rule.Scale, parseNumber),
			})
		}
		if checkRule(e, rule) {
			rules = append(rules, rule)
		}
	}
	return rules
}

func checkRule(e entry, rule parse.Rule) bool {
	_, err := parse.Compile([]parse.Rule{rule})
	var wrong *parse.RuleError
	switch {
	case errors.As(err, &wrong) && wrong.Field == "metric":
		e.at.fail(wrong.Value, "a metric: %s", wrong.Remedy)
	case errors.As(err, &wrong):
		e.value.fail(wrong.Value, "a rule that can be: %s", wrong.Remedy)
	case err != nil:
		e.value.fail("", "%v", err)
	}
	return err == nil
}

// rulesJSON are the rules as encoding/json has them.
func rulesJSON(rules []parse.Rule) any {
	all := []any{}
	for _, rule := range rules {
		text, _ := json.Marshal(rule) // texts and a number that is neither infinite nor NaN
		var one any
		_ = json.Unmarshal(text, &one)
		all = append(all, one)
	}
	return all
}

// endNames are the ends that a placeholder may name before a dot.
var endNames = []string{"source", "target"}

// checkPlaceholders checks those of a command that no host could fill in.
func checkPlaceholders(n node, words []string) {
	for _, name := range placeholders(words) {
		end, _, dotted := strings.Cut(name, ".")
		if dotted && !slices.Contains(endNames, end) {
			n.fail("{"+name+"}", "{source.NAME} or {target.NAME}%s; braces that are meant as such are doubled, {{ }}",
				document.Meant(end, endNames))
		}
	}
}
