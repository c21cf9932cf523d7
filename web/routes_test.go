package web

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

const (
	firstID = "01KAG0000000000000000000AA"
	noID    = "01KAG0000000000000000000ZZ"
)

// filed puts some Results and a miss into the archive, of minutes ago.
func (b *bench) filed() {
	b.t.Helper()
	at := time.Now().Add(-10 * time.Minute)
	var results []*measure.Result
	for i, id := range []string{firstID, "01KAG0000000000000000000AB", "01KAG0000000000000000000AC"} {
		results = append(results, resultOf(id, at.Add(time.Duration(i)*time.Minute)))
	}
	if err := b.Archive.Put(b.t.Context(), results); err != nil {
		b.t.Fatal(err)
	}
	miss := measure.Miss{Run: "01KAG0000000000000000000AD", Test: "rtt@all", Tool: "rtt", Source: "a", Target: "b", Start: at, Why: "a is away"}
	if err := b.Archive.PutMisses(b.t.Context(), []measure.Miss{miss}); err != nil {
		b.t.Fatal(err)
	}
}

const series = "/api/v1/pairs/a/b/series?metric=rtt_median_seconds&test=rtt@all&tool=rtt"

// Each route that reads answers on each listener with what is there.
func TestReading(t *testing.T) {
	b := newBench(t)
	b.filed()
	b.run()
	for name, handler := range map[string]http.Handler{"public": b.Handler(public), "owner": b.Handler(owner)} {
		t.Run(name, func(t *testing.T) {
			b := &bench{Server: b.Server, t: t, hub: b.hub, said: b.said}
			b.serve(handler)
			for path, has := range map[string]string{
				"/api/v1/health":                             `{"status":"ok","version":"v1"}`,
				"/api/v1/status":                             `"schema":"pathwise.status/1"`,
				"/api/v1/status?misses=1&from=-1h":           `"why":"a is away"`,
				"/api/v1/hosts":                              `"name":"strict"`,
				"/api/v1/pairs":                              `{"source":"a","target":"b"`,
				"/api/v1/tools":                              `"name":"rtt","kind":"ping","of_mesh":true`,
				series + "&from=-1h":                         `"step_seconds":`,
				series + "&from=-1h&step=5m&quantiles=0,0.5": `"quantiles":[0,0.5]`,
				series + "&from=-10d&least_gap=1d":           `"gaps":[{"from"`,
				series + "&from=-10d&least_gap=20d":          `"gaps":[]`,
				"/api/v1/results":                            firstID,
				"/api/v1/results?limit=1&status=ok&from=-1h": `"next":`,
				"/api/v1/results?format=jsonl":               firstID,
				"/api/v1/results?source=b":                   `"results":[]`,
				"/api/v1/results/" + firstID:                 `"schema":"pathwise.result/2"`,
				"/api/v1/misses":                             `"why":"a is away"`,
				"/api/v1/misses?source=b":                    `"misses":[]`,
				"/api/v1/plan?host=a&limit=1":                `"tool":"rtt"`,
				"/api/v1/routes":                             `"nodes":[],"links":[]`,
				"/api/v1/labs":                               `"enabled":false`,
				"/api/v1/formulas":                           `"name":"mathis"`,
				"/api/v1/formulas/bdp?in=rate=8k&in=rtt=1s":  `"value":1000`,
				"/api/v1/titles":                             `"random-loss":"Packets are lost although the path is not busy"`,
				"/api/v1/knowledge":                          `"id":"receive-window-limited"`,
				"/metrics":                                   "pathwise_hosts 4",
			} {
				b.expect(http.MethodGet, path, "", http.StatusOK, has)
			}
		})
	}
}

