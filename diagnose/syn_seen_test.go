package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// synCases are options that a connection to a responder of ours lacks: how its Result is then, and the finding of it.
var synCases = []struct {
	id, field, name string // of the finding, of the field, and how an option that is lost is called
	path            func(*path)
	lacks           float64 // of its options
	set             func(sender, receiver *measure.TCPSettings, value *int)
	values          map[string]float64 // of all samples
}{
	{id: "no-sack", field: synSACK, path: lossy, lacks: sock.OptSACK,
		set: func(a, b *measure.TCPSettings, v *int) { a.SACK, b.SACK = v, v }},
	{id: "no-timestamps", field: synTimes, path: lossy, lacks: sock.OptTimestamps,
		set: func(a, b *measure.TCPSettings, v *int) { a.Timestamps, b.Timestamps = v, v }},
	{id: "no-ecn", field: synFlags, path: func(p *path) { fullPath(p); p.loaded, p.resent = p.rtt+0.005, 20 },
		set: func(a, b *measure.TCPSettings, v *int) { a.ECN, b.ECN = v, v }},
	{id: "small-mss", field: synMSS, path: lossy, values: map[string]float64{"snd_mss_bytes": 1148, "pmtu_bytes": 1500, "advmss_bytes": 1448},
		set: func(*measure.TCPSettings, *measure.TCPSettings, *int) {}},
}

// lacking are the Results of such a path; with ends that are not set to offer the option, or one that sends as its own link has it, if off.
func lacking(at int, peer string, off bool) []*measure.Result {
	c := synCases[at]
	results := with(c.path).results()
	value := 1
	if off {
		value = 0
	}
	for _, r := range results {
		r.Parameters["peer"] = peer
		if r.Kind != "throughput" || r.Parameters["proto"] == "udp" {
			continue
		}
		c.set(r.Samples.Ends[0].Settings, r.Samples.Ends[1].Settings, &value)
		var receiver []measure.TCPSample
		for _, one := range r.Samples.TCPInfo {
			one.Values["options"] -= c.lacks
			for name, v := range c.values {
				one.Values[name] = v
			}
			if off && c.id == "small-mss" {
				one.Values["pmtu_bytes"] = 1200
			}
			one.End = measure.Receiver
			receiver = append(receiver, one)
		}
		r.Samples.TCPInfo = append(r.Samples.TCPInfo, receiver...)
	}
	return results
}

// SYNs are sent where both ends offer what their connection lacks, and for nothing else; once, whatever is missing.
func TestSYNsOfLostOptions(t *testing.T) {
	plan := Plan(8*time.Second, measure.Forward)
	for at, c := range synCases {
		for name, one := range map[string]struct {
			results []*measure.Result
			want    bool
		}{
			"both offer it":    {lacking(at, "pathwise", false), true},
			"an end does not":  {lacking(at, "pathwise", true), false},
			"an iperf3 server": {lacking(at, "iperf3", false), false},
		} {
			longer, asked := plan, 0
			for range 6 { // others ask for steps, too
				longer = Extend(longer, len(longer), one.results)
			}
			for _, s := range longer {
				if s.Parameters["middlebox"] == true {
					asked++
				}
			}
			if (asked == 1) != one.want || asked > 1 {
				t.Errorf("%s, %s: asked %d times: %v", c.id, name, asked, names(longer))
			}
		}
	}
}

// What the SYNs show is told: between which hops the field is changed, or that it comes to the target as it left.
func TestLostOptionsNamed(t *testing.T) {
	hops := []measure.Hop{{TTL: 1, Addresses: []string{"10.0.0.2"}}, {TTL: 2, Addresses: []string{"10.0.1.2"}}}
	for at, c := range synCases {
		for name, one := range map[string]struct {
			seen *measure.Middleboxes // nil: no SYNs were sent
			off  bool
			want string
		}{
			"between hops": {&measure.Middleboxes{Changes: []measure.PacketChange{{Field: c.field, From: "1460", To: "1200", After: 1, By: 2}}}, false,
				"between hop 1 (10.0.0.2) and hop 2 (10.0.1.2)."},
			"before the target": {&measure.Middleboxes{Changes: []measure.PacketChange{{Field: c.field, From: "1460", To: "1200", After: 2, By: 3, Far: true}}}, false,
				"between hop 2 (10.0.1.2) and carol."},
			"it arrives": {&measure.Middleboxes{Sent: []measure.PacketField{{Name: c.field}}, Points: []measure.MiddleboxPoint{{TTL: 3, Far: true}}}, false,
				"SYNs come to carol with"},
			"nobody knows":   {&measure.Middleboxes{Sent: []measure.PacketField{{Name: c.field}}}, false, "something on the way"},
			"no SYNs":        {nil, false, "something on the way"},
			"an end says no": {nil, true, ""},
		} {
			results := lacking(at, "pathwise", one.off)
			if one.seen != nil {
				r := measure.NewResult("trace", testStart.Add(time.Minute))
				r.Target.Name, r.Parameters["middlebox"], r.Samples.Hops, r.Samples.Middleboxes = "carol", true, hops, one.seen
				results = append(results, r)
			}
			d := Diagnose(results)
			checkFindings(t, d)
			i := slices.IndexFunc(d.Findings, func(f measure.Finding) bool { return f.ID == c.id })
			if i < 0 {
				t.Fatalf("%s, %s: %+v", c.id, name, d.Findings)
			}
			f := d.Findings[i]
			box := slices.ContainsFunc(f.Evidence, func(e measure.Evidence) bool { return e.Metric == "hop" })
			if !strings.Contains(f.Explanation, one.want) || one.want == "" && strings.Contains(f.Explanation, "on the way") || box != strings.HasPrefix(one.want, "between") {
				t.Errorf("%s, %s: %q, a hop in evidence %t: want %q", c.id, name, f.Explanation, box, one.want)
			}
		}
	}
}

// This host opens the connections of both ways, so that the way back lacks the flags of ECN by a box only where this host, its receiver, asks.
func TestECNOfTheWayBack(t *testing.T) {
	for _, c := range []struct {
		here, far int
		want      bool
	}{{1, 2, true}, {2, 1, false}, {1, 0, false}} {
		of := func(v int) *measure.TCPEnd { return &measure.TCPEnd{Settings: &measure.TCPSettings{ECN: &v}} }
		there := &Subject{Name: measure.Forward, From: of(c.here), To: of(c.far)}
		back := &Subject{Name: measure.Reverse, From: of(c.far), To: of(c.here)}
		if a, b := ecnOption.offered(there), ecnOption.offered(back); a != c.want || b != c.want {
			t.Errorf("%+v: there %v, back %v", c, a, b)
		}
	}
}
