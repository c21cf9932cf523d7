package config

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// parsed reads a mesh file without checking kinds, and fails the test if it is wrong.
func parsed(t testing.TB, text string) *Mesh {
	t.Helper()
	m, err := Parse([]File{{"mesh.yaml", []byte(text)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// pairNames prints the pairs of a test: "a>b c>d".
func pairNames(m *Mesh, test string) string {
	var all []string
	for s, d := range m.Pairs(m.Test(test)) {
		all = append(all, m.Hosts[s].Name+">"+m.Hosts[d].Name)
	}
	return strings.Join(all, " ")
}

const fourHosts = `
hosts:
  a: {address: 10.0.0.1, site: X}
  b: {address: 10.0.0.2, site: X, labels: [l]}
  c: {address: 10.0.0.3, site: Y, labels: [l]}
  r: {address: 10.0.0.4, reach: responder}
  o: {address: 10.0.0.5, online: false}
tools: {rtt: {probe: ping}, bulk: {probe: throughput}, self: {probe: host}}
`

func TestPairsOfEachShape(t *testing.T) {
	cases := map[string]string{
		"{mesh: all}":                                        "a>b a>c a>r b>a b>c b>r c>a c>b c>r",
		"{mesh: [c, site:X, c]}":                             "c>a c>b a>c a>b b>c b>a",
		"{star: {centre: a, leaves: [b, r]}}":                "a>b a>r b>a",
		"{star: {centre: a, leaves: [b, r], one_way: true}}": "a>b a>r",
		"{sides: {left: site:X, right: label:l}}":            "a>b a>c b>c b>a c>a c>b",
		"{sides: {left: [a, b], right: [a, b]}}":             "a>b b>a",
		"{pairs: [[c, a], [a, r], [c, a]]}":                  "c>a a>r",
		"{mesh: [a, group:other]}":                           "a>b a>c b>a b>c c>a c>b",
		"{mesh: [a, o, b]}":                                  "a>b b>a",
	}
	for group, want := range cases {
		m := parsed(t, fourHosts+"groups:\n  g: "+group+"\n  other: {mesh: [b, c]}\n"+
			"tests: [{name: t, tool: rtt, group: g, schedule: {every: 1m}}]\n")
		if got := pairNames(m, "t"); got != want {
			t.Errorf("%s: got  %s\nwant %s", group, got, want)
		}
	}
	m := parsed(t, fourHosts+"groups: {g: {list: all}}\ntests: [{name: t, tool: self, group: g, schedule: {every: 1m}}]\n")
	if got, want := pairNames(m, "t"), "a>a b>b c>c"; got != want {
		t.Errorf("list: got %s, want %s", got, want)
	}
}

func TestExclusions(t *testing.T) {
	const all = "a>b a>c b>a b>c c>a c>b"
	cases := map[string]string{
		"{tool: bulk}":                 all,
		"{tool: rtt}":                  "",
		"{tool: [bulk, rtt], test: t}": "",
		"{test: u}":                    all,
		"{host: a}":                    "b>c c>b",
		"{source: a}":                  "b>a b>c c>a c>b",
		"{target: [a, b]}":             "a>c b>c",
		"{source: a, target: label:l}": "b>a b>c c>a c>b",
		"{source: a, target: label:l, direction: both}":    "b>c c>b",
		"{source: a, target: label:l, direction: reverse}": "a>b a>c b>c c>b",
		"{pair: [a, b]}":                     "a>c b>c c>a c>b",
		"{pair: [a, b], direction: forward}": "a>c b>a b>c c>a c>b",
		"{pair: [[a, b], [b, c]]}":           "a>c c>a",
		"{pair: [site:X, site:Y]}":           "a>b b>a",
		"{host: a, hours: 00:00-24:00}":      all,
		"{host: a, tool: bulk}":              all,
	}
	for exclude, want := range cases {
		m := parsed(t, fourHosts+"groups: {g: {mesh: [a, b, c]}}\nexclude: ["+exclude+"]\n"+
			"tests: [{name: t, tool: rtt, group: g, schedule: {every: 1m}}, {name: u, tool: bulk, group: g, schedule: {every: 1m}}]\n")
		if got := pairNames(m, "t"); got != want {
			t.Errorf("%s: got  %s\nwant %s", exclude, got, want)
		}
	}
}

func TestHours(t *testing.T) {
	// Clocks in London go forward on 29 March 2026 at 01:00 UTC.
	zone, err := time.LoadLocation("Europe/London")
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) time.Time {
		v, err := time.ParseInLocation("2006-01-02 15:04", text, zone)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	cases := []struct {
		exclude string
		from    string
		last    time.Duration
		allowed bool
	}{
		{"hours: 08:00-18:00", "2026-01-05 07:59", 30 * time.Second, true},
		{"hours: 08:00-18:00", "2026-01-05 07:59", 2 * time.Minute, false},
		{"hours: 08:00-18:00", "2026-01-05 18:00", time.Hour, true},
		{"hours: 08:00-18:00", "2026-01-05 17:59", time.Hour, false},
		{"hours: 08:00-18:00", "2026-07-06 08:00", time.Second, false},
		{"hours: 08:00-18:00", "2026-07-06 07:30", time.Second, true},
		{"hours: 22:00-06:00", "2026-01-05 05:59", time.Second, false},
		{"hours: 22:00-06:00", "2026-01-05 06:00", time.Hour, true},
		{"hours: 22:00-06:00, days: fri", "2026-01-10 05:00", time.Second, false}, // Saturday
		{"hours: 22:00-06:00, days: fri", "2026-01-09 05:00", time.Second, true},
		{"days: sat-sun", "2026-01-10 12:00", time.Second, false},
		{"days: sat-sun", "2026-01-12 00:00", time.Hour, true},
		{"days: [mon, wed]", "2026-01-05 23:59", time.Hour, false},
		{"days: sun-mon", "2026-01-05 23:59", time.Second, false},
		{"hours: 00:00-24:00", "2026-01-05 12:00", 0, false},
		{"hours: [06:00-07:00, 20:00-21:00]", "2026-01-05 07:00", 14 * time.Hour, false},
		{"hours: [06:00-07:00, 20:00-21:00]", "2026-01-05 07:00", 13 * time.Hour, true},
		{"hours: 08:00-18:00", "2026-01-05 08:00", 0, false},
		{"hours: 00:30-03:00", "2026-03-29 02:30", time.Second, false}, // 02:30 is 01:30 UTC, the clock shows 02:30
		{"hours: 00:30-03:00", "2026-03-29 03:00", time.Hour, true},
	}
	for _, c := range cases {
		m := parsed(t, fourHosts+"groups: {g: {mesh: [a, b, c]}}\nexclude: [{host: a, zone: Europe/London, "+c.exclude+"}]\n"+
			"tests: [{name: t, tool: rtt, group: g, schedule: {every: 1m}}]\n")
		a, b, other := 0, 1, 2
		test, from := m.Test("t"), at(c.from)
		to := from.Add(c.last)
		if got := m.Allowed(test, a, b, from, to); got != c.allowed {
			t.Errorf("%s, %s for %v: allowed %v, want %v", c.exclude, c.from, c.last, got, c.allowed)
		}
		if x := m.Excluded("rtt", b, a, from, to); (x == nil) != c.allowed {
			t.Errorf("%s, %s: on demand excluded by %v, want %v", c.exclude, c.from, x, !c.allowed)
		}
		if !m.Allowed(test, b, other, from, to) || !test.Timed() {
			t.Errorf("%s: other pairs are not allowed, or not timed", c.exclude)
		}
	}
}

func TestAThousandHosts(t *testing.T) {
	m := parsed(t, bigMesh(1000))
	pairs, first, last := 0, [2]int{}, [2]int{}
	for s, d := range m.Pairs(&m.Tests[0]) {
		if pairs == 0 {
			first = [2]int{s, d}
		}
		last = [2]int{s, d}
		pairs++
	}
	if got, want := fmt.Sprint(pairs, first, last), "999000 [0 1] [999 998]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	allocated := testing.AllocsPerRun(1, func() {
		for range m.Pairs(&m.Tests[0]) {
		}
	})
	if allocated > 100 {
		t.Errorf("%v allocations for an expansion; want none a pair", allocated)
	}
}

// bigMesh is the text of a mesh of so many hosts, with exclusions and a budget.
func bigMesh(hosts int) string {
	var b strings.Builder
	b.WriteString("hosts:\n")
	for i := range hosts {
		fmt.Fprintf(&b, "  host%d: {address: [10.1.%d.%d, fd00::%x], site: S%d, labels: [l%d], rate: 1gbit, limits: {daily: 50GB}}\n",
			i, i/250, i%250, i+1, i%50, i%7)
	}
	b.WriteString(`
tools: {rtt: {probe: ping}, bulk: {probe: throughput}}
groups: {all: {mesh: all}}
tests: [{tool: [rtt, bulk], group: all, schedule: {every: 6h}}]
exclude:
  - {tool: bulk, host: label:l3}
  - {tool: bulk, host: site:S3, hours: 08:00-18:00, days: mon-fri, zone: Europe/London}
`)
	return b.String()
}

func BenchmarkParse1000(b *testing.B) {
	text := bigMesh(1000)
	for b.Loop() {
		parsed(b, text)
	}
}

func BenchmarkPairs(b *testing.B) {
	m := parsed(b, bigMesh(1000))
	for b.Loop() {
		n := 0
		for range m.Pairs(&m.Tests[1]) {
			n++
		}
	}
}
