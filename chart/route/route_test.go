package route

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

var update = flag.Bool("update", false, "write the golden files anew")

func result() *measure.Result {
	return &measure.Result{Source: measure.Endpoint{Name: "bob", Address: "10.0.0.1"}, Target: measure.Endpoint{Name: "carol", Address: "10.0.5.2"},
		Started: time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)}
}

func at(city, country string, position ...float64) *measure.Place {
	p := &measure.Place{City: city, Country: country}
	if position != nil {
		p.Position = &measure.Position{Latitude: position[0], Longitude: position[1]}
	}
	return p
}

// single is a route of hops: one is silent, and two routers answer at one.
func single() *measure.Result {
	r := result()
	hop := func(ttl int, rtt float64, addresses ...string) {
		h := measure.Hop{TTL: ttl, Addresses: addresses, RTTSeconds: []*float64{nil}}
		if len(addresses) > 0 {
			h.RTTSeconds = []*float64{&rtt}
		}
		r.Samples.Hops = append(r.Samples.Hops, h)
	}
	hop(1, 0.002, "10.0.0.2")
	hop(2, 0.010, "10.0.1.2")
	hop(3, 0)
	hop(4, 0.016, "10.0.3.2", "10.0.3.3")
	hop(5, 0.100, "10.0.5.2")
	r.Samples.Route = &measure.RouteSample{Reached: true}
	r.Samples.Addresses = []measure.AddressInfo{
		{Address: "10.0.0.2", Name: "home.example.net", ASN: 64500, ASName: "EXAMPLE", Owner: "Example University", Country: "CH"},
		{Address: "10.0.1.2", Name: `<script>alert("1")</script> & 'co'` + "\x00\x1b\ufffe\xff\\n", ASN: 64501},
		{Address: "10.0.5.2", ASN: 64500, ASName: "EXAMPLE"},
	}
	return r
}

// placed is the route of single, with places; the source and hop 5 share one.
func placed() *measure.Result {
	r := single()
	r.Samples.Addresses = append(r.Samples.Addresses, measure.AddressInfo{Address: "10.0.0.1", Place: at("Geneva", "CH", 46.2, 6.14)}, measure.AddressInfo{Address: "10.0.3.2", Place: at("", "FR")})
	for i, p := range []*measure.Place{at("Geneva", "CH", 46.2, 6.14), at("Paris", "FR", 48.86, 2.35), at("New York", "US", 40.71, -74.01)} {
		r.Samples.Addresses[i].Place = p
	}
	return r
}

// paths is a route of several ways, one of them doubtful, and one behind a translator.
func paths() *measure.Result {
	r := result()
	r.Samples.Addresses = []measure.AddressInfo{{Address: "10.0.0.2", Place: at("Tokyo", "JP", 35.68, 139.69)}, {Address: "10.0.1.2", Place: at("Seattle", "US", 47.61, -122.33)},
		{Address: "10.0.5.2", Place: at("Los Angeles", "US", 34.05, -118.24)}}
	rtt := 0.001
	p := &measure.PathsSample{Confidence: 0.95, Complete: true}
	p.Vertices = []measure.PathVertex{{TTL: 1, Address: "10.0.0.2", RTT: &rtt, Balancing: "flow"}, {TTL: 2, Address: "10.0.1.2", Balancing: "packet"}, {TTL: 2, Address: "10.0.2.2"}, {TTL: 2},
		{TTL: 3, Address: "10.0.3.2"}, {TTL: 3, Address: "10.0.4.2"}, {TTL: 4, Address: "10.0.5.2", Final: true}}
	p.Links = []measure.PathLink{{From: 0, To: 1, Certain: true}, {From: 0, To: 2, Certain: true}, {From: 0, To: 3, Certain: true}, {From: 1, To: 5}, {From: 1, To: 4}, {From: 2, To: 5, Certain: true, Translated: true},
		{From: 3, To: 4, Certain: true}, {From: 4, To: 6, Certain: true}, {From: 5, To: 6, Certain: true}, {From: 6, To: 99}, {From: -5, To: 1}, {From: 3, To: 2}}
	r.Samples.Paths = p
	return r
}

