package config

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// What a run without a rate takes goes by the slowest part of its way, in both directions, and by what budgets of either end
// and of sites allow, whatever the probe.
func TestNeed(t *testing.T) {
	file := func(host, site string) string {
		return `
sites: {X: {rate: 400mbit` + site + `}}
hosts:
  a: {address: 10.0.0.1, rate: 800mbit` + host + `}
  b: {address: 10.0.0.2, rate: 8gbit, site: X}
  c: {address: 10.0.0.3}
  d: {address: 10.0.0.4}
tools:
  bulk: {probe: throughput}
  both: {probe: throughput, parameters: {bidir: true}}
  held: {probe: throughput, parameters: {rate: 2gbit}}
  cp:   {command: "cp {target}", parse: {a_seconds: "(.)"}, timeout: 8s}
  some: {command: "cp {target}", parse: {a_seconds: "(.)"}, timeout: 8s, needs: {rate: 8mbit}}
  rtt:  {probe: ping}
`
	}
	type figures struct{ Bytes, Rate float64 }
	for _, c := range []struct {
		host, site, tool, pair string
		measured               float64
		want                   figures
		whose                  string // of the budget that one run breaks
	}{
		{"", "", "bulk", "ac", 0, figures{1e9, 800e6}, ""},
		{"", "", "bulk", "ca", 0, figures{1e9, 800e6}, ""},
		{"", "", "bulk", "ab", 0, figures{500e6, 400e6}, ""},
		{"", "", "bulk", "cd", 0, figures{1.25e9, 1e9}, ""},
		{"", "", "bulk", "cd", 80e6, figures{100e6, 80e6}, ""},
		{"", "", "bulk", "ac", 80e9, figures{1e9, 800e6}, ""},
		{"", "", "both", "ac", 0, figures{2e9, 800e6}, ""},
		{"", "", "held", "ac", 0, figures{1e9, 800e6}, ""},
		{"", "", "held", "cd", 0, figures{2.5e9, 2e9}, ""},
		{"", "", "cp", "ac", 0, figures{800e6, 800e6}, ""},
		{"", "", "some", "ac", 0, figures{8e6, 8e6}, ""},
		{"", "", "rtt", "ac", 0, figures{1000, 8000}, ""},
		{", limits: {daily: 100MB}", "", "bulk", "ac", 0, figures{100e6, 800e6}, ""},
		{", limits: {daily: 100MB}", "", "bulk", "ca", 0, figures{100e6, 800e6}, ""},
		{", limits: {daily: 799MB}", "", "cp", "ca", 0, figures{800e6, 800e6}, "a"},
		{", limits: {share: 0.01%}", "", "held", "ac", 0, figures{864e6, 800e6}, ""}, // of 8.64 TB a day
		{", limits: {rate: 80mbit}", "", "cp", "ac", 0, figures{800e6, 800e6}, "a"},
		{", limits: {rate: 80mbit}", "", "some", "ac", 0, figures{8e6, 8e6}, ""},
		{"", ", budget: {daily: 50MB}", "bulk", "cb", 0, figures{50e6, 400e6}, ""},
		{"", ", budget: {rate: 40mbit}", "cp", "bd", 0, figures{400e6, 400e6}, "X"},
		{"", ", budget: {daily: 8MB}", "some", "bd", 0, figures{8e6, 8e6}, ""},
		{"", ", budget: {daily: 7999kB}", "some", "bd", 0, figures{8e6, 8e6}, "X"},
	} {
		m := parsed(t, file(c.host, c.site))
		reckoning := m.Reckon(func(task measure.Task) (measure.Demand, error) {
			d := demands(task)
			if task.Kind == KindCommand {
				d.DurationSeconds = 0 // nobody knows
			}
			return d, nil
		})
		reckoning.Measured = func(string, int, int) float64 { return c.measured * 1428 / 1598 }
		leg := legOf(t, m, c.pair)
		need, err := reckoning.Need(m.Tool(c.tool), leg)
		whose, _ := m.Beyond(leg, need)
		if diff := cmp.Diff(c.want, figures{need.Bytes, need.BitsPerSecond}, approximately); err != nil || diff != "" || whose != c.whose {
			t.Errorf("%s %s %s%s: %v, %q breaks, want %q (-want +got):\n%s", c.tool, c.pair, c.host, c.site, err, whose, c.whose, diff)
		}
	}
}

