package probe

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// keeper keeps the beginning and the end of what is written to it, and hands it on line by line.
//
//	| head, the first half | … counted, forgotten … | tail, a ring of the second half |
type keeper struct {
	most  int
	head  []byte
	tail  []byte // the last bytes behind head; from at on the oldest, once it is full
	at    int
	total int
	line  func(string)
	open  []byte // the line that has not ended yet
}

// longestLine is what is shown of one line.
const longestLine = 4 << 10

// Write takes everything and never fails: a program must not end because it printed much.
func (k *keeper) Write(p []byte) (int, error) {
	k.total += len(p)
	k.lines(p)
	rest := p
	if room := k.most/2 - len(k.head); room > 0 {
		n := min(room, len(rest))
		k.head, rest = append(k.head, rest[:n]...), rest[n:]
	}
	ring := k.most - k.most/2
	rest = rest[max(0, len(rest)-ring):]
	if n := min(ring-len(k.tail), len(rest)); n > 0 {
		k.tail, rest = append(k.tail, rest[:n]...), rest[n:]
	}
	for len(rest) > 0 {
		n := copy(k.tail[k.at:], rest)
		k.at, rest = (k.at+n)%ring, rest[n:]
	}
	return len(p), nil
}

// lines hands on the lines that end in p. Programs end them with \n, or with \r where they write over their progress.
func (k *keeper) lines(p []byte) {
	if k.line == nil {
		return
	}
	for len(p) > 0 {
		end := bytes.IndexAny(p, "\r\n")
		part := p
		if end >= 0 {
			part = p[:end]
		}
		k.open = append(k.open, part[:min(len(part), longestLine-len(k.open))]...)
		if end < 0 {
			return
		}
		k.flush()
		p = p[end+1:]
	}
}

// flush hands on the line that has not ended.
func (k *keeper) flush() {
	if k.line != nil && len(k.open) > 0 {
		k.line(clean(string(k.open)))
	}
	k.open = k.open[:0]
}

// forgotten is how many bytes are not kept.
func (k *keeper) forgotten() int { return k.total - len(k.head) - len(k.tail) }

// String is what is kept, as UTF-8. A line of its own stands where something is missing.
func (k *keeper) String() string {
	tail := append(append([]byte{}, k.tail[k.at:]...), k.tail[:k.at]...)
	gap := ""
	if n := k.forgotten(); n > 0 {
		gap = fmt.Sprintf("\n[%d bytes are not kept]\n", n)
	}
	return strings.ToValidUTF8(string(k.head)+gap+string(tail), "\uFFFD")
}

// lastLine is the last line of a text that says something.
func lastLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(clean(lines[i])); line != "" {
			return shorten(line)
		}
	}
	return ""
}

// clean takes out what would move a terminal's cursor or change its colours.
func clean(line string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && !unicode.IsPrint(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, line)
}

// shorten keeps a line fit for an error.
func shorten(line string) string {
	const most = 200
	if len(line) <= most {
		return line
	}
	return strings.ToValidUTF8(line[:most], "") + "…"
}
