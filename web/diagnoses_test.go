package web

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/measure"
)

const fromAToB = `{"source": "a", "target": "b", "patience_seconds": 600}`

// transfers makes Results of transfers what a diagnosis can be made of.
func transfers(run *measure.Run, r *measure.Result) {
	r.Kind, r.Tool, r.Test = run.Task.Kind, run.Tool, ""
	if r.Kind == "throughput" {
		r.Metrics = map[measure.Metric]float64{measure.Throughput: 14e6}
		r.Parameters["reverse"] = run.Task.Parameters["reverse"]
		r.Samples.TCPInfo = []measure.TCPSample{{End: measure.Sender, Direction: measure.Forward, Stream: 1}}
	}
}

// A diagnosis streams its plan, what its steps do, and what was found, which is filed.
func TestDiagnosis(t *testing.T) {
	b := newBench(t)
	b.hub.adds = transfers
	close(b.hub.held)
	b.run()
	b.serve(b.Handler(owner))
	answer := b.call(t.Context(), http.MethodPost, "/api/v1/diagnoses", fromAToB)
	defer answer.Body.Close()
	var states []string
	var last control.DiagnosisLine
	for decoder := json.NewDecoder(answer.Body); decoder.More(); {
		last = control.DiagnosisLine{}
		if err := decoder.Decode(&last); err != nil {
			t.Fatal(err)
		}
		if last.State == control.StepDone {
			states = append(states, last.Step)
		}
	}
	want := []string{"ping", "trace", "transactions", "connections", "capacity", "capacity-reverse", "transfer", "audit", "audit-far", "transfer-reverse"}
	if answer.Header.Get("Content-Type") != jsonLines || !slices.Equal(states, want) || last.Diagnosis == nil {
		t.Fatalf("%s: steps %q, at last %+v", answer.Status, states, last)
	}
	b.expect(http.MethodGet, "/api/v1/results?kind=diagnosis&source=a&target=b", "", http.StatusOK, `"id":"`+last.ID)
	b.expect(http.MethodGet, "/api/v1/results/"+last.ID, "", http.StatusOK, `"findings":[{"id":"capacity-unknown"`)
	testReport(b, last)
}

// A diagnosis that was filed has its report, in each format, with each of its Results; a Result of another kind has none.
func testReport(b *bench, last control.DiagnosisLine) {
	b.t.Helper()
	kept := last.Diagnosis.Results[:len(last.Diagnosis.Results)-1] // the bench's hosts file nothing
	if err := b.Archive.Put(b.t.Context(), kept); err != nil {
		b.t.Fatal(err)
	}
	path := "/api/v1/results/" + last.ID + "/report"
	for query, wants := range map[string][]string{
		"": {"<h1>Problem report: a to b</h1>", "capacity-unknown", kept[4].ID, "is no longer kept"},
		"?format=md&observed=all+night&since=May": {"# Problem report: a to b", "| Observed | all night |", "| Since | May |"},
		"?format=json&mask=true":                  {`"schema": "pathwise.report/1"`, `"masked": true`},
	} {
		for _, want := range wants {
			b.expect(http.MethodGet, path+query, "", http.StatusOK, want)
		}
	}
	b.expect(http.MethodGet, path+"?format=pdf", "", http.StatusUnprocessableEntity, "format")
	b.expect(http.MethodGet, "/api/v1/results/"+kept[0].ID+"/report", "", http.StatusUnprocessableEntity, "want one of a diagnosis")
	b.expect(http.MethodGet, "/api/v1/results/01KAG0000000000000000000ZZ/report", "", http.StatusNotFound, "")
	answer := b.call(b.t.Context(), http.MethodGet, path, "")
	defer answer.Body.Close()
	saved := answer.Header.Get("Content-Disposition") == `attachment; filename="pathwise-`+last.ID+`.html"`
	if !saved || !strings.Contains(answer.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		b.t.Errorf("the header of a report: %v", answer.Header)
	}
}

// The report of a diagnosis has the parts of its path, as they were filed, and what was measured over them.
func TestReportOfParts(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(owner))
	part := measure.NewResult("ping", time.Now())
	part.ID, part.Source.Name, part.Target.Name = "01KAG0000000000000000000AB", "a", "p"
	part.Tool, part.Role = "ping", measure.RoleDemand
	part.Metrics[measure.RTTMin] = 0.004
	filed := measure.NewResult(control.KindDiagnosis, time.Now())
	filed.ID, filed.Source.Name, filed.Target.Name = "01KAG0000000000000000000AA", "a", "b"
	filed.Tool, filed.Role = control.KindDiagnosis, measure.RoleDemand
	filed.Parameters = map[string]any{"verdict": "random-loss", "results": []any{}, "segments": map[string]any{
		"way": "forward", "says": "p - b holds the path back.", "blamed": []any{"p - b"}, "results": []any{part.ID, "01KAG0000000000000000000AC"},
		"segments": []any{map[string]any{"from": "a", "to": "p", "outcome": "pass"}, map[string]any{"from": "p", "to": "b", "outcome": "fail"}}}}
	if err := b.Archive.Put(t.Context(), []*measure.Result{part, filed}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"## By its parts, forward", "**p - b holds the path back.**", "| p - b | - |", "### ping, a to p",
		`Result "01KAG0000000000000000000AC" is no longer kept`} {
		b.expect(http.MethodGet, "/api/v1/results/"+filed.ID+"/report?format=md", "", http.StatusOK, want)
	}
}

