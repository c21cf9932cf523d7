package diagnose

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// ofFlowLosses is a Result of eight flows, of which each sends so many packets of both sizes and loses so many large and small ones.
func ofFlowLosses(each int, lost [flowsTried][2]int) *measure.Result {
	r := measure.NewResult("flows", testStart.Add(time.Hour))
	for i, l := range lost {
		sent := []int{each / 2, each / 2, each / 2, each / 2}
		got := []int{each/2 - l[0], each / 2, each/2 - l[1], each / 2} // in the first of two intervals of each half
		if i%2 == 1 {
			got[0], got[2] = each/2-l[1], each/2-l[0]
		}
		r.Samples.Flows = append(r.Samples.Flows, measure.FlowSample{Name: flowName(i), EndSeconds: 2,
			Arrived: &measure.FlowArrivals{OverTime: &measure.FlowOverTime{IntervalSeconds: 0.5, Sent: sent, Received: got}}})
	}
	return r
}

var (
	alike     = [flowsTried][2]int{{4, 3}, {2, 5}, {3, 3}, {6, 4}, {4, 2}, {3, 4}, {1, 3}, {4, 4}}
	halfClean = [flowsTried][2]int{{8, 7}, {0, 0}, {9, 6}, {0, 0}, {5, 7}, {0, 0}, {0, 0}, {7, 8}}
	largeOnly = [flowsTried][2]int{{5, 0}, {4, 0}, {7, 1}, {3, 0}, {6, 0}, {4, 1}, {5, 0}, {2, 0}}
	fewLost   = [flowsTried][2]int{{3, 0}, {0, 0}, {2, 0}, {0, 0}, {1, 0}, {0, 0}, {2, 0}, {0, 0}}
)

// What small flows lose tells a bad link of several from bit errors, and both from losses that take all packets alike.
func TestWhichPacketsAreLost(t *testing.T) {
	for name, c := range map[string]struct {
		path   func(*path)
		lost   [flowsTried][2]int
		change func(*measure.Result)
		want   string
	}{
		"alike":                         {lossy, alike, nil, "random-loss"},
		"some flows only":               {lossy, halfClean, nil, "faulty-module"},
		"some flows, the probe none":    {func(p *path) { lossy(p); p.pacedLost = 0 }, halfClean, nil, "faulty-module"},
		"large packets":                 {lossy, largeOnly, nil, "wan-bit-errors"},
		"large packets, the probe none": {func(p *path) { bursty(p); p.halfLost = 0 }, largeOnly, nil, "shallow-buffer"},
		"large packets in fragments":    {func(p *path) { lossy(p); p.mss = 560 }, largeOnly, nil, "random-loss"},
		"too few to tell":               {lossy, fewLost, nil, "random-loss"},
		"nothing":                       {lossy, [flowsTried][2]int{}, nil, "random-loss"},
		"other flows":                   {lossy, halfClean, func(r *measure.Result) { r.Samples.Flows[3].Name = "voice" }, "random-loss"},
		"the far end did not tell":      {lossy, halfClean, func(r *measure.Result) { r.Samples.Flows[7].Arrived = nil }, "random-loss"},
		"on the way back":               {lossy, halfClean, func(r *measure.Result) { r.Parameters["reverse"] = true }, "random-loss"},
		"nothing is sent again":         {func(*path) {}, halfClean, nil, "unexplained"},
	} {
		r := ofFlowLosses(200, c.lost)
		if c.change != nil {
			c.change(r)
		}
		d := Diagnose(append(with(c.path).results(), r))
		checkFindings(t, d)
		if d.Verdict != c.want {
			t.Errorf("%s: %s, want %s", name, d.Verdict, c.want)
		}
	}
}

func TestCleanFlows(t *testing.T) {
	type outcome struct {
		clean  float64
		lossy  count
		chance float64
	}
	for name, c := range map[string]struct {
		all  []count
		want outcome
	}{
		"none lost":       {[]count{{100, 0}, {100, 0}}, outcome{2, count{}, 1}},
		"all lost":        {[]count{{100, 3}, {100, 1}}, outcome{0, count{200, 4}, 1}},
		"one of two":      {[]count{{100, 10}, {100, 0}}, outcome{1, count{100, 10}, 2 * math.Exp(-5)}},
		"two of four":     {[]count{{100, 10}, {100, 0}, {100, 10}, {100, 0}}, outcome{2, count{200, 20}, 6 * math.Exp(-10)}},
		"one loss of two": {[]count{{100, 1}, {100, 0}}, outcome{1, count{100, 1}, 1}},
	} {
		var got outcome
		got.clean, got.lossy, got.chance = cleanFlows(c.all)
		near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9 })
		if diff := cmp.Diff(c.want, got, near, cmp.AllowUnexported(outcome{}, count{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The flows are asked for where losses have no queue to explain them, last as long as it takes to lose enough, and are left out where they would lose too few.
func TestSmallFlows(t *testing.T) {
	asks := func(c func(*path)) *Step {
		results := with(c).results()
		for _, r := range results {
			r.Parameters["peer"] = "pathwise"
		}
		plan, longer := []Step(nil), Plan(time.Second, measure.Forward)
		for len(longer) > len(plan) {
			plan = longer
			longer = extend(plan, len(plan), results)
		}
		if i := find(longer, "flows"); i >= 0 {
			return &longer[i]
		}
		return nil
	}
	got := asks(lossy)
	if got == nil {
		t.Fatal("no flows are asked for")
	}
	script := `flow flow-1 end 1200ms poisson rate 668/s size 1400
at 600ms flow-1 size 64
flow flow-2 end 1200ms poisson rate 668/s size 64
at 600ms flow-2 size 1400
`
	if text, _ := got.Parameters["script"].(string); !strings.HasPrefix(text, script) || strings.Count(text, "\n") != 2*flowsTried {
		t.Errorf("the script is:\n%s\nwant it to begin with\n%s", text, script)
	}
	fast := asks(func(p *path) {
		lossy(p)
		p.capacity, p.goodput, p.resent, p.sent = 1e10, 1e9, 400, 2e6
		p.pacedSent, p.pacedLost = 2e6, 400
	})
	if fast == nil || !strings.HasPrefix(fast.Parameters["script"].(string), "flow flow-1 end 5000ms poisson rate 4111/s size 1400\n") {
		t.Errorf("of 10 Gbit/s: %+v", fast)
	}
	for name, c := range map[string]func(*path){
		"a clean path": func(*path) {},
		"too slow":     func(p *path) { lossy(p); p.capacity, p.goodput = 1e6, 1e5 },
		"BBR":          func(p *path) { lossy(p); p.congestion = "bbr" },
		"no probe yet": func(p *path) { lossy(p); p.pacedSent = 0 },
	} {
		if asked := asks(c); asked != nil {
			t.Errorf("%s: asked for %+v", name, asked)
		}
	}
}
