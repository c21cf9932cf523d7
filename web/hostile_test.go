package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/export"
	"github.com/pathwise-net/pathwise/measure"
)

// hostileResults are Results in which one thing is as no host would have it.
var hostileResults = []string{
	`{"schema":"pathwise.result/2","id":"01M82GKAQ0KARY6BESFD5VDGBC","kind":"trace","status":"ok","error":null,"source":{"name":"a","address":"10.0.0.1"},"target":{"name":"b","address":"x"},"started":"2026-11-22T20:54:09Z","duration_seconds":-1,"parameters":null,"metrics":{"hop_count":-1},"samples":{"hops":[{"ttl":-2147483648,"addresses":null,"rtt_seconds":[null]},{"ttl":9223372036854775807,"addresses":["",""],"rtt_seconds":[-1e308]}]},"notes":null}`,
	`{"schema":"pathwise.result/2","id":"01M82GKAQ0KARY6BESFD5VDGBD","kind":"throughput","status":"ok","source":{"name":"a"},"target":{"name":"b"},"way":"both","started":"1970-01-01T00:00:00Z","duration_seconds":1e308,"parameters":{"parallel":-1,"duration":"x","mss":0},"metrics":{"throughput_bits_per_second":1e308,"reverse_throughput_bits_per_second":-1e308,"loss_ratio":5e-324},"samples":{"intervals":[{"stream":-1,"end_seconds":-1,"bytes":-9223372036854775808,"bits_per_second":1e308}],"tcp_info":[{"end":"sender","snd_cwnd":-1}],"ends":[{}],"trains":[{"sent_packets":-5}]}}`,
	`{"schema":"pathwise.result/2","id":"01M82GKAQ0KARY6BESFD5VDGBE","kind":"ping","status":"failed","error":"` + "\\u0000\\u202e" + `","source":{"name":"a"},"target":{"name":"a"},"started":"2199-12-31T23:59:59.999999999Z","metrics":{"x":1,"rtt_median_seconds":-0.0,"host_x":1e-320},"samples":{"echoes":[{"seq":-1,"rtt_seconds":-1},{"seq":9223372036854775807}],"host":{},"output":{"command":null},"findings":[{"id":"x","confidence":1e308}]}}`,
	`{"schema":"pathwise.result/2","id":"01M82GKAQ0KARY6BESFD5VDGBF","kind":"capacity","status":"partial","source":{"name":"a"},"target":{"name":"=cmd"},"role":"diagnosis/x/capacity","started":"2026-11-22T20:54:09Z","metrics":{"capacity_bits_per_second":0,"available_bits_per_second":-1},"samples":{"trains":[{"dispersion_seconds":-1,"bits_per_second":1e308}]}}`,
	`{"schema":"pathwise.result/2","id":"01M82GKAQ0KARY6BESFD5VDGCA","kind":"ping","status":"ok","error":null,"source":{"name":"a"},"target":{"name":"b"},"started":"2026-11-22T20:54:09Z","parameters":{},"metrics":{"rtt_median_seconds":0.5,"rtt_min_seconds":9,"rtt_max_seconds":-1,"received_packets":3},"distributions":{"rtt_seconds":"EwI/8AFA"}}`,
	`{"schema":"pathwise.result/2","id":"01M82GKAQ0KARY6BESFD5VDGCB","kind":"ping","status":"ok","error":null,"source":{"name":"a"},"target":{"name":"b"},"started":"2026-11-22T20:54:09Z","parameters":{},"metrics":{"rtt_median_seconds":1e308,"rtt_p95_seconds":-1e308},"distributions":{"rtt_seconds":"Ev////8DCH/v////////","x":"EwI/8AFA"}}`,
	`{"schema":"pathwise.result/2","id":"01M82GKAQ0KARY6BESFD5VDGCC","kind":"ping","status":"ok","error":null,"source":{"name":"a"},"target":{"name":"b"},"started":"2026-11-22T20:54:09Z","parameters":{},"metrics":{"distribution/rtt_seconds":1,"rtt_seconds":2},"distributions":{"rtt_seconds":"FAICv/ACP/AAAAEAAQEAAQ==","owd_forward_seconds":"FAICv/ACP/AAAAEAAQEAAQ=="}}`,
	`{"schema":"pathwise.result/2","id":"01M82GKAQ0KARY6BESFD5VDGCD","kind":"ping","status":"ok","error":null,"source":{"name":"a"},"target":{"name":"b"},"started":"2026-11-22T20:54:09Z","parameters":{},"metrics":{},"distributions":{"rtt_seconds":"EwI/8AFA","":"EA==","owd_reverse_seconds":null}}`,
	`{"schema":"pathwise.result/2","id":"01M82GKAQ0KARY6BESFD5VDGCE","kind":"host","status":"ok","error":null,"source":{"name":"a"},"target":{"name":"b"},"subject":{"kind":"flow","name":"=cmd|' /C'!A0 * [ \\ \u202e"},"started":"2026-11-22T20:54:09Z","metrics":{"rtt_median_seconds":1}}`,
	`{"schema":"pathwise.result/2","id":"01M82GKAQ0KARY6BESFD5VDGCF","kind":"host","status":"ok","error":null,"source":{"name":"a"},"target":{"name":"b"},"subject":{"kind":"hop","name":""},"started":"2026-11-22T20:54:09Z","metrics":{"rtt_median_seconds":1}}`,
}

