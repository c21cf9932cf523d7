package calc

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/model"
)

// inputsOf reads "rate=100mbit rtt=50ms", or an example of the command line.
func inputsOf(text string) map[string]string {
	given := map[string]string{}
	if strings.HasPrefix(text, "--") {
		words := strings.Fields(text)
		for i := 0; i < len(words); i += 2 {
			given[strings.TrimPrefix(words[i], "--")] = words[i+1]
		}
		return given
	}
	for _, pair := range strings.Fields(text) {
		name, value, _ := strings.Cut(pair, "=")
		given[name] = value
	}
	return given
}

func find(t *testing.T, name string) Formula {
	t.Helper()
	f, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Each formula is whole, and each of its examples has an answer and a drawing in which the answer lies on a curve.
func TestEveryFormula(t *testing.T) {
	for _, f := range All() {
		if f.Title == "" || f.Source == "" || len(f.Examples) == 0 || len(f.Inputs) == 0 {
			t.Errorf("%s is not whole", f.Name)
		}
		for _, i := range f.Inputs {
			if i.Kind == "" || i.Usage == "" || i.Optional && i.Default != "" || (i.Kind == Choice) != (len(i.Choices) > 0) {
				t.Errorf("%s: input %+v", f.Name, i)
			}
			if _, err := i.parse(i.Default); i.Default != "" && err != nil {
				t.Errorf("%s: the default of %s: %v", f.Name, i.Name, err)
			}
		}
		for _, example := range f.Examples {
			answer, drawings, err := f.Draw(inputsOf(example))
			if err != nil || len(answer.Lines) == 0 || len(drawings) == 0 {
				t.Errorf("%s %s: %v, %d lines, %d drawings", f.Name, example, err, len(answer.Lines), len(drawings))
			}
			for _, l := range answer.Lines {
				if l.Label == "" || l.Text == "" || (l.Formula == "") != (l.Numbers == "") || l.Unit != "" && l.Name != "" && !strings.HasSuffix("_"+l.Name, "_"+l.Unit) {
					t.Errorf("%s %s: line %+v", f.Name, example, l)
				}
			}
			for _, d := range drawings {
				checkDrawing(t, f.Name+" "+example, d)
			}
		}
	}
}

func checkDrawing(t *testing.T, of string, d Drawing) {
	t.Helper()
	if d.Title == "" || d.X.Label == "" || d.Y.Label == "" || len(d.Series) == 0 {
		t.Errorf("%s: a drawing without words", of)
	}
	for _, s := range d.Series {
		if s.Label == "" || len(s.Points) < 2 || len(s.Points) > 200 {
			t.Errorf("%s: %q has %d points", of, s.Label, len(s.Points))
		}
		for i, p := range s.Points {
			if i > 0 && p[0] < s.Points[i-1][0] {
				t.Errorf("%s: %q goes back at point %d", of, s.Label, i)
			}
		}
	}
	on := false
	for _, s := range d.Series {
		y, ok := at(s, d.Mark[0], d.X.Log)
		on = on || ok && math.Abs(y-d.Mark[1]) <= 0.02*math.Abs(d.Mark[1])
	}
	if !on {
		t.Errorf("%s: %v is on no curve of %q", of, d.Mark, d.Title)
	}
}

// at is y of a series at x, as it is drawn.
func at(s Series, x float64, log bool) (float64, bool) {
	for i := len(s.Points) - 1; i > 0; i-- { // where it falls at once, its value is the one before
		a, b := s.Points[i-1], s.Points[i]
		if math.Abs(x-b[0]) <= 1e-9*x {
			if a[0] == b[0] {
				return math.Max(a[1], b[1]), true
			}
			return b[1], true
		}
		if a[0] <= x*(1+1e-9) && x < b[0] {
			share := (x - a[0]) / (b[0] - a[0])
			if log {
				share = math.Log(x/a[0]) / math.Log(b[0]/a[0])
				return a[1] * math.Pow(b[1]/a[1], share), true
			}
			return a[1] + share*(b[1]-a[1]), true
		}
	}
	return 0, false
}

// What the drawings show, at points that can be reckoned by hand.
func TestDrawings(t *testing.T) {
	type point struct {
		series int
		x, y   float64
	}
	cases := []struct {
		name, in string
		mark     Point
		points   []point
	}{
		{"bdp", "rate=100mbit rtt=50ms", Point{0.05, 625e3}, []point{{0, 0.025, 312500}, {0, 0.1, 1.25e6}}},
		{"window", "window=62500 rtt=50ms rate=100mbit", Point{0.05, 10e6}, []point{{0, 0.005, 100e6}, {0, 0.5, 1e6}, {1, 0.5, 100e6}}},
		{"mathis", "mss=1000 rtt=80ms loss=0.01% c=1", Point{1e-4, 10e6}, []point{{0, 1e-6, 100e6}, {0, 1e-2, 1e6}}},
		{"mathis", "mss=1000 rtt=80ms loss=4% c=1", Point{0.04, 5e5}, []point{{0, 1, 1e5}}},
		{"padhye", "mss=1000 rtt=40ms loss=6%", Point{0.06, model.Padhye(1000, 40*time.Millisecond, 0.06)}, []point{{1, 0.06, 1000 * 8 / 0.008}}},
		{"lossbudget", "rate=100mbit rtt=80ms mss=1000 c=1 loss=0.01%", Point{0.08, 1e-6}, []point{{0, 0.8, 1e-8}, {1, 0.8, 1e-4}}},
		{"slowstart", "rtt=50ms rate=16mbit mss=1000", Point{4, 1e5}, []point{{0, 0, 1e4}, {0, 3, 8e4}, {0, 6, 1e5}}},
		{"slowstart", "rtt=50ms size=50000 mss=1000", Point{3, 5e4}, []point{{0, 3, 8e4}, {1, 1, 1e4}, {1, 2, 3e4}, {1, 3, 5e4}}},
		{"recovery", "rate=80mbit rtt=100ms mss=1000", Point{50, 1000}, []point{{0, 25, 750}, {0, 75, 750}, {1, 0, 1000}, {0, 100, 1000}}},
		{"overhead", "mtu=1000 framing=0 tcp-options=0", Point{1000, 0.96}, []point{{0, 9000, 8960.0 / 9000}, {1, 9000, 1}}},
		{"transfer", "size=110000 rate=8416000 rtt=100ms mss=1000 framing=0", Point{0.44, 110000}, // payload: 8 Mbit/s
			[]point{{0, 0.1, 1e4}, {0, 0.2, 3e4}, {1, 0.05, 5e4}, {1, 0.11, 11e4}}},
		{"serialize", "size=1000 rate=8mbit", Point{8e6, 1e-3}, []point{{0, 80e6, 1e-4}}},
		{"propagate", "distance=299792458m velocity=50% rtt=9s", Point{299792458, 4}, []point{{0, 2 * 299792458, 8}, {1, 0, 9}}},
		{"turns", "rtt=75ms size=400kB chunk=4kB", Point{0.075, 7.5}, []point{{0, 0.15, 15}, {1, 0.15, 0.15}}},
		{"wrap", "rate=8mbit size=1000", Point{8e6, 1 << 32 / 1e6}, []point{{1, 8e6, 1 << 31 / 1e6}, {2, 8e6, 65.536}}},
		{"ber", "ber=1e-12 links=10", Point{1e-12, 1.2e-7}, []point{{0, 1e-10, 1.2e-5}}},
		{"hstcp", "mss=1000 rtt=80ms loss=0.00001%", Point{1e-7, 8.3e9}, []point{{0, 1e-9, 3.88e11}, {1, 1e-5, 379.47e5}}},
	}
	for _, c := range cases {
		_, drawings, err := find(t, c.name).Draw(inputsOf(c.in))
		if err != nil || len(drawings) != 1 {
			t.Errorf("%s %s: %d drawings, %v", c.name, c.in, len(drawings), err)
			continue
		}
		d := drawings[0]
		if diff := cmp.Diff(c.mark, d.Mark, cmpopts.EquateApprox(0.01, 0)); diff != "" {
			t.Errorf("%s %s: the mark (-want +got):\n%s", c.name, c.in, diff)
		}
		for _, p := range c.points {
			if y, ok := at(d.Series[p.series], p.x, d.X.Log); !ok || math.Abs(y-p.y) > 0.01*p.y {
				t.Errorf("%s %s: %q at %v is %v (%v), want %v", c.name, c.in, d.Series[p.series].Label, p.x, y, ok, p.y)
			}
		}
	}
}

// What is extreme has an answer whose drawing can be sent, or an error; never a value that JSON has no word for.
func TestExtremes(t *testing.T) {
	texts := map[Kind][]string{Rate: {"1", "1e308"}, Time: {"1ns", "290y", "2000000h"}, Size: {"0", "1", "9EB"}, Ratio: {"1e-300", "1"},
		Count: {"1", "2147483647"}, Number: {"1e-300", "1e300"}, Length: {"1e-300m", "1e300km"}}
	for _, f := range All() {
		for n := range 1 << len(f.Inputs) {
			given := map[string]string{}
			for i, input := range f.Inputs {
				all := texts[input.Kind]
				if input.Kind == Choice {
					all = input.Choices
				}
				given[input.Name] = all[(n>>i&1)*(len(all)-1)]
			}
			_, drawings, err := f.Draw(given)
			var bad interface{ BadInput() bool }
			if err != nil && (!errors.As(err, &bad) || !bad.BadInput()) {
				t.Errorf("%s %v: %v", f.Name, given, err)
			}
			for _, d := range drawings {
				points := []Point{d.Mark}
				for _, s := range d.Series {
					points = append(points, s.Points...)
				}
				for _, p := range points {
					if math.IsNaN(p[0]+p[1]) || math.IsInf(p[0], 0) || math.IsInf(p[1], 0) {
						t.Errorf("%s %v: point %v", f.Name, given, p)
					}
				}
			}
		}
	}
}

// What cannot be used is said with the input, its value, and what would be right.
func TestBadInputs(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"bdp", "rate=fast rtt=50ms", `rate: "fast": want a positive rate such as 100mbit or 1.5gbit`},
		{"bdp", "rate=1mbit", `rtt: "": want a duration such as 50ms, 1.5s or 2m; a bare number is seconds`},
		{"bdp", "rate=1mbit rtt=0", `rtt: "0": want a duration above zero such as 50ms`},
		{"bdp", "rate=1mbit rtt=1s speed=3", `speed: no such input; want one of rate, rtt`},
		{"bdp", "rate=1mbit rtt=1s z=1 y=2 x=3", `x: no such input; want one of rate, rtt`},
		{"window", "window=0 rtt=1ms", `window: "0": want a size above zero such as 1448 or 4MiB`},
		{"mathis", "rtt=1ms loss=0", `loss: "0": want a ratio above zero such as 0.0001 or 0.01%`},
		{"mathis", "rtt=1ms loss=1% c=inf", `c: "inf": want a number above zero such as 0.7`},
		{"slowstart", "rtt=1ms", `rate, window, size: all are missing; want one, such as a rate of 100mbit`},
		{"slowstart", "rtt=1ms rate=1k initial-window=1.5", `initial-window: "1.5": want a whole number above zero such as 10`},
		{"overhead", "ip=5", `ip: "5": want 4 or 6`},
		{"overhead", "mtu=40", `mtu: "40": want more than the headers, 52 B`},
		{"propagate", "distance=12", `distance: "12": want a distance above zero with its unit, such as 1200km, 750mi or 100m`},
		{"turns", "rtt=1ms size=3", `turns, chunk: want turns such as 12, or size and chunk such as 400kB and 4kB`},
		{"wrap", "rate=1mbit bits=16", `bits: "16": want 32 or 64`},
		{"bdp", "rate=1e308 rtt=290h", `bdp_bytes: the answer is out of range; want less extreme inputs`},
	} {
		_, drawings, err := find(t, c.name).Draw(inputsOf(c.in))
		var bad interface{ BadInput() bool }
		if err == nil || err.Error() != c.want || !errors.As(err, &bad) || !bad.BadInput() || drawings != nil {
			t.Errorf("%s %s:\ngot  %v\nwant %s", c.name, c.in, err, c.want)
		}
	}
	var unknown *UnknownError
	if _, err := Find("speed"); !errors.As(err, &unknown) || !unknown.BadInput() || !strings.Contains(err.Error(), "want one of bdp, window,") {
		t.Errorf("an unknown formula: %v", err)
	}
}

func TestGrouped(t *testing.T) {
	cases := map[float64]string{0: "0", 999: "999", 999.5: "1,000", 575094.4: "575,094", 1234567: "1,234,567", 1e18: "1e+18", math.Inf(1): "+Inf"}
	for in, want := range cases {
		if got := grouped(in); got != want {
			t.Errorf("grouped(%v) = %s, want %s", in, got, want)
		}
	}
}
