package archive

import (
	"fmt"
	"path"
	"strings"

	"github.com/pathwise-net/pathwise/input"
)

// matcher is a pattern as in Match, made ready.
type matcher struct {
	pattern string
	exact   bool // no character of it is special: pattern is the text itself
}

// compile makes a pattern ready, or says that it is none.
func compile(pattern string) (matcher, error) {
	if !strings.ContainsAny(pattern, `*?[\`) {
		return matcher{pattern, pattern != ""}, nil
	}
	if _, err := path.Match(slashless(pattern), ""); err != nil {
		return matcher{}, fmt.Errorf("read pattern %q: %w", pattern, err)
	}
	if plain := unescape(pattern); literal(plain) == pattern {
		return matcher{plain, true}, nil
	}
	return matcher{slashless(pattern), false}, nil
}

func (m matcher) matches(text string) bool {
	if m.exact || m.pattern == "" || m.pattern == "*" {
		return !m.exact || m.pattern == text
	}
	matched, err := path.Match(m.pattern, slashless(text))
	return err == nil && matched
}

// slashless replaces what path.Match treats apart from other characters: names of hosts and tools are no paths.
func slashless(s string) string { return strings.ReplaceAll(s, "/", "\x00") }

// literal is the pattern that matches this text and no other; "" for "".
func literal(text string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(text)
}

func unescape(pattern string) string {
	var out strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '\\' && i+1 < len(pattern) {
			i++
		}
		out.WriteByte(pattern[i])
	}
	return out.String()
}

// selector is a Match, or the part of a query that is like one, made ready.
type selector struct {
	source, target, test, tool, kind, role, subject, metric matcher
}

func newSelector(m Match, kind string) (s selector, err error) {
	for _, p := range []struct {
		to      *matcher
		pattern string
	}{{&s.source, m.Source}, {&s.target, m.Target}, {&s.test, m.Test}, {&s.tool, m.Tool}, {&s.kind, kind}, {&s.role, m.Role},
		{&s.subject, m.Subject}, {&s.metric, m.Metric}} {
		if *p.to, err = compile(p.pattern); err != nil {
			return s, input.Errorf("%w", err)
		}
	}
	s.subject.exact = s.subject.exact || m.Subject == ""
	return s, nil
}

func (m Match) selector() (selector, error) {
	return newSelector(m, "")
}

// selector lets exactly this series pass, of whatever kind.
func (k Key) selector() selector {
	is := func(text string) matcher { return matcher{text, true} }
	return selector{is(k.Source), is(k.Target), is(k.Test), is(k.Tool), matcher{}, is(string(k.Role)), is(k.Subject), is(string(k.Metric))}
}

// everyStream tells whether the selector lets every stream pass, of which some have subjects or none has.
func (s selector) everyStream(subjects bool) bool {
	return s.source == matcher{} && s.target == matcher{} && s.test == matcher{} && s.tool == matcher{} &&
		s.kind == matcher{} && s.role == matcher{} && (s.subject.pattern == "*" || s.subject.pattern == "" && !subjects)
}

func (s selector) matchesStream(k streamKey) bool {
	return s.source.matches(k.source) && s.target.matches(k.target) && s.test.matches(k.test) &&
		s.tool.matches(k.tool) && s.kind.matches(k.kind) && s.role.matches(string(k.role)) && s.subject.matches(k.subject)
}
