package diagnose

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// Which family of addresses does worse is a remark, once, where pings of both tell it; what they cannot tell is none.
func TestFamilySlower(t *testing.T) {
	for _, c := range []struct {
		name         string
		usual        float64 // of the family that is taken; the least is 50 ms
		least, other float64 // of the other family
		answers      float64
		fails        bool
		want         string // in the explanation; "": it is no finding
	}{
		{"alike", 0.05, 0.05, 0.051, 5, false, ""},
		{"a quarter slower, within delays that vary", 0.05, 0.055, 0.08, 5, false, ""},
		{"slower", 0.05, 0.08, 0.085, 5, false, "By IPv6 a round trip to carol takes 85.0 ms, by IPv4, which this diagnosis is of, 50.0 ms"},
		{"faster", 0.05, 0.02, 0.021, 5, false, "programs that take IPv6 are faster"},
		{"others' queues come and go", 0.06, 0.08, 0.085, 5, false, ""},
		{"silent", 0.05, 0, 0, 0, false, "answers no ping there"},
		{"lossy", 0.05, 0.05, 0.05, 1, false, ""},
		{"no way from here", 0.05, 0, 0, 0, true, ""},
	} {
		p := with(fullPath)
		p.usual = c.usual
		results := p.results()
		results[0].Parameters["family"] = "ipv4"
		results[0].Metrics[measure.SentPackets], results[0].Metrics[measure.ReceivedPackets] = 20, 20
		r := measure.NewResult("ping", testStart)
		r.Parameters["family"] = "ipv6"
		r.Metrics[measure.SentPackets], r.Metrics[measure.ReceivedPackets] = 5, c.answers
		if c.answers > 0 {
			r.Metrics[measure.RTTMin], r.Metrics[measure.RTTMedian] = c.least, c.other
		}
		if c.fails {
			r.Fail(errors.New("no route"))
		}
		d := Diagnose(append(results, r))
		checkFindings(t, d)
		got := ""
		for _, f := range d.Findings {
			if f.ID == familySlower.ID {
				got += f.Explanation
			}
		}
		if d.Verdict != Healthy || c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, %q, want %q", c.name, d.Verdict, got, c.want)
		}
	}
}

// The other family is pinged after the one that is taken, where the target has it.
func TestWithFamily(t *testing.T) {
	plan := Plan(time.Second, measure.Forward)
	if diff := cmp.Diff([]string{"ping", "other-family", "trace", "capacity", "transfer"}, names(WithFamily(plan, "ipv6"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(plan, WithFamily(plan, "")); diff != "" {
		t.Errorf("a target of one family (-want +got):\n%s", diff)
	}
}
