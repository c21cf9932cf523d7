package route

import (
	"fmt"
	"math"
)

// The room of the map itself.
const (
	mapHigh  = 400.0
	mapWide  = stripWide - 2*margin
	mapInset = 60.0 // on each side, for labels
)

// leastSpan is how many degrees of latitude a map shows at least, some 200 km: fewer would look as if places were known better than by their city.
const leastSpan = 2.0

// projection is an equirectangular one whose scale is right along the latitude in the middle: x goes with longitude, y with latitude.
type projection struct {
	latitude, longitude float64 // in the middle, degrees
	scale               float64 // units for a degree of latitude
	narrow              float64 // a degree of longitude, in those of latitude
}

// projectionOf shows all places. Longitudes are taken on the side of the first place's antimeridian that is nearer to it, so that a route over the Pacific is one
// line.
func projectionOf(spots []spot) projection {
	first := spots[0].at
	low, high, west, east := first.Latitude, first.Latitude, first.Longitude, first.Longitude
	for _, s := range spots {
		low, high = min(low, s.at.Latitude), max(high, s.at.Latitude)
		x := near(s.at.Longitude, first.Longitude)
		west, east = min(west, x), max(east, x)
	}
	p := projection{latitude: (low + high) / 2, longitude: (west + east) / 2}
	const mostNarrow = 0.2 // beyond 78 degrees, where a map of this kind is of no use
	p.narrow = max(math.Cos(p.latitude*math.Pi/180), mostNarrow)
	p.scale = min((mapHigh-2*mapInset)/max(high-low, leastSpan), (mapWide-2*mapInset)/max((east-west)*p.narrow, leastSpan))
	return p
}

// near is a longitude, turned by whole circles to within 180 degrees of another.
func near(longitude, other float64) float64 {
	return longitude - 360*math.Round((longitude-other)/360)
}

// xy is where a place is drawn.
func (p projection) xy(latitude, longitude float64) (x, y float64) {
	return margin + mapWide/2 + (longitude-p.longitude)*p.narrow*p.scale, mapTop + mapHigh/2 - (latitude-p.latitude)*p.scale
}

// steps are what lines of a grid may be apart, in degrees.
var steps = []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60}

// grid draws meridians and parallels, with their degrees at the edges.
func (d *drawing) grid(p projection) {
	const mostLines = 9 // across the drawing: more would be in the way of the route
	tall, wide := mapHigh/2/p.scale, mapWide/2/p.scale/p.narrow
	step := steps[len(steps)-1]
	for _, s := range steps {
		if 2*max(tall, wide)/s <= mostLines {
			step = s
			break
		}
	}
	for v := math.Ceil((p.longitude-wide)/step) * step; v <= p.longitude+wide; v += step {
		x, _ := p.xy(p.latitude, v)
		d.line(x, mapTop, x, mapTop+mapHigh, "grid")
		d.middle(x, mapTop+mapHigh-4, "faint", degrees(near(v, 0), "E", "W"))
	}
	for v := math.Ceil(max(p.latitude-tall, -90)/step) * step; v <= min(p.latitude+tall, 90); v += step {
		_, y := p.xy(v, p.longitude)
		d.line(margin, y, margin+mapWide, y, "grid")
		d.text(margin+4, y-3, "faint", degrees(v, "N", "S"))
	}
}

// degrees is an angle as maps have it: 46°N.
func degrees(v float64, positive, negative string) string {
	v = math.Round(v*10) / 10
	switch {
	case v > 0 && v < 180:
		return fmt.Sprintf("%g°%s", v, positive)
	case v < 0 && v > -180:
		return fmt.Sprintf("%g°%s", -v, negative)
	}
	return fmt.Sprintf("%g°", math.Abs(v))
}
