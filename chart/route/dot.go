package route

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// DOT writes a route as text in the language of Graphviz: a node for each interface, those of one hop in one rank.
//
//	digraph route {
//	  n1 [label="home.example.net\n10.0.0.2\n2.01 ms"];
//	  n0 -> n1;
//	}
func DOT(r *measure.Result) []byte {
	w := wayOf(r)
	var b bytes.Buffer
	fmt.Fprintf(&b, "digraph route {\n  label=%s;\n  labelloc=t;\n  node [shape=box];\n", quoted(w.title))
	for _, row := range w.rows() {
		b.WriteString("  { rank=same;\n")
		for _, i := range row {
			n := w.nodes[i]
			silent := ""
			if n.address == "" {
				silent = ", style=dashed"
			}
			fmt.Fprintf(&b, "    n%d [label=%s%s];\n", i, quoted(n.lines()...), silent)
		}
		b.WriteString("  }\n")
	}
	for _, l := range w.links {
		var says []string
		if !l.Certain {
			says = append(says, "style=dashed")
		}
		if l.Translated {
			says = append(says, `label="translated"`)
		}
		fmt.Fprintf(&b, "  n%d -> n%d", l.From, l.To)
		if says != nil {
			fmt.Fprintf(&b, " [%s]", strings.Join(says, ", "))
		}
		b.WriteString(";\n")
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// quoted is lines of text as a string of DOT, in which \n is the end of a line, and other backslashes are doubled.
func quoted(lines ...string) string {
	for i, line := range lines {
		line = strings.Map(func(c rune) rune {
			if c < ' ' || c >= 0x7f && c < 0xa0 {
				return -1
			}
			return c
		}, strings.ToValidUTF8(line, "\ufffd"))
		lines[i] = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(line)
	}
	return `"` + strings.Join(lines, `\n`) + `"`
}
