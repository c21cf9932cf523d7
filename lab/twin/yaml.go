package twin

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/lab/link"
)

// width is where long lists go on in the next line.
const width = 120

// YAML returns the twin as a lab file, with comments that say what was measured and what is assumed.
func (t *Twin) YAML() []byte {
	var w bytes.Buffer
	comments(&w, "", t.Notes)
	w.WriteString("\nhosts:\n")
	for _, h := range []Host{t.Source, t.Target} {
		writeHost(&w, h)
	}
	if len(t.Routers) > 0 {
		w.WriteString("routers:\n")
	}
	for _, r := range t.Routers {
		silent := ""
		if r.Silent {
			silent = " {silent: true}"
		}
		fmt.Fprintf(&w, "  %-30s # %s\n", r.Name+":"+silent, plain(r.Note))
	}
	w.WriteString("links:\n")
	for i, l := range t.Links {
		writeLink(&w, t.nodes()[i], t.nodes()[i+1], l)
	}
	return w.Bytes()
}

// nodes lists the names along the path.
func (t *Twin) nodes() []string {
	names := []string{t.Source.Name}
	for _, r := range t.Routers {
		names = append(names, r.Name)
	}
	return append(names, t.Target.Name)
}

func writeHost(w *bytes.Buffer, h Host) {
	comments(w, "  ", h.Notes)
	if len(h.Sysctl) == 0 {
		fmt.Fprintf(w, "  %s: {}\n", quoted(h.Name))
		return
	}
	fmt.Fprintf(w, "  %s:\n    sysctl:\n", quoted(h.Name))
	for _, s := range h.Sysctl {
		fmt.Fprintf(w, "      %s: %s\n", s.Key, strconv.Quote(s.Value))
	}
}

func writeLink(w *bytes.Buffer, from, to string, l Link) {
	comments(w, "  ", l.Notes)
	fmt.Fprintf(w, "  - between: [%s, %s]\n", quoted(from), quoted(to))
	writeShape(w, "    ", l.Shape)
	for _, way := range []struct {
		key   string
		shape link.Shape
	}{{"forward", l.Forward}, {"reverse", l.Reverse}} {
		if way.shape.String() != "" {
			fmt.Fprintf(w, "    %s:\n", way.key)
			writeShape(w, "      ", way.shape)
		}
	}
}

// writeShape writes the keys that a twin has, a line each.
func writeShape(w *bytes.Buffer, indent string, s link.Shape) {
	if s.Rate != nil {
		fmt.Fprintf(w, "%srate: %v\n", indent, *s.Rate)
	}
	if s.Queue != nil {
		fmt.Fprintf(w, "%squeue: %v\n", indent, *s.Queue)
	}
	if s.Delay != nil {
		fmt.Fprintf(w, "%sdelay: %v\n", indent, *s.Delay)
	}
	if s.Jitter != nil {
		w.WriteString(wrapped(indent, fmt.Sprintf("%sjitter: %v", indent, *s.Jitter)))
	}
	if s.Loss != nil {
		fmt.Fprintf(w, "%sloss: %v\n", indent, *s.Loss)
	}
	if s.Duplicate != nil {
		fmt.Fprintf(w, "%sduplicate: %v\n", indent, *s.Duplicate)
	}
	if s.MTU != nil {
		fmt.Fprintf(w, "%smtu: %v\n", indent, *s.MTU)
	}
}

// wrapped breaks a long flow mapping after commas.
func wrapped(indent, text string) string {
	var w strings.Builder
	column := 0
	for i, part := range strings.SplitAfter(text, ", ") {
		if i > 0 && column+len(part) > width {
			w.WriteString("\n" + indent + "  ")
			column = len(indent) + 2
		}
		w.WriteString(part)
		column += len(part)
	}
	lines := strings.Split(w.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

func comments(w *bytes.Buffer, indent string, notes []string) {
	for _, n := range notes {
		text := indent + "#"
		for _, word := range strings.SplitAfter(" "+plain(n), " ") {
			if len(text)+len(word) > width && strings.TrimSpace(text) != "#" {
				fmt.Fprintln(w, strings.TrimRight(text, " "))
				text = indent + "#   "
			}
			text += word
		}
		fmt.Fprintln(w, strings.TrimRight(text, " "))
	}
}

// plain keeps a comment to its line: names in it came from Results, which others may have written.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffd {
			return '?'
		}
		return r
	}, text)
}

// quoted protects a name that YAML would take for a number or a truth value.
func quoted(name string) string { return strconv.Quote(name) }
