package diagnose

import (
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// marks is what becomes of a class on a path, for tests of rules about it.
type marks struct {
	pingsLost  float64 // of 20 with the mark
	slowLost   float64 // share of a slow probe
	brisk      []measure.Mark
	trainsLost int // of 100 packets without the mark
	fails      bool
}

func (m marks) results() []*measure.Result {
	const sent = 46
	echo := measure.NewResult("ping", testStart)
	echo.Parameters["dscp"] = float64(sent)
	echo.Metrics[measure.SentPackets], echo.Metrics[measure.ReceivedPackets] = 20, 20-m.pingsLost
	var all []*measure.Result
	for _, r := range hundred().results() {
		if r.Kind == "ping" {
			r.Metrics[measure.SentPackets], r.Metrics[measure.ReceivedPackets] = 20, 20
		}
		if r.Kind == "capacity" {
			r.Samples.Trains = []measure.Train{{SentPackets: 100, ReceivedPackets: 100 - m.trainsLost}}
		}
		if r.Kind == "throughput" {
			r.Parameters["dscp"] = float64(sent)
			if m.fails {
				r.Metrics, r.Samples, r.Error = nil, measure.Samples{}, new("i/o timeout")
			}
		}
		all = append(all, r)
	}
	all = append(all, echo)
	if m.fails {
		return all
	}
	for rate, arrived := range map[float64][]measure.Mark{markedRate: {{Direction: measure.Forward, DSCP: sent, Packets: 50}}, 80e6: m.brisk} {
		probe := measure.NewResult("throughput", testStart)
		probe.Parameters = map[string]any{"proto": "udp", "reverse": false, "dscp": float64(sent), "rate": rate}
		probe.Metrics[measure.SentPackets], probe.Metrics[measure.LossRatio] = 50, m.slowLost
		probe.Metrics[measure.SentRate], probe.Metrics[measure.Throughput] = rate, rate
		probe.Samples.Marks = arrived
		all = append(all, probe)
	}
	return all
}

// A class is not carried where packets without its mark fare better, and what is above its rate is another class where the rest keeps its mark.
func TestTrafficContracts(t *testing.T) {
	kept := func(sent, other int64) []measure.Mark {
		return []measure.Mark{{Direction: measure.Forward, DSCP: 46, Packets: sent}, {Direction: measure.Forward, DSCP: 10, Packets: other}}
	}
	for name, c := range map[string]struct {
		marks
		want string
	}{
		"all is carried":            {marks{brisk: kept(100, 0)}, ""},
		"a part of the class":       {marks{slowLost: 0.4}, "class-not-carried"},
		"plain packets lose, too":   {marks{slowLost: 0.4, trainsLost: 30}, ""},
		"no connection, no echo":    {marks{pingsLost: 20, fails: true}, "class-not-carried"},
		"no connection, but echoes": {marks{pingsLost: 12, fails: true}, ""},
		"above a rate":              {marks{brisk: kept(30, 70)}, "excess-downgraded"},
		"a packet or two":           {marks{brisk: kept(98, 2)}, ""},
		"a class that loses":        {marks{slowLost: 0.4, trainsLost: 30, brisk: kept(30, 70)}, ""},
	} {
		results := c.results()
		d := Diagnose(results)
		checkFindings(t, d)
		for _, id := range []string{"class-not-carried", "excess-downgraded", "dscp-remarked"} {
			if gives(d, id) != (id == c.want) {
				t.Errorf("%s: %s given %v: %+v", name, id, gives(d, id), d.Findings)
			}
		}
		if got := DropsClass(results); got != (c.fails && c.want != "") {
			t.Errorf("%s: drops the class: %v", name, got)
		}
	}
}

// Each class is pinged by itself, and only where one is asked for.
func TestWithMark(t *testing.T) {
	plan := Plan(leastTransfer, measure.Forward)
	if got := WithMark(plan, 0); len(got) != len(plan) {
		t.Errorf("no mark: %v", names(got))
	}
	got := WithMark(plan, 46)
	if len(got) != len(plan)+1 || got[1].Name != "marked-ping" || got[1].Parameters["dscp"] != 46.0 || got[0].Parameters["dscp"] != nil {
		t.Errorf("%+v", got[:2])
	}
}
