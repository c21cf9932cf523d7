package config

import (
	"regexp"
	"slices"
	"strings"
)

// shellSigns are what a shell acts on outside of quotes: in a command line here they would be mere letters, which
// nobody who writes them means.
const shellSigns = "|&;<>()$`*"

// splitWords splits a command line into words as a shell does, by spaces outside of quotes, and takes the quotes off.
// The error says what would be right. No shell ever sees the line, so that what is filled in later cannot become code.
func splitWords(line string) (words []string, err error) {
	var word strings.Builder
	inWord, quote := false, rune(0)
	escaped := false
	for _, c := range line {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case strings.ContainsRune(" \t\n\r", c):
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		case strings.ContainsRune(shellSigns, c):
			return nil, bad(line, "a program and its arguments; "+string(c)+
				" is for a shell: put it into quotes, or write a list that calls one, [sh, -c, \"…\"]")
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	if quote != 0 || escaped {
		return nil, bad(line, "a command whose quotes are closed")
	}
	if inWord {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, bad(line, "a program and its arguments")
	}
	return words, nil
}

// placeholder is what a template fills in: {target}, {target.path}. Doubled braces are braces.
var placeholder = regexp.MustCompile(`\{\{|\}\}|\{[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?\}`)

// placeholders returns the names in the words, each once, sorted.
func placeholders(words []string) (names []string) {
	for _, word := range words {
		for _, found := range placeholder.FindAllString(word, -1) {
			if found != "{{" && found != "}}" {
				names = append(names, found[1:len(found)-1])
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// fill replaces the placeholders of each word. However a value looks, it stays within its word. What has no value is
// returned as missing.
func fill(words []string, lookup func(name string) (string, bool)) (filled, missing []string) {
	for _, word := range words {
		filled = append(filled, placeholder.ReplaceAllStringFunc(word, func(found string) string {
			if found == "{{" || found == "}}" {
				return found[:1]
			}
			v, ok := lookup(found[1 : len(found)-1])
			if !ok {
				missing = append(missing, found)
			}
			return v
		}))
	}
	return filled, missing
}