// FuzzHostileResult holds that whatever an agent delivers as Results, lines of JSON as they are unpacked, is refused or filed, and
// that the archive, the pages' answers, the diagnosis and every format of export bear what is filed.
func FuzzHostileResult(f *testing.F) {
	for _, line := range hostileResults {
		f.Add([]byte(line))
	}
	f.Add([]byte(hostileResults[0] + "\n" + hostileResults[1] + "\n" + hostileResults[2] + "\n" + hostileResults[3]))
	var recorded struct{ Results []json.RawMessage }
	text, err := os.ReadFile("../diagnose/testdata/without-sack.json")
	if err := errors.Join(err, json.Unmarshal(text, &recorded)); err != nil {
		f.Fatal(err)
	}
	for _, line := range recorded.Results {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, batch []byte) {
		stuck := time.AfterFunc(time.Minute, func() { panic("what a Result leads to does not end") })
		defer stuck.Stop()
		hostile(t, batch)
	})
}

// hostile files what is a Result in a batch and asks everything about it.
func hostile(t *testing.T, batch []byte) {
	ctx := t.Context()
	store, err := archive.Open(ctx, filepath.Join(t.TempDir(), "hostile"), archive.Options{MoveValues: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Errorf("what was filed cannot be moved: %v", err)
		}
	}()
	filed := fileBatch(t, store, batch)
	if len(filed) == 0 {
		return
	}
	diagnoseAll(t, filed)
	for _, r := range filed {
		kept, err := store.Result(ctx, r.ID)
		if errors.Is(err, archive.ErrUnknown) {
			continue // it is older than what is kept
		}
		if err != nil {
			t.Fatalf("%s: %v", r.ID, err)
		}
		askAll(t, store, kept)
	}
	exportAll(t, store, filed)
}

// fileBatch files as fleet and control do: what is no Result, or an invalid one, is left out.
func fileBatch(t *testing.T, store archive.Archive, batch []byte) (filed []*measure.Result) {
	for line := range bytes.Lines(batch) {
		r := new(measure.Result)
		if json.Unmarshal(line, r) != nil || r.Schema != measure.ResultSchema || r.ID == "" {
			continue
		}
		err := store.Put(t.Context(), []*measure.Result{r})
		var invalid *archive.Invalid
		if errors.As(err, &invalid) {
			continue
		}
		if err != nil {
			t.Fatalf("neither filed nor refused: %v", err)
		}
		filed = append(filed, r)
	}
	return filed
}

func diagnoseAll(t *testing.T, results []*measure.Result) {
	d := diagnose.Diagnose(results)
	if _, err := json.Marshal(d); err != nil {
		t.Errorf("a diagnosis is no JSON: %v", err)
	}
	diagnose.Extend(diagnose.Plan(time.Second, "forward", "reverse"), 0, results)
	diagnose.Measured(results)
	diagnose.IsStuck(results)
}

