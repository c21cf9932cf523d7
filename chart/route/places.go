package route

import "fmt"

// area is what a text takes of a drawing.
type area struct{ left, top, right, bottom float64 }

func (a area) meets(b area) bool {
	return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

// places draws where the nodes are, and the ways between.
func (d *drawing) places(w way, spots []spot) {
	p := projectionOf(spots)
	fmt.Fprintf(d, `<clipPath id="map"><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f"/></clipPath><g clip-path="url(#map)">`+"\n", margin, mapTop, mapWide, mapHigh)
	d.grid(p)
	at := make([][2]float64, len(spots))
	for i, s := range spots {
		x, y := p.xy(s.at.Latitude, near(s.at.Longitude, p.longitude))
		at[i] = [2]float64{x, y}
	}
	legs := w.legs(spots)
	for _, l := range legs {
		d.line(at[l.from][0], at[l.from][1], at[l.to][0], at[l.to][1], dashed("link", !l.sure))
	}
	var taken []area
	class := w.systems()
	for i, s := range spots {
		fmt.Fprintf(d, `<circle class="dot %s" cx="%.1f" cy="%.1f" r="5"/>`+"\n", class(w.nodes[s.nodes[0]]), at[i][0], at[i][1])
		taken = append(taken, area{at[i][0] - 7, at[i][1] - 7, at[i][0] + 7, at[i][1] + 7})
	}
	for i, s := range spots {
		taken = d.label(taken, at[i][0], at[i][1], fit(s.label(w), "head", mapWide/4), "head halo")
	}
	for _, l := range legs {
		if l.delay != "" {
			taken = d.label(taken, (at[l.from][0]+at[l.to][0])/2, (at[l.from][1]+at[l.to][1])/2, l.delay, "faint halo")
		}
	}
	d.WriteString("</g>\n")
	fmt.Fprintf(d, `<rect class="grid" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`+"\n", margin, mapTop, mapWide, mapHigh)
}

// label writes a text beside a point: right of it, left, above or below, where it meets no other and stays on the map, or not at all; the strip has it in any case.
func (d *drawing) label(taken []area, x, y float64, text, class string) []area {
	const high, away = 14.0, 9.0
	wide := letterOf(class) * float64(len([]rune(text)))
	for _, corner := range [][2]float64{{x + away, y - high/2}, {x - away - wide, y - high/2}, {x - wide/2, y - away - high}, {x - wide/2, y + away}} {
		a := area{corner[0], corner[1], corner[0] + wide, corner[1] + high}
		free := a.left >= margin && a.right <= margin+mapWide && a.top >= mapTop && a.bottom <= mapTop+mapHigh
		for _, t := range taken {
			free = free && !a.meets(t)
		}
		if free {
			d.text(a.left, a.bottom-3, class, text)
			return append(taken, a)
		}
	}
	return taken
}
