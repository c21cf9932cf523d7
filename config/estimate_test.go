package config

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// demands are round figures: a ping is 1,000 bytes, a transfer lasts 10 s and fills the path.
func demands(task measure.Task) measure.Demand {
	switch task.Kind {
	case "ping":
		return measure.Demand{DurationSeconds: 2, Bytes: 1000, BitsPerSecond: 8000, ResultBytes: 1020}
	case "throughput":
		if rate, given := numberOf(task.Parameters, "rate", quantity.ParseRate); given {
			return measure.Demand{DurationSeconds: 10, Exclusive: true, Bytes: rate * 10 / 8, BitsPerSecond: rate, ResultBytes: 34150}
		}
		return measure.Demand{DurationSeconds: 10, Exclusive: true, ResultBytes: 34150}
	}
	return measure.Demand{Exclusive: task.Kind == KindCommand, DurationSeconds: 1, ResultBytes: 370}
}

const estimated = `
sites: {X: {rate: 100mbit, budget: {rate: 50mbit}}, Y: {rate: 1gbit}}
hosts:
  a: {interfaces: {eth0: {address: 10.0.0.1, rate: 1gbit}, eth1: {address: 10.0.1.1, rate: 10mbit}}, site: X, limits: {daily: 1GB}}
  b: {address: 10.0.0.2, rate: 10gbit, site: X, tools: {bulk: {rate: 4mbit}}}
  c: {address: 10.0.0.3, site: Y}
  r: {address: 10.0.0.4, reach: responder}
tools:
  rtt: {probe: ping}
  bulk: {probe: throughput}
  cp: {command: "cp {target}", parse: {a_seconds: "(.)"}, timeout: 90s, needs: {bytes: 1MB}}
  own: {probe: host, exclusive: true}
  off: {probe: ping, online: false}
groups: {g: {mesh: all}, ab: {pairs: [[a, b]]}, ac: {pairs: [[a, c]]}, bc: {pairs: [[b, c]]}, l: {list: [a]}, e: {pairs: [[a/eth1, c]]}}
tests:
`

func TestEstimate(t *testing.T) {
	const held = 44680851. // payload within 50 Mbit/s
	year := func(results, bytes float64) float64 { return 365 * results * bytes }
	cases := []struct {
		tests   string
		test    Usage
		a, c    Usage
		x       Usage
		archive float64
	}{
		{
			"- {name: t, tool: rtt, group: ac, schedule: {every: 1m}}",
			Usage{Name: "t", Pairs: 1, RunsPerDay: 1440, BytesPerDay: 1.44e6, MeanBitsPerSecond: 400. / 3, PeakBitsPerSecond: 8000},
			Usage{Name: "a", Pairs: 1, RunsPerDay: 1440, BytesPerDay: 1.44e6, MeanBitsPerSecond: 400. / 3, PeakBitsPerSecond: 8000},
			Usage{Name: "c", Pairs: 1, RunsPerDay: 1440, BytesPerDay: 1.44e6, MeanBitsPerSecond: 400. / 3, PeakBitsPerSecond: 8000},
			Usage{Name: "X", Pairs: 1, RunsPerDay: 1440, BytesPerDay: 1.44e6, MeanBitsPerSecond: 400. / 3, PeakBitsPerSecond: 8000},
			year(1440, 1020),
		},
		{ // within a site its link is not crossed; a run moves no more than a day's budget
			"- {name: t, tool: bulk, group: ab, schedule: {cron: '0 */6 * * *'}}",
			Usage{Name: "t", Pairs: 1, RunsPerDay: 4, BytesPerDay: 4e9, BusySecondsPerDay: 40, MeanBitsPerSecond: 3.2e10 / 86400, PeakBitsPerSecond: 1e9},
			Usage{Name: "a", Pairs: 1, RunsPerDay: 4, BytesPerDay: 4e9, BusySecondsPerDay: 40, MeanBitsPerSecond: 3.2e10 / 86400, PeakBitsPerSecond: 1e9,
				Over: []Excess{{"daily", 1e9, 4e9}}},
			Usage{Name: "c"}, Usage{Name: "X"}, year(4, 34150),
		},
		{ // the site's budget holds it back
			"- {name: t, tool: bulk, group: ac, schedule: {every: 1d}}",
			Usage{Name: "t", Pairs: 1, RunsPerDay: 1, BytesPerDay: held * 10 / 8, BusySecondsPerDay: 10, MeanBitsPerSecond: held * 10 / 86400, PeakBitsPerSecond: held},
			Usage{Name: "a", Pairs: 1, RunsPerDay: 1, BytesPerDay: held * 10 / 8, BusySecondsPerDay: 10, MeanBitsPerSecond: held * 10 / 86400, PeakBitsPerSecond: held},
			Usage{Name: "c", Pairs: 1, RunsPerDay: 1, BytesPerDay: held * 10 / 8, BusySecondsPerDay: 10, MeanBitsPerSecond: held * 10 / 86400, PeakBitsPerSecond: held},
			Usage{Name: "X", Pairs: 1, RunsPerDay: 1, BytesPerDay: held * 10 / 8, BusySecondsPerDay: 10, MeanBitsPerSecond: held * 10 / 86400, PeakBitsPerSecond: held},
			year(1, 34150),
		},
		{ // a command's own needs and timeout
			"- {name: t, tool: cp, group: bc, schedule: {every: 12h}}",
			Usage{Name: "t", Pairs: 1, RunsPerDay: 2, BytesPerDay: 2e6, BusySecondsPerDay: 2, MeanBitsPerSecond: 16e6 / 86400, PeakBitsPerSecond: 1e8},
			Usage{Name: "a"},
			Usage{Name: "c", Pairs: 1, RunsPerDay: 2, BytesPerDay: 2e6, BusySecondsPerDay: 2, MeanBitsPerSecond: 16e6 / 86400, PeakBitsPerSecond: 1e8},
			Usage{Name: "X", Pairs: 1, RunsPerDay: 2, BytesPerDay: 2e6, BusySecondsPerDay: 2, MeanBitsPerSecond: 16e6 / 86400, PeakBitsPerSecond: 1e8,
				Over: []Excess{{"rate", 50e6, 1e8}}},
			year(2, 370),
		},
		{ // excluded for half of the day
			"- {name: t, tool: rtt, group: ac, schedule: {every: 1m}}\nexclude: [{host: a, hours: 06:00-18:00}, {host: c, hours: 12:00-18:00}]",
			Usage{Name: "t", Pairs: 1, RunsPerDay: 720, BytesPerDay: 720e3, MeanBitsPerSecond: 200. / 3, PeakBitsPerSecond: 8000},
			Usage{Name: "a", Pairs: 1, RunsPerDay: 720, BytesPerDay: 720e3, MeanBitsPerSecond: 200. / 3, PeakBitsPerSecond: 8000},
			Usage{Name: "c", Pairs: 1, RunsPerDay: 720, BytesPerDay: 720e3, MeanBitsPerSecond: 200. / 3, PeakBitsPerSecond: 8000},
			Usage{Name: "X", Pairs: 1, RunsPerDay: 720, BytesPerDay: 720e3, MeanBitsPerSecond: 200. / 3, PeakBitsPerSecond: 8000},
			year(720, 1020),
		},
		{
			"- {name: t, tool: off, group: ac, schedule: {every: 1m}}",
			Usage{Name: "t"}, Usage{Name: "a"}, Usage{Name: "c"}, Usage{Name: "X"}, 0,
		},
	}
	for _, c := range cases {
		m := parsed(t, estimated+"  "+c.tests+"\n")
		e := m.Estimate(demands, nil)
		got := []Usage{e.Tests[0], e.Hosts[0], e.Hosts[2], e.Sites[0]}
		if diff := cmp.Diff([]Usage{c.test, c.a, c.c, c.x}, got, approximately); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.tests, diff)
		}
		if diff := cmp.Diff(c.archive, e.ArchiveBytesPerYear, approximately); diff != "" {
			t.Errorf("%s: archive (-want +got):\n%s", c.tests, diff)
		}
	}
}

