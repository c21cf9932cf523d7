package web

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
)

// byRole files Results of each role and way, of minutes ago: loss of 2 %, in one run of five; what a diagnosis and a test on
// demand move at less than a planned transfer does; and one that went back.
func (b *bench) byRole() {
	b.t.Helper()
	var all []*measure.Result
	add := func(source, target, test, tool string, way measure.Way, role measure.Role, metrics map[measure.Metric]float64) {
		at := time.Now().Add(-time.Duration(len(all)+1) * time.Second)
		r := resultOf(ulid.MustNew(ulid.Timestamp(at), ulid.DefaultEntropy()).String(), at)
		r.Source.Name, r.Target.Name, r.Test, r.Tool, r.Way, r.Role, r.Metrics = source, target, test, tool, way, role, metrics
		all = append(all, r)
	}
	for i := range 10 {
		lost := float64(i % 5 / 4)
		add("a", "b", "rtt@all", "rtt", "", measure.RolePlanned, map[measure.Metric]float64{measure.LossRatio: lost / 10,
			measure.LostPackets: lost, measure.SentPackets: 10, measure.HostCPU: 0.5})
	}
	rate := func(v float64) map[measure.Metric]float64 { return map[measure.Metric]float64{measure.Throughput: v} }
	add("a", "b", "bulk@all", "bulk", measure.Forward, measure.RolePlanned, rate(100))
	add("a", "b", "", "bulk", measure.Forward, measure.RoleDemand, rate(1))
	add("a", "b", "", "throughput", measure.Forward, measure.DiagnosisRole("01J", "paced"), rate(10))
	add("a", "b", "", "throughput", measure.Reverse, measure.DiagnosisRole("01J", "transfer-reverse"), rate(70))
	add("b", "a", "bulk@all", "bulk", measure.Forward, measure.RolePlanned, rate(200))
	add("b", "a", "pull@all", "pull", measure.Reverse, measure.RolePlanned, rate(300))
	if err := b.Archive.Put(b.t.Context(), all); err != nil {
		b.t.Fatal(err)
	}
}

// The matrix and series are of what is planned and went that way, unless the call asks for other roles; and loss is what was
// lost of all that was sent.
func TestRoles(t *testing.T) {
	b := newBench(t)
	b.byRole()
	b.run()
	b.serve(b.Handler(owner))
	get := func(path string, to any) {
		t.Helper()
		_, text, _ := b.ask(http.MethodGet, path, "")
		if err := json.Unmarshal([]byte(text), to); err != nil {
			t.Fatalf("%s: %v: %.300s", path, err, text)
		}
	}
	type values map[string]float64 // by source and target
	for query, want := range map[string]values{
		"metric=loss_ratio":                                            {"a b": 0.02},
		"metric=throughput_bits_per_second&tool=bulk":                  {"a b": 100, "b a": 200},
		"metric=throughput_bits_per_second&tool=pull":                  {"a b": 300},
		"metric=throughput_bits_per_second&role=demand":                {"a b": 1},
		"metric=throughput_bits_per_second&role=diagnosis/paced":       {"a b": 10},
		"metric=throughput_bits_per_second&role=diagnosis/*":           {"a b": 10, "b a": 70},
		"metric=throughput_bits_per_second&role=planned&test=pull@all": {"a b": 300},
	} {
		var doc struct {
			Hosts  []struct{ Name string }
			Values []*float64
		}
		get("/api/v1/matrix?"+query, &doc)
		got, mean := values{}, values{}
		for i, v := range doc.Values {
			if v != nil {
				got[doc.Hosts[i/len(doc.Hosts)].Name+" "+doc.Hosts[i%len(doc.Hosts)].Name] = *v
			}
		}
		for pair := range want {
			var doc struct{ Buckets []struct{ Value float64 } }
			get("/api/v1/pairs/"+pair[:1]+"/"+pair[2:]+"/series?from=-1h&"+query, &doc)
			if len(doc.Buckets) > 0 {
				mean[pair] = doc.Buckets[0].Value
			}
		}
		near := cmp.Comparer(func(x, y float64) bool { return x-y < 0.011*max(x, y) && y-x < 0.011*max(x, y) })
		if diff := cmp.Diff(want, got, near); diff != "" {
			t.Errorf("matrix of %s (-want +got):\n%s", query, diff)
		}
		if diff := cmp.Diff(want, mean, near); diff != "" {
			t.Errorf("series of %s (-want +got):\n%s", query, diff)
		}
	}
	var keys struct{ Keys []struct{ Tool, Role string } }
	for query, want := range map[string]int{"": 7, "&role=*": 10, "&role=demand": 1} {
		if get("/api/v1/keys?limit=100"+query, &keys); len(keys.Keys) != want {
			t.Errorf("keys%s: %d, want %d: %+v", query, len(keys.Keys), want, keys.Keys)
		}
	}
	var there struct {
		Measured []struct {
			Metric, Tool string
			Runs         int
		}
	}
	get("/api/v1/measured?source=a&target=b&role=planned", &there)
	if first := there.Measured[0]; len(there.Measured) != 6 || first.Metric != "host_cpu_ratio" || first.Runs != 10 {
		t.Errorf("measured: %+v", there.Measured)
	}
	for query, want := range map[string]int{"role=demand": 1, "role=diagnosis/*": 2, "": 16, "source=b&target=a": 2, "source=a&target=b&role=planned": 12} {
		var page struct{ Results []struct{ ID string } }
		if get("/api/v1/results?"+query, &page); len(page.Results) != want {
			t.Errorf("results of %q: %d, want %d", query, len(page.Results), want)
		}
	}
}
