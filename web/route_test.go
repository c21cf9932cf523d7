package web

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/web/edit"
)

// traceOf is a trace in which each hop's text has the addresses that answered, without any: silence. z and end are where it leads.
func traceOf(id string, at time.Time, hops ...[]string) *measure.Result {
	r := measure.NewResult("trace", at)
	r.ID, r.Source.Name, r.Target.Name, r.Tool = id, "a", "b", "trace"
	for i, addresses := range hops {
		hop := measure.Hop{TTL: i + 1, Addresses: addresses}
		if slices.Contains(addresses, "z") || slices.Contains(addresses, "end") {
			hop.Reply = "port unreachable"
		}
		r.Samples.Hops = append(r.Samples.Hops, hop)
	}
	return r
}

// What changed on a path is told with the Result that says so; a pair of which nothing is known has no changes.
func TestChanges(t *testing.T) {
	b := newBench(t)
	at := time.Now().Add(-time.Hour)
	diagnosis := measure.NewResult(control.KindDiagnosis, at.Add(2*time.Minute))
	diagnosis.ID, diagnosis.Source.Name, diagnosis.Target.Name, diagnosis.Tool = "01KAG0000000000000000000BC", "a", "b", control.KindDiagnosis
	diagnosis.Parameters["verdict"] = "loss-on-path"
	diagnosis.Samples.Findings = []measure.Finding{{ID: "loss-on-path", Severity: measure.Problem}}
	other := measure.NewResult(control.KindDiagnosis, at)
	other.ID, other.Source.Name, other.Target.Name, other.Tool = "01KAG0000000000000000000BD", "a", "strict", control.KindDiagnosis
	other.Parameters["verdict"] = "healthy"
	all := []*measure.Result{diagnosis, other}
	for i := range 8 {
		second := at.Add(time.Duration(i) * time.Second)
		all = append(all, traceOf(fmt.Sprintf("01KAG0000000000000000001A%d", i), second, []string{string("xxxxyyyy"[i])}))
	}
	if err := b.Archive.Put(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	b.serve(b.Handler(public))
	b.expect(http.MethodGet, "/api/v1/pairs/a/b/routes?from=-2h", "", 200, `"text":"hop 1: x is now y","before":{"first":`)
	b.expect(http.MethodGet, "/api/v1/pairs/a/b/routes?from=-2h", "", 200, `"changed":[1]}],"courses":[{"tool":"trace","role":"","family":"ipv4","changes":[{`)
	b.expect(http.MethodGet, "/api/v1/pairs/b/a/routes", "", 200, `{"routes":[],"courses":[],"names":{},"known":[],"more":false}`)
	b.expect(http.MethodGet, "/api/v1/changes?from=-2h&source=a&target=b", "", 200, `"kind":"route","severity":"info","text":"hop 1: x is now y","result":"01KAG0000000000000000001A4","source":"a","target":"b","before":"`)
	b.expect(http.MethodGet, "/api/v1/changes?from=-2h&source=a&target=b", "", 200, `"kind":"finding","severity":"problem","text":"a to b: loss-on-path","result":"01KAG0000000000000000000BC"}]`)
	b.expect(http.MethodGet, "/api/v1/changes", "", 200, `"text":"a to strict: The path carries what it can"`)
	b.expect(http.MethodGet, "/api/v1/changes?source=b", "", 200, `{"changes":[],"more":false}`)
	b.editing()
	b.serve(b.Handler(owner))
	version := read[edit.Current](b, "/api/v1/config").Version
	b.expect(http.MethodPut, "/api/v1/config", proposal(version, meshText+"# next\n", "for the physicists"), 200, "")
	b.expect(http.MethodGet, "/api/v1/changes", "", 200, `"text":"another configuration of the mesh: for the physicists"`)
	b.serve(b.Handler(public))
	b.expect(http.MethodGet, "/api/v1/changes", "", 200, `"kind":"configuration","severity":"info","text":"another configuration of the mesh"}`)
}

// A time line that ends because not all was looked at says so.
func TestChangesThatAreNotAll(t *testing.T) {
	b := newBench(t)
	now := time.Now()
	var all []*measure.Result
	for i := range mostChanges + 1 {
		r := measure.NewResult(control.KindDiagnosis, now.Add(-time.Duration(i)*time.Second))
		r.ID, r.Source.Name, r.Target.Name, r.Tool = fmt.Sprintf("01KAG000000000000000%06d", i), "a", "b", control.KindDiagnosis
		all = append(all, r)
	}
	if err := b.Archive.Put(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	b.serve(b.Handler(public))
	if doc := read[changesDoc](b, "/api/v1/changes?from=-1d"); len(doc.Changes) != mostChanges || !doc.More {
		t.Errorf("%d changes, more: %v", len(doc.Changes), doc.More)
	}
}