// What cannot be diagnosed is told by a status; what shows on the way is the last line.
func TestDiagnosisRefused(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(owner))
	b.expect(http.MethodPost, "/api/v1/diagnoses", fromAToB, http.StatusServiceUnavailable, "try again")
	close(b.hub.held)
	b.run()
	for _, c := range []struct {
		body string
		want int
		has  string
	}{
		{"", 400, "body"}, {`{"source": "a"}`, 422, "target"}, {`{"source": "a", "target": "b", "tool": "ping"}`, 422, "tool"},
		{`{"source": "x", "target": "b"}`, 422, `source: \"x\": want a host of the mesh file`},
		{`{"source": "a", "target": "a"}`, 422, `target: \"a\": want another host`},
		{`{"source": "a", "target": "b", "patience_seconds": -1}`, 422, "patience_seconds"},
	} {
		b.expect(http.MethodPost, "/api/v1/diagnoses", c.body, c.want, c.has)
	}
	for source, why := range map[string]string{"a": "what came of it tells no throughput", "gone": "away", "strict": "refused"} {
		_, text, _ := b.ask(http.MethodPost, "/api/v1/diagnoses", strings.Replace(fromAToB, `"a"`, `"`+source+`"`, 1))
		all := strings.Split(strings.TrimSpace(text), "\n")
		if last := all[len(all)-1]; !strings.HasPrefix(all[0], `{"plan":[{"step":"ping"`) || !strings.HasPrefix(last, `{"error":"no transfer was measured: `) ||
			!strings.Contains(last, why) {
			t.Errorf("%s: %s", source, text)
		}
	}
	b.serve(b.Handler(public))
	b.expect(http.MethodPost, "/api/v1/diagnoses", fromAToB, 401, "or a token")
	b.expect(http.MethodPost, "/api/v1/diagnoses", fromAToB, 403, "caller", "Authorization", "Bearer "+b.token("bob"))
	b.expect(http.MethodPost, "/api/v1/diagnoses", fromAToB, 200, "no transfer was measured", "Authorization", "Bearer "+b.token("alice"))
	log, err := b.Accounts.Audit("", 10)
	if err != nil {
		t.Fatal(err)
	}
	for who, outcome := range map[string]string{"bob": "denied", "alice": "asked"} {
		if !slices.ContainsFunc(log.Entries, func(e account.Entry) bool {
			return e.Who == who && e.What == "diagnose" && e.On == "from a to b" && e.Outcome == outcome
		}) {
			t.Errorf("%s is not noted as %s: %+v", who, outcome, log)
		}
	}
}

// A client that goes away ends its diagnosis: the step is called back.
func TestDiagnosisEndsWithItsClient(t *testing.T) {
	b := newBench(t)
	b.run()
	b.serve(b.Handler(owner))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answer := b.call(ctx, http.MethodPost, "/api/v1/diagnoses", fromAToB)
	defer answer.Body.Close()
	for lines := json.NewDecoder(answer.Body); ; {
		var l control.DiagnosisLine
		if err := lines.Decode(&l); err != nil {
			t.Fatal(err)
		}
		if l.Progress != nil {
			cancel()
			break
		}
	}
	<-b.hub.canceled
}

// What is to run next has one entry for each run.
func TestPlanOfRuns(t *testing.T) {
	b := newBench(t)
	b.run()
	b.serve(b.Handler(public))
	_, text, _ := b.ask(http.MethodGet, "/api/v1/plan?host=a&limit=1", "")
	var doc planDoc
	if err := json.Unmarshal([]byte(text), &doc); err != nil || len(doc.Runs) != 1 || doc.Runs[0].Tool != "rtt" || !doc.Runs[0].End.After(doc.Runs[0].Start) {
		t.Errorf("%s, %v", text, err)
	}
	b.expect(http.MethodGet, "/api/v1/plan?host=strict", "", http.StatusOK, `{"runs":[]}`)
	b.expect(http.MethodGet, "/api/v1/plan?host=x", "", http.StatusUnprocessableEntity, `host: \"x\"`)
	b.expect(http.MethodGet, "/api/v1/plan?limit=0", "", http.StatusUnprocessableEntity, "limit")
}