// askAll asks the API about a Result, about its pair, and about each of its metrics.
func askAll(t *testing.T, store archive.Archive, r *measure.Result) {
	s := &Server{Archive: store, Control: controlOf(t, store)}
	mux := http.NewServeMux()
	s.operations(s.api(mux))
	span := url.Values{"from": {r.Started.Add(-time.Hour).Format(time.RFC3339)}, "to": {r.Started.Add(time.Hour).Format(time.RFC3339)}}
	pair := "/pairs/" + url.PathEscape(r.Source.Name) + "/" + url.PathEscape(r.Target.Name)
	paths := []string{"/results/" + r.ID, "/results?role=*", "/results?format=jsonl&subject=*", "/results?format=csv&subject=*", "/results?format=csv&wide=true",
		"/keys?role=*&subject=*", "/pairs", "/measured", pair + "/routes?" + span.Encode(), pair + "/tools?metric=throughput_bits_per_second&metric=rtt_median_seconds&" + span.Encode(),
		"/changes?" + span.Encode() + "&source=" + url.QueryEscape(r.Source.Name) + "&target=" + url.QueryEscape(r.Target.Name)}
	for i, metric := range slices.Sorted(maps.Keys(r.Metrics)) {
		if i == 5 { // of hundreds, each is asked for as the first is
			break
		}
		q := maps.Clone(span)
		q["metric"], q["role"], q["subject"] = []string{string(metric)}, []string{"*"}, []string{"*"}
		for _, step := range []string{"", "1s", "1m", "1h", "1d"} {
			q["step"] = []string{step}
			paths = append(paths, pair+"/series?"+q.Encode())
		}
	}
	who := &visitor{Identity: account.Owner()}
	for i, path := range paths { // the first is the Result itself
		request := httptest.NewRequest(http.MethodGet, "/api/v1"+path, nil)
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, request.WithContext(context.WithValue(t.Context(), visitorKey{}, who)))
		if w.Code == http.StatusInternalServerError || w.Code == http.StatusForbidden || i == 0 && w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	cells, err := store.Matrix(t.Context(), archive.MatrixQuery{Match: archive.Match{Metric: string(measure.RTTMedian), Subject: "*"},
		From: r.Started.Add(-time.Hour), To: r.Started.Add(time.Hour)})
	if err != nil {
		t.Errorf("matrix: %v of %v", err, cells)
	}
}

// controlOf is one of two hosts that does not run.
func controlOf(t *testing.T, store archive.Archive) *control.Control {
	folder := t.TempDir()
	file := filepath.Join(folder, "mesh.yaml")
	if err := os.WriteFile(file, []byte("hosts: {a: 10.0.0.1, b: 10.0.0.2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := control.New(control.Config{Mesh: file, Data: folder, Hub: &hub{}, Archive: store, NameOf: func(context.Context, string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// exportAll writes everything in each format, and shows it to a Prometheus and to a receiver of remote write.
func exportAll(t *testing.T, store archive.Archive, filed []*measure.Result) {
	for format, write := range map[string]func(context.Context, io.Writer, archive.Archive, archive.ResultQuery) error{
		"JSON lines": export.JSONLines, "CSV": export.CSV,
		"wide CSV": func(ctx context.Context, w io.Writer, a archive.Archive, q archive.ResultQuery) error {
			return export.WideCSV(ctx, w, a, q)
		},
	} {
		if err := write(t.Context(), io.Discard, store, archive.ResultQuery{Subject: "*"}); err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
	c := export.NewCollector(export.CollectorOptions{})
	remote, err := export.NewRemoteWriter(store, export.RemoteOptions{URL: "http://127.0.0.1:9/", UnsentFile: filepath.Join(t.TempDir(), "unsent")})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Seed(t.Context(), store), remote.Observe(filed)); err != nil {
		t.Error(err)
	}
	for _, r := range filed {
		c.Observe(r)
	}
	scrape, err := c.Handler(remote)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	scrape.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Error(fmt.Errorf("scrape: %d %s", w.Code, w.Body))
	}
}