// Pages of results follow one another to the end, and CSV and JSON lines have them all.
func TestResultsInWhole(t *testing.T) {
	b := newBench(t)
	b.filed()
	b.serve(b.Handler(public))
	cursor, ids := "", []string{}
	for range 5 {
		_, text, _ := b.ask(http.MethodGet, "/api/v1/results?limit=1&cursor="+cursor, "")
		var page struct {
			Results []measure.Result
			Next    string
		}
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Results {
			ids = append(ids, r.ID)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if len(ids) != 3 || ids[2] != firstID || cursor != "" {
		t.Errorf("pages of one: %v, and then %q", ids, cursor)
	}
	_, text, header := b.ask(http.MethodGet, "/api/v1/results?format=csv", "")
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 1+3*2 || header.Get("Content-Type") != "text/csv; charset=utf-8" {
		t.Errorf("CSV: %d rows, %v of %s", len(rows), err, header)
	}
	_, text, _ = b.ask(http.MethodGet, "/api/v1/results?format=csv&wide=true", "")
	rows, err = csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 1+3 || len(rows[0]) <= 9 {
		t.Errorf("wide CSV: %v, %d rows, the first %v", err, len(rows), rows)
	}
	_, text, header = b.ask(http.MethodGet, "/api/v1/results?format=jsonl", "")
	if n := strings.Count(text, "\n"); n != 3 || header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("JSON lines: %d of %s", n, header)
	}
}

// The series come in pages, too, each once.
func TestKeysInPages(t *testing.T) {
	b := newBench(t)
	b.filed()
	b.serve(b.Handler(public))
	var got []string
	for cursor := "start"; cursor != ""; {
		page := read[keysDoc](b, "/api/v1/keys?limit=1&cursor="+strings.TrimPrefix(cursor, "start"))
		for _, k := range page.Keys {
			got = append(got, string(k.Metric))
		}
		if cursor = page.Next; len(got) > 2 {
			break
		}
	}
	if want := []string{"rtt_median_seconds", "rtt_min_seconds"}; !slices.Equal(got, want) {
		t.Errorf("pages of one: %q, want %q", got, want)
	}
	b.expect(http.MethodGet, "/api/v1/keys?cursor=none", "", http.StatusUnprocessableEntity, "of a page of the same query")
}

// What cannot be read is 422 with the parameter, the value and what would be right; what is not there is 404.
func TestBadQueries(t *testing.T) {
	b := newBench(t)
	b.filed()
	b.serve(b.Handler(owner))
	for path, want := range map[string]string{
		"/api/v1/status?from=yesterday":                               `want a time such as`,
		"/api/v1/status?misses=-1":                                    `expected number >= 1`,
		"/api/v1/status?misses=1001":                                  `expected number <= 1000`,
		"/api/v1/status?mises=5":                                      `query.mises`,
		"/api/v1/results?limit=many":                                  `query.limit","value":"many"`,
		"/api/v1/results?to=-fast":                                    `query.to","value":"-fast"`,
		"/api/v1/results?format=xml":                                  `json, jsonl, csv`,
		"/api/v1/results?cursor=zz":                                   `cursor`,
		"/api/v1/results?status=good":                                 `ok, partial, failed`,
		"/api/v1/results?format=csv&status=good":                      `query.status`,
		"/api/v1/misses?limit=1e3":                                    `query.limit","value":"1e3"`,
		"/api/v1/pairs/a/b/series?from=-1h":                           `query.metric`,
		"/api/v1/pairs/a/b/series?metric=rtt_median_seconds":          `query.from`,
		series + "&from=-1h&to=-2h":                                   `want a time before to`,
		series + "&from=-1h&step=often":                               `want a time such as 5m`,
		series + "&from=-1h&least_gap=-1d":                            `want`,
		series + "&from=-1h&quantiles=2":                              `query.quantiles[0]","value":2`,
		series + "&from=-1h&quantiles=NaN":                            `NaN`,
		series + "&from=-1h&quantiles=" + strings.Repeat("0.5,", 200): `query.quantiles`,
		series + "&from=1970-01-01T00:00:00Z&step=1ns":                `step`,
		"/api/v1/routes?from=-1h&to=-2h":                              `want a time before to`,
		"/api/v1/results/none":                                        `want a ULID`,
	} {
		b.expect(http.MethodGet, path, "", http.StatusUnprocessableEntity, want)
	}
	b.expect(http.MethodGet, "/api/v1/results/"+noID, "", http.StatusNotFound, "no such result")
	b.expect(http.MethodGet, "/api/v1/nothing", "", http.StatusNotFound, "")
	b.expect(http.MethodDelete, "/api/v1/results/"+firstID, "", http.StatusMethodNotAllowed, "")
	b.Metrics = nil
	b.serve(b.Handler(owner))
	b.expect(http.MethodGet, "/metrics", "", http.StatusNotFound, "")
}

// A document that has not changed is not sent again.
func TestUnchangedIsNotSentAgain(t *testing.T) {
	b := newBench(t)
	b.filed()
	b.serve(b.Handler(public))
	_, _, header := b.ask(http.MethodGet, "/api/v1/pairs", "")
	tag := header.Get("ETag")
	if tag == "" {
		t.Fatal("a document without a tag")
	}
	for _, tags := range []string{tag, `"other", ` + tag, strings.TrimPrefix(tag, "W/"), "*"} {
		status, text, _ := b.ask(http.MethodGet, "/api/v1/pairs", "", "If-None-Match", tags)
		if status != http.StatusNotModified || text != "" {
			t.Errorf("If-None-Match %s: %d %s", tags, status, text)
		}
	}
	b.expect(http.MethodGet, "/api/v1/pairs", "", http.StatusOK, "pairs", "If-None-Match", `W/"other"`)
	for path, want := range map[string]string{"/api/v1/pairs": "private, no-cache", "/api/v1/results?format=csv": "private, no-cache",
		"/api/v1/results/" + noID: "private, no-cache", "/api/v1/config": "no-store", "/api/v1/config/history/" + noID: "no-store"} {
		if _, _, header := b.ask(http.MethodGet, path, ""); header.Get("Cache-Control") != want {
			t.Errorf("%s: Cache-Control %q, want %q", path, header.Get("Cache-Control"), want)
		}
	}
	b.expect(http.MethodGet, "/api/v1/results/"+noID, "", http.StatusNotFound, "no such", "If-None-Match", "*")
}

// A backup goes to a new file on the controller's machine, of an absolute path.
func TestBackup(t *testing.T) {
	b := newBench(t)
	b.filed()
	b.serve(b.Handler(owner))
	path := filepath.Join(b.folder, "backup")
	body := fmt.Sprintf(`{"path": %q}`, path)
	b.expect(http.MethodPost, "/api/v1/backup", body, http.StatusOK, path)
	b.expect(http.MethodPost, "/api/v1/backup", body, http.StatusUnprocessableEntity, "a new file")
	b.expect(http.MethodPost, "/api/v1/backup", fmt.Sprintf(`{"path": %q}`, path+"s/none"), http.StatusUnprocessableEntity, "a folder that is there")
	for bad, want := range map[string]int{"": http.StatusBadRequest, "{": http.StatusBadRequest,
		`{"path": "relative"}`: http.StatusUnprocessableEntity, `{"path": 1}`: http.StatusUnprocessableEntity,
		`{"other": "x"}`: http.StatusUnprocessableEntity} {
		b.expect(http.MethodPost, "/api/v1/backup", bad, want, "")
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		t.Errorf("backup: %v, %v", info, err)
	}
}

// Every status of the host list is one that the house knows.
func TestHostsHaveStates(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(public))
	_, text, _ := b.ask(http.MethodGet, "/api/v1/hosts", "")
	var doc struct {
		Hosts []struct{ Name, State, Reach, Address string }
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil || len(doc.Hosts) != 4 {
		t.Fatalf("%s: %v", text, err)
	}
	for _, h := range doc.Hosts {
		if h.State != "away" || h.Reach != "agent" || !slices.Contains([]string{"a", "b", "gone", "strict"}, h.Name) {
			t.Errorf("host %+v", h)
		}
	}
}

// The matrix has a row and a column for each host of the mesh, and nothing where nothing was measured.
func TestMatrix(t *testing.T) {
	b := newBench(t)
	b.filed()
	b.serve(b.Handler(public))
	_, text, _ := b.ask(http.MethodGet, "/api/v1/matrix?metric=rtt_median_seconds&span=30m&baseline=7d", "")
	type part struct{ Low, Median, High []*float64 }
	var doc struct {
		Unit, Better string
		From, To     time.Time
		Hosts        []struct{ Name string }
		Values       []*float64
		Counts       []int
		Baseline     part
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if doc.Unit != "seconds" || doc.Better != "low" || len(doc.Hosts) != 4 || doc.Hosts[0].Name != "a" || doc.Hosts[1].Name != "b" {
		t.Errorf("%.300s", text)
	}
	if d := doc.To.Sub(doc.From); d < 30*time.Minute || d > 36*time.Minute {
		t.Errorf("a span of %v, want 30 minutes and what rounding adds", d)
	}
	for i := range 16 { // of 4 x 4, a to b is the second
		if there := doc.Values[i] != nil; there != (i == 1) || there != (doc.Counts[i] == 3) || doc.Baseline.Median[i] != nil {
			t.Errorf("cell %d: %v, of %d values, baseline %v", i, doc.Values[i], doc.Counts[i], doc.Baseline.Median[i])
		}
	}
	if v := *doc.Values[1]; v < 0.0123 || v > 0.0127 {
		t.Errorf("median %v, want 0.0125", v)
	}
	for _, bad := range []string{"metric=", "metric=x&span=-1h", "metric=x&span=9999y", "metric=x&at=then", "metric=x&baseline=201y"} {
		b.expect(http.MethodGet, "/api/v1/matrix?"+bad, "", http.StatusUnprocessableEntity, "")
	}
}