// What was measured counts for the tool that measured it and the way that its data goes, in place of what nobody knows; not for
// what goes at a rate of its own whatever arrives.
func TestNeedByWhatWasMeasured(t *testing.T) {
	m := parsed(t, `
hosts:
  a: {address: 10.0.0.1, rate: 60mbit}
  b: {address: 10.0.0.2}
  c: {address: 10.0.0.3, tools: {bulk: {reverse: true}}}
tools:
  bulk: {probe: throughput}
  back: {probe: throughput, parameters: {reverse: true}}
  both: {probe: throughput, parameters: {bidir: true}}
  held: {probe: throughput, parameters: {rate: 300mbit}}
  mss:  {probe: throughput, parameters: {mss: 182}}
  udp:  {probe: throughput, parameters: {proto: udp, rate: 300mbit}}
  cp:   {command: "cp {target}", parse: {a_seconds: "(.)"}, timeout: 8s}
  some: {command: "cp {target}", parse: {a_seconds: "(.)"}, timeout: 8s, needs: {rate: 300mbit}}
`)
	const there, back = 80e6, 200e6 // on the wire, from b to c and from c to b
	for _, c := range []struct {
		tool, pair string
		rate       float64
	}{
		{"bulk", "bc", there}, {"bulk", "cb", there}, // c has its own read, and not send
		{"back", "bc", back}, {"back", "cb", there}, {"both", "bc", back}, {"both", "cb", back},
		{"held", "bc", there}, {"held", "cb", back}, {"udp", "bc", 300e6}, {"cp", "bc", there}, {"some", "bc", 300e6},
		{"mss", "bc", there * 1428 / 1598 * 2}, // half of it is payload
		{"bulk", "ba", 60e6}, {"bulk", "ab", 60e6},
	} {
		r := m.Reckon(func(task measure.Task) (measure.Demand, error) {
			d := demands(task)
			if task.Parameters["proto"] == "udp" {
				d.BitsPerSecond, d.Exclusive = 300e6, true
			}
			return d, nil
		})
		r.Measured = func(tool string, source, target int) float64 {
			const share = 1428. / 1598
			if tool != c.tool {
				t.Errorf("%s asks for what %s measured", c.tool, tool)
			}
			return map[[2]int]float64{{1, 2}: there * share, {2, 1}: back * share}[[2]int{source, target}]
		}
		need, err := r.Need(m.Tool(c.tool), legOf(t, m, c.pair))
		if diff := cmp.Diff(c.rate, need.BitsPerSecond, approximately); err != nil || diff != "" {
			t.Errorf("%s %s: %v (-want +got):\n%s", c.tool, c.pair, err, diff)
		}
	}
}

// legOf is the way between two hosts of one letter.
func legOf(t *testing.T, m *Mesh, pair string) Leg {
	t.Helper()
	source, _ := m.Host(pair[:1])
	target, _ := m.Host(pair[1:])
	leg, err := m.Leg(nil, &Tool{}, source, target)
	if err != nil {
		t.Fatal(err)
	}
	return leg
}

// A budget of either end, or of a site on the way, holds a transfer's rate and its bytes, however the tool says them.
func TestHeldByBudgets(t *testing.T) {
	share := 1428. / 1598
	for budget, limits := range map[string][2]string{"host": {", limits: {rate: 100mbit, daily: 1GB}", ""}, "site": {"", ", budget: {rate: 100mbit, daily: 1GB}"}} {
		m := parsed(t, `
sites: {X: {rate: 1gbit`+limits[1]+`}}
hosts:
  a: {address: 10.0.0.1, site: X, rate: 1gbit`+limits[0]+`, tools: {own: {rate: 300mbit}}}
  b: {address: 10.0.0.2, tools: {own: {rate: 300mbit}}}
  c: {address: 10.0.0.3}
tools:
  tcp:   {probe: throughput}
  text:  {probe: throughput, parameters: {rate: 1gbit, bytes: 100GB, parallel: 4, bidir: true}}
  small: {probe: throughput, parameters: {rate: 10mbit, bytes: 1MB}}
  udp:   {probe: throughput, parameters: {proto: udp}}
  fast:  {probe: throughput, parameters: {proto: udp, rate: 1gbit, length: 170}}
  mss:   {probe: throughput, parameters: {mss: 182}}
  own:   {probe: throughput}
  rtt:   {probe: ping}
`)
		whole := 1e9 * share
		for tool, want := range map[string]map[string]any{
			"tcp":   {"rate": 100e6 * share, "bytes": whole},
			"text":  {"rate": 25e6 * share, "bytes": whole / 2, "parallel": "4", "bidir": true},
			"small": {"rate": "10mbit", "bytes": "1MB"},
			"udp":   {"proto": "udp", "bytes": whole},
			"fast":  {"proto": "udp", "rate": 50e6, "bytes": 0.5e9, "length": 170.},
			"mss":   {"mss": 182., "rate": 50e6, "bytes": 0.5e9},
			"own":   {"rate": 100e6 * share, "bytes": whole},
			"rtt":   nil,
		} {
			for _, pair := range []string{"ab", "ba"} {
				leg := legOf(t, m, pair)
				task := m.Task(m.Tool(tool), leg, 0)
				m.Shorten(&task, leg, measure.Demand{Bytes: 1e9})
				if diff := cmp.Diff(sprint(want), sprint(task.Parameters)); diff != "" {
					t.Errorf("%s of a %s, %s (-want +got):\n%s", tool, budget, pair, diff)
				}
			}
			leg := legOf(t, m, "bc")
			task := m.Task(m.Tool(tool), leg, 0)
			before := sprint(task.Parameters)
			m.Shorten(&task, leg, measure.Demand{Bytes: 1e9})
			if diff := cmp.Diff(before, sprint(task.Parameters)); diff != "" || task.Parameters["rate"] == 100e6*share {
				t.Errorf("%s without a budget (-want +got):\n%s", tool, diff)
			}
		}
	}
}

// sprint prints parameters, numbers in whole.
func sprint(parameters map[string]any) map[string]string {
	all := map[string]string{}
	for name, v := range parameters {
		if n, number := v.(float64); number {
			v = fmt.Sprintf("%.0f", float64(int64(n)))
		}
		all[name] = fmt.Sprint(v)
	}
	return all
}