// approximately forgives what floating point loses.
var approximately = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) })

func TestEstimateOfInterfaces(t *testing.T) {
	m := parsed(t, estimated+"  - {tool: bulk, group: e, schedule: {every: 5s}}\n  - {tool: own, group: l, schedule: {every: 1h}}\n")
	e := m.Estimate(demands, nil)
	const runs = 17280
	want := []Usage{
		{Name: "a eth0", Pairs: 1, RunsPerDay: 24, BusySecondsPerDay: 24},
		{Name: "a eth1", Pairs: 1, RunsPerDay: runs, BytesPerDay: runs * 12.5e6, BusySecondsPerDay: runs * 10,
			MeanBitsPerSecond: 2e7, PeakBitsPerSecond: 1e7, Over: []Excess{{"time", 86400, runs * 10}}},
		{Name: "b"},
		{Name: "c", Pairs: 1, RunsPerDay: runs, BytesPerDay: runs * 12.5e6, BusySecondsPerDay: runs * 10,
			MeanBitsPerSecond: 2e7, PeakBitsPerSecond: 1e7, Over: []Excess{{"time", 86400, runs * 10}}},
		{Name: "r"},
	}
	if diff := cmp.Diff(want, e.Interfaces, approximately); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEstimateOfABigMeshAsksTheProbeOnce(t *testing.T) {
	m := parsed(t, bigMesh(300))
	asked := 0
	e := m.Estimate(func(task measure.Task) measure.Demand { asked++; return demands(task) }, nil)
	if asked != 2 {
		t.Errorf("asked %d times for two tools; want 2", asked)
	}
	if got, want := e.Tests[0].RunsPerDay, 300.*299*4; got != want {
		t.Errorf("%v runs a day, want %v", got, want)
	}
}

func TestCronPerDay(t *testing.T) {
	cases := map[string]float64{
		"* * * * *": 1440, "30 2 * * 1-5": 5. / 7, "@hourly": 24, "0 0 1 1 *": 1. / 365, "0 0 * * 0": 1. / 7,
	}
	cron := func(text string) *Schedule {
		return &parsed(t, estimated+"  - {name: t, tool: rtt, group: ac, schedule: {"+text+"}}\n").Test("t").Schedule
	}
	for text, want := range cases {
		if got := cron("cron: '" + text + "'").PerDay(); math.Abs(got-want) > 0.15*want {
			t.Errorf("%s: %v a day, want %v", text, got, want)
		}
	}
	from := time.Date(2026, time.July, 1, 12, 0, 0, 0, time.UTC)
	got := cron("cron: '30 2 * * *', zone: Europe/London").NextCron(from).UTC()
	if want := time.Date(2026, time.July, 2, 1, 30, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("next is %v, want %v", got, want)
	}
	if got := cron("every: 1h").NextCron(from); !got.IsZero() {
		t.Errorf("a schedule without cron is due at %v by it", got)
	}
}

func BenchmarkEstimate1000(b *testing.B) {
	m := parsed(b, bigMesh(1000))
	for b.Loop() {
		m.Estimate(demands, nil)
	}
}
