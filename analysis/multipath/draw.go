package multipath

import (
	"fmt"
	"net/netip"
	"strings"
)

// mostPaths is how many paths are counted for a text; where there are more, it says so.
const mostPaths = 1000

// Draw writes a graph as text, a line a vertex; label is what is said of an address, nil its digits.
//
//	hop     interface  leads to
//	  1  a  10.0.1.1   b c       by flow
//	  2  b  10.0.2.1   d
//	     c  10.0.3.1   d
//	  3  d  10.0.9.9   end
//	2 paths; that there are no more is 95 % sure. 42 probes of 21 flows
func Draw(g *Graph, label func(netip.Addr) string) string {
	if label == nil {
		label = netip.Addr.String
	}
	lines := [][4]string{{"hop", "interface", "leads to", ""}}
	widths := [2]int{len(lines[0][1]), len(lines[0][2])}
	doubtful, translated := false, false
	for i, v := range g.Vertices {
		line := [4]string{"     " + vertexName(i), "*", "", ""}
		if i == 0 || g.Vertices[i-1].TTL != v.TTL {
			line[0] = fmt.Sprintf("%3d  %s", v.TTL, vertexName(i))
		}
		if !v.Silent() {
			line[1] = label(v.Address)
		}
		var to []string
		for _, l := range g.Links {
			if l.From == i {
				to = append(to, linkName(l))
				doubtful, translated = doubtful || !l.Certain, translated || l.Translated
			}
		}
		switch line[2] = strings.Join(to, " "); {
		case v.Final && len(to) == 0:
			line[2] = "end"
		case len(to) == 0:
			line[2] = "no answer"
		case v.Balancing != Single:
			line[3] = "by " + string(v.Balancing)
		}
		widths[0], widths[1] = max(widths[0], len([]rune(line[1]))), max(widths[1], len([]rune(line[2])))
		lines = append(lines, line)
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-7s %-*s  %-*s  %s", l[0], widths[0], l[1], widths[1], l[2], l[3]), " ") + "\n")
	}
	if doubtful {
		b.WriteString("?: balancing by packet hides whether this link exists\n")
	}
	if translated {
		b.WriteString("~: addresses or ports are translated on the way there\n")
	}
	b.WriteString(g.Summary() + "\n")
	return b.String()
}

// Summary is what a graph amounts to, as a sentence.
func (g *Graph) Summary() string {
	paths := g.Paths(mostPaths)
	count := fmt.Sprintf("%d paths", len(paths))
	switch {
	case len(paths) == 1:
		count = "1 path"
	case len(paths) == mostPaths:
		count = fmt.Sprintf("%d paths or more", mostPaths)
	}
	sure := fmt.Sprintf("that there are no more is %.0f %% sure", 100*g.Confidence)
	switch {
	case !g.Reached():
		sure = "none was followed to its end"
	case !g.Complete:
		sure = "the search did not come to its end"
	}
	return fmt.Sprintf("%s; %s. %d probes of %d flows", count, sure, g.Probes, g.Flows)
}

func linkName(l Link) string {
	name := vertexName(l.To)
	if l.Translated {
		name = "~" + name
	}
	if !l.Certain {
		name = "?" + name
	}
	return name
}

// vertexName is a, b, … z, then aa, ab, …
func vertexName(i int) string {
	if i < 26 {
		return string(rune('a' + i))
	}
	return vertexName(i/26-1) + vertexName(i%26)
}
