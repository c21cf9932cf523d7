package route

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// The room of a graph's boxes.
const (
	boxWide  = 176.0
	boxHigh  = 52.0
	boxSpace = 14.0 // between those of a hop
	rowHigh  = 84.0 // from one hop to the next
	hopsWide = 36.0 // for their numbers
	graphTop = 44.0
)

// Graph draws a route as an SVG: a row of boxes for each hop, the source's at the top. A box has the colour of its autonomous system; a dashed line is a link that may exist.
//
//	          bob
//	           │
//	1      10.0.0.2
//	        │     │
//	2   10.0.1.2  10.0.2.2
func Graph(r *measure.Result) []byte {
	w := wayOf(r)
	rows := w.ordered()
	widest := 1
	for _, row := range rows {
		widest = max(widest, len(row))
	}
	width := max(2*margin+hopsWide+float64(widest)*(boxWide+boxSpace), 480)
	class := w.systems()
	var d drawing
	d.begin(width, graphTop+float64(len(rows))*rowHigh, w.title)
	at := map[int][2]float64{} // the upper middle of each box
	for i, row := range rows {
		for j, n := range row {
			free := width - hopsWide - float64(len(row))*(boxWide+boxSpace)
			at[n] = [2]float64{hopsWide + free/2 + float64(j)*(boxWide+boxSpace) + (boxWide+boxSpace)/2, graphTop + float64(i)*rowHigh}
		}
	}
	for _, l := range w.links {
		from, to := at[l.From], at[l.To]
		d.line(from[0], from[1]+boxHigh, to[0], to[1], dashed("link", !l.Certain))
		if l.Translated {
			d.middle((from[0]+to[0])/2, (from[1]+boxHigh+to[1])/2+4, "halo", "translated")
		}
	}
	for i, row := range rows {
		if ttl := w.nodes[row[0]].ttl; ttl > 0 {
			d.text(margin, graphTop+float64(i)*rowHigh+boxHigh/2+4, "faint", fmt.Sprint(ttl))
		}
		for _, n := range row {
			d.box(w.nodes[n], at[n], class(w.nodes[n]))
		}
	}
	return d.end()
}

// box draws a node: what it is called and its delay, and below what there is room for. All that is known shows where a pointer rests on it.
func (d *drawing) box(n node, at [2]float64, class string) {
	fmt.Fprintf(d, `<g><rect class="%s" x="%.1f" y="%.1f" width="%.0f" height="%.0f" rx="6"/>`, dashed("box "+class, n.address == ""), at[0]-boxWide/2, at[1], boxWide, boxHigh)
	fmt.Fprintf(d, "<title>%s</title>\n", escaped(strings.Join(n.lines(), "\n")))
	lines := append([]string{n.headline()}, n.details()...)
	if delay := n.delay(); delay != "" {
		lines = slices.Insert(lines, min(2, len(lines)), delay)
		if len(lines) > 3 && n.name != "" { // the address and the delay share a line
			lines = slices.Replace(lines, 1, 3, lines[1]+" · "+delay)
		}
	}
	lines = lines[:min(3, len(lines))]
	for i, line := range lines {
		class := "faint"
		if i == 0 {
			class = "head"
		}
		d.middle(at[0], at[1]+boxHigh/2+4+15*(float64(i)-float64(len(lines)-1)/2), class, fit(line, class, boxWide-8))
	}
	d.WriteString("</g>\n")
}

// ordered are the rows with the nodes of each so that few links cross: by the mean place of those that they hang on, from the top down, then up, then down (Sugiyama,
// Tagawa and Toda, 1981).
func (w *way) ordered() [][]int {
	rows := w.rows()
	place := make([]float64, len(w.nodes))
	note := func(row []int) {
		for j, n := range row {
			place[n] = float64(j) - float64(len(row)-1)/2
		}
	}
	for _, row := range rows {
		note(row)
	}
	sortBy := func(row []int, other func(measure.PathLink) (mine, theirs int)) {
		mean := map[int]float64{}
		for _, n := range row {
			sum, links := 0.0, 0.0
			for _, l := range w.links {
				if mine, theirs := other(l); mine == n {
					sum, links = sum+place[theirs], links+1
				}
			}
			if mean[n] = place[n]; links > 0 {
				mean[n] = sum / links
			}
		}
		slices.SortStableFunc(row, func(a, b int) int { return cmp.Compare(mean[a], mean[b]) })
		note(row)
	}
	above := func(l measure.PathLink) (int, int) { return l.To, l.From }
	below := func(l measure.PathLink) (int, int) { return l.From, l.To }
	for range 2 {
		for _, row := range rows {
			sortBy(row, above)
		}
		for _, row := range slices.Backward(rows) {
			sortBy(row, below)
		}
	}
	for _, row := range rows {
		sortBy(row, above)
	}
	return rows
}
