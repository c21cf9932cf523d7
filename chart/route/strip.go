package route

import (
	"fmt"
	"strings"
)

// The room of a strip's rows.
const (
	stripWide = 800.0
	stripRow  = 38.0
	stripLine = 56.0  // where the line stands that hops hang on
	stripText = 76.0  // where texts begin
	stripBar  = 560.0 // where the bars of delay begin
	barWide   = 150.0 // of the longest
)

// high is what a strip takes.
func (w *way) high() float64 { return stripRow * float64(len(w.nodes)) }

// strip draws the nodes from a height on, one below the other, each with its delay as a bar. It needs no places.
//
//	1  ●  home.example.net              ███ 2.01 ms
//	   │  10.0.0.2  AS64500 Example
//	2  ●  edge.example.net              ██████ 10.0 ms
func (d *drawing) strip(w way, top float64) {
	class := w.systems()
	longest := 0.0
	for _, n := range w.nodes {
		if n.rtt != nil {
			longest = max(longest, *n.rtt)
		}
	}
	y := func(i int) float64 { return top + stripRow*(float64(i)+0.5) }
	d.line(stripLine, y(0), stripLine, y(len(w.nodes)-1), "link")
	for i, n := range w.nodes {
		if n.ttl > 0 && n.ttl != w.nodes[i-1].ttl {
			d.text(margin, y(i)+4, "faint", fmt.Sprint(n.ttl))
		}
		fmt.Fprintf(d, `<circle class="%s" cx="%.1f" cy="%.1f" r="6"/>`+"\n", dashed("dot "+class(n), n.address == ""), stripLine, y(i))
		room, details := stripBar-stripText-8, strings.Join(n.details(), " · ")
		if details == "" {
			d.text(stripText, y(i)+4, "head", fit(n.headline(), "head", room))
		} else {
			d.text(stripText, y(i)-3, "head", fit(n.headline(), "head", room))
			d.text(stripText, y(i)+12, "faint", fit(details, "faint", room))
		}
		if n.rtt != nil && longest > 0 {
			long := max(barWide**n.rtt/longest, 1)
			fmt.Fprintf(d, `<rect class="bar" x="%.1f" y="%.1f" width="%.1f" height="12"/>`+"\n", stripBar, y(i)-6, long)
			d.text(stripBar+long+6, y(i)+4, "", n.delay())
		}
	}
}
