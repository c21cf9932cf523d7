package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// reference says that this host moved so much to a near one, and from it.
func reference(sends, receives float64) *measure.Result {
	r := measure.NewResult(KindReference, testStart.Add(-time.Hour))
	r.Source.Name, r.Target.Name = "bob", "near"
	for m, value := range map[measure.Metric]float64{measure.Throughput: sends, measure.ReverseThroughput: receives} {
		if value > 0 {
			r.Metrics[m] = value
		}
	}
	r.Metrics[measure.CPUSender], r.Metrics[measure.CPUReceiver] = 0.95, 0.9
	return r
}

// A transfer that reaches what its host can do is held by the host, whatever the path shows; one that does not is held by something else, and
// a reference that is exceeded says nothing.
func TestHostCeiling(t *testing.T) {
	unknown := func(p *path) { p.capacity = 0 }
	for name, c := range map[string]struct {
		path    path
		ceiling float64 // of what the transfer reaches
		want    string
	}{
		"reached, capacity not known":  {with(unknown), 1.02, "host-ceiling"},
		"reached, and losses":          {with(func(p *path) { lossy(p); unknown(p) }), 1.05, "host-ceiling"},
		"reached, on a wider path":     {with(func(p *path) { lossy(p) }), 1.05, "host-ceiling"},
		"reached, on a full path":      {with(fullPath), 1, Healthy},
		"reached, at a rate asked for": {with(func(p *path) { idle(p); p.rateParameter = 10e6 }), 1, "application-limited"},
		"reached, by the far window":   {with(smallWindow), 1, "receive-window-limited"},
		"not reached":                  {with(lossy), 2, "random-loss"},
		"exceeded":                     {with(lossy), 0.5, "random-loss"},
		"none":                         {with(lossy), 0, "random-loss"},
	} {
		results := c.path.results()
		steady := gather(results).ways[measure.Forward].Value(Steady)
		d := Diagnose(append(results, reference(c.ceiling*steady, 0)))
		checkFindings(t, d)
		if d.Verdict != c.want {
			t.Errorf("%s: verdict %s, want %s", name, d.Verdict, c.want)
		}
		if f := d.First(); c.want == "host-ceiling" && (f.Where != "sender bob" || f.Predicted != nil || len(f.Evidence) != 3 ||
			f.Evidence[1].Value != c.ceiling*steady || !strings.HasPrefix(f.Explanation, "bob moves ")) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// What a reference says of receiving is about data that comes here.
func TestHostCeilingOfReceiver(t *testing.T) {
	results := with(lossy).results()
	for _, r := range results {
		if r.Kind != "ping" {
			r.Parameters["reverse"] = true
		}
		for i := range r.Samples.TCPInfo {
			r.Samples.TCPInfo[i].Direction = measure.Reverse
		}
	}
	steady := gather(results).ways[measure.Reverse].Value(Steady)
	for _, c := range []struct {
		reference *measure.Result
		want      bool
	}{{reference(0, steady), true}, {reference(steady, 0), false}} {
		d := Diagnose(append(results, c.reference))
		if gives(d, "host-ceiling") != c.want || c.want && d.First().Where != "receiver bob" {
			t.Errorf("%v: %+v", c.reference.Metrics, d.First())
		}
	}
}

// No cure in the path is promised to bring more than the host can do.
func TestHostCeilingBoundsPredictions(t *testing.T) {
	f := Diagnose(append(with(lossy).results(), reference(40e6, 0))).First()
	if f == nil || f.ID != "random-loss" || f.Predicted == nil || f.Predicted.BitsPerSecond > 40e6 || !strings.Contains(f.Predicted.Basis, "near one") {
		t.Errorf("%+v", f)
	}
}