func TestGolden(t *testing.T) {
	for name, got := range map[string][]byte{
		"hops.svg": Map(single()), "map.svg": Map(placed()), "pacific.svg": Map(paths()),
		"graph.svg": Graph(placed()), "paths.svg": Graph(paths()), "hops.dot": DOT(single()), "paths.dot": DOT(paths()),
	} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), string(got)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if strings.HasSuffix(name, ".svg") {
			if err := harmless(got); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// harmless holds a drawing to be well-formed XML of the few elements and attributes that drawings have.
func harmless(svg []byte) error {
	elements := []string{"svg", "title", "style", "rect", "text", "path", "circle", "g", "clipPath"}
	attributes := []string{"xmlns", "width", "height", "viewBox", "role", "fill", "x", "y", "class", "d", "rx", "cx", "cy", "r", "text-anchor", "clip-path", "id"}
	in := xml.NewDecoder(strings.NewReader(string(svg)))
	for open := 0; ; {
		token, err := in.Token()
		if errors.Is(err, io.EOF) && open == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			open++
			if !slices.Contains(elements, token.Name.Local) {
				return fmt.Errorf("an element %s", token.Name.Local)
			}
			for _, a := range token.Attr {
				if !slices.Contains(attributes, a.Name.Local) || strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					return fmt.Errorf("an attribute %s=%q", a.Name.Local, a.Value)
				}
			}
		case xml.EndElement:
			open--
		}
	}
}

// A route of which nothing is known, and those that only a file could have, are drawn, too.
func TestOddRoutes(t *testing.T) {
	crowd := result()
	for ttl := range 3 {
		h := measure.Hop{TTL: ttl - 1}
		for i := range 900 {
			h.Addresses = append(h.Addresses, fmt.Sprint(i))
		}
		crowd.Samples.Hops = append(crowd.Samples.Hops, h)
	}
	poles := placed()
	for i, latitude := range []float64{90, -90, 91} {
		poles.Samples.Addresses[i].Place.Position = &measure.Position{Latitude: latitude, Longitude: 180 * float64(i)}
	}
	for name, r := range map[string]*measure.Result{"nothing": {}, "no hops": result(), "a crowd": crowd, "the poles": poles,
		"no vertices": {Samples: measure.Samples{Paths: &measure.PathsSample{Links: []measure.PathLink{{From: 0, To: 1}}}}}} {
		for kind, svg := range map[string][]byte{"graph": Graph(r), "map": Map(r)} {
			if err := harmless(svg); err != nil {
				t.Errorf("%s of %s: %v", kind, name, err)
			}
		}
		if !strings.HasSuffix(string(DOT(r)), "}\n") {
			t.Errorf("DOT of %s has no end", name)
		}
	}
	if w := wayOf(crowd); len(w.nodes) != mostNodes || len(w.links) != mostLinks {
		t.Errorf("a crowd has %d nodes and %d links", len(w.nodes), len(w.links))
	}
}

// The order of a hop's boxes leaves no crossing that need not be.
func TestOrdered(t *testing.T) {
	r := result()
	r.Samples.Paths = &measure.PathsSample{}
	for ttl := 1; ttl <= 3; ttl++ {
		for i := range 3 {
			r.Samples.Paths.Vertices = append(r.Samples.Paths.Vertices, measure.PathVertex{TTL: ttl, Address: fmt.Sprintf("10.0.%d.%d", ttl, i)})
		}
	}
	for _, l := range [][2]int{{0, 5}, {1, 3}, {2, 4}, {5, 7}, {3, 8}, {4, 6}} {
		r.Samples.Paths.Links = append(r.Samples.Paths.Links, measure.PathLink{From: l[0], To: l[1], Certain: true})
	}
	w := wayOf(r)
	if d := cmp.Diff([][]int{{0}, {1, 2, 3}, {6, 4, 5}, {8, 9, 7}}, w.ordered()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestDegrees(t *testing.T) {
	for want, v := range map[string]float64{"46°N": 46, "0.5°S": -0.5, "0°": 0, "180°": -180} {
		if got := degrees(v, "N", "S"); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
}

func FuzzDrawings(f *testing.F) {
	f.Add("<a href='javascript:x'>&amp;\"\\", "\x00\xff", 1e300, -1e300)
	f.Fuzz(func(t *testing.T, name, owner string, latitude, rtt float64) {
		r := placed()
		r.Target.Name, r.Source.Name = owner, name
		r.Samples.Addresses[0].Name, r.Samples.Addresses[0].Owner = name, owner
		r.Samples.Addresses[0].Place.City = name
		r.Samples.Addresses[0].Place.Position.Latitude = latitude
		r.Samples.Hops[0].RTTSeconds[0] = &rtt
		for _, svg := range [][]byte{Map(r), Graph(r)} {
			if rtt == rtt && rtt > -1e300 && rtt < 1e300 { // JSON has no others
				if err := harmless(svg); err != nil {
					t.Fatal(err)
				}
			}
		}
		if text := string(DOT(r)); strings.Count(strings.NewReplacer(`\\`, "", `\"`, "").Replace(text), `"`)%2 != 0 {
			t.Fatal(text)
		}
	})
}
