package export

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// Two interfaces of a host are two series to Prometheus, and what is of none has no such label; rows name the subject last.
func TestSubject(t *testing.T) {
	whole := ping("1", noon, map[measure.Metric]float64{measure.Throughput: 1})
	eth0 := ping("2", noon.Add(time.Second), map[measure.Metric]float64{measure.Throughput: 2})
	eth0.Subject = &measure.Subject{Kind: measure.SubjectInterface, Name: "eth0"}
	eth1 := ping("3", noon.Add(2*time.Second), map[measure.Metric]float64{measure.Throughput: 3})
	eth1.Subject = &measure.Subject{Kind: measure.SubjectInterface, Name: "eth1"}
	all := []*measure.Result{whole, eth0, eth1}
	want := map[string]float64{"": 1, "interface/eth0": 2, "interface/eth1": 3}

	c := NewCollector(CollectorOptions{Now: (&clock{noon.Add(time.Minute)}).now})
	sent := map[string]float64{}
	for _, r := range all {
		c.Observe(r)
		written, err := decode(request([]parcel{pack(r)}))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range written {
			subject, name := "", ""
			for i, pair := range s.Labels {
				if i > 0 && pair[0] <= s.Labels[i-1][0] {
					t.Errorf("labels are not in order: %v", s.Labels)
				}
				switch pair[0] {
				case "subject":
					subject = pair[1]
				case "__name__":
					name = pair[1]
				}
			}
			if name == prefix+string(measure.Throughput) {
				sent[subject] = s.Value
			}
		}
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("remote write sends (-want +got):\n%s", diff)
	}
	again := NewCollector(CollectorOptions{Now: (&clock{noon.Add(time.Minute)}).now})
	a := filled(t, all...)
	if err := again.Seed(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	for name, collector := range map[string]*Collector{"observed": c, "seeded": again} {
		got := map[string]float64{}
		streams, _ := collector.snapshot()
		for s, l := range streams {
			got[s.subject] = l.values[0].value
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: a scrape shows (-want +got):\n%s", name, diff)
		}
	}
	promtool(t, page(t, c))
	if text := page(t, c); !strings.Contains(text, `subject="interface/eth1"`) {
		t.Errorf("no label:\n%s", text)
	}
	for subject, want := range map[string][]string{"": {""}, "interface/eth1": {"interface/eth1"}, "*": {"interface/eth1", "interface/eth0", ""}} {
		var out strings.Builder
		if err := CSV(t.Context(), &out, a, archive.ResultQuery{Subject: subject}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(strings.TrimSpace(out.String())) {
			got = append(got, strings.TrimSpace(line[strings.LastIndex(line, ",")+1:]))
		}
		if diff := cmp.Diff(append([]string{"subject"}, want...), got); diff != "" {
			t.Errorf("rows of %q (-want +got):\n%s", subject, diff)
		}
	}
}
