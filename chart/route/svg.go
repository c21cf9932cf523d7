package route

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
)

// How wide a letter of the texts is taken to be, in their size of 12 units: the mean of DejaVu Sans, the widest that browsers use for sans-serif.
const (
	letter     = 7.0
	headLetter = 8.0 // bold
)

// letterOf is how wide one is in a class of text.
func letterOf(class string) float64 {
	if strings.HasPrefix(class, "head") {
		return headLetter
	}
	return letter
}

// style is the style sheet of every drawing. c0 to c7 colour what belongs to an autonomous system, in the colours of Okabe and Ito (2008), which people with
// colour blindness tell apart; cx colours what belongs to no known one.
const style = `text{font:12px sans-serif;fill:#222}.head{font-weight:bold}.faint{fill:#666}.halo{paint-order:stroke;stroke:#fff;stroke-width:3px}` +
	`.link{stroke:#666;stroke-width:1.5;fill:none}.maybe{stroke-dasharray:5 4}.grid{stroke:#ddd;stroke-width:1;fill:none}.box{stroke-width:2;fill:#fff}` +
	`.c0{stroke:#0072b2}.c1{stroke:#d55e00}.c2{stroke:#009e73}.c3{stroke:#cc79a7}.c4{stroke:#e69f00}.c5{stroke:#56b4e9}.c6{stroke:#8f7700}.c7{stroke:#000}.cx{stroke:#999}` +
	`.bar{fill:#56b4e9}.dot{stroke-width:4;fill:#fff}`

// colours is how many systems have a colour of their own.
const colours = 8

// drawing is an SVG under way.
type drawing struct{ bytes.Buffer }

// begin writes the head of a drawing of so many units, with its title above.
func (d *drawing) begin(width, height float64, title string) {
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img">`+"\n", width, height, width, height)
	fmt.Fprintf(d, "<title>%s</title>\n<style>%s</style>\n", escaped(title), style)
	fmt.Fprintf(d, `<rect width="%.0f" height="%.0f" fill="#fff"/>`+"\n", width, height)
	d.text(margin, margin+4, "head", fit(title, "head", width-2*margin))
}

func (d *drawing) end() []byte {
	d.WriteString("</svg>\n")
	return d.Bytes()
}

// margin is what is free around a drawing.
const margin = 16.0

// text writes a line of text that begins at x.
func (d *drawing) text(x, y float64, class, text string) {
	fmt.Fprintf(d, `<text x="%.1f" y="%.1f" class="%s">%s</text>`+"\n", x, y, class, escaped(text))
}

// middle writes a line of text with its middle at x.
func (d *drawing) middle(x, y float64, class, text string) {
	fmt.Fprintf(d, `<text x="%.1f" y="%.1f" text-anchor="middle" class="%s">%s</text>`+"\n", x, y, class, escaped(text))
}

// line draws a straight line.
func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(d, `<path class="%s" d="M%.1f %.1fL%.1f %.1f"/>`+"\n", class, x1, y1, x2, y2)
}

// dashed adds the class of dashed lines to that of an element, if it is to have them.
func dashed(class string, dash bool) string {
	if dash {
		return class + " maybe"
	}
	return class
}

// escaped is a text as XML has it; what XML cannot have becomes U+FFFD.
func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes all
	return b.String()
}

// fit cuts a text of a class that has no room in so many units.
func fit(text, class string, width float64) string {
	runes := []rune(text)
	if most := max(int(width/letterOf(class)), 2); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// systems gives each autonomous system of a route its class of colour, in the order in which it meets them; those beyond the last share one with others.
func (w *way) systems() func(node) string {
	class := map[uint32]string{}
	for _, n := range w.nodes {
		if asn := n.known.ASN; asn > 0 && class[asn] == "" {
			class[asn] = fmt.Sprintf("c%d", len(class)%colours)
		}
	}
	return func(n node) string {
		if c := class[n.known.ASN]; c != "" {
			return c
		}
		return "cx"
	}
}
