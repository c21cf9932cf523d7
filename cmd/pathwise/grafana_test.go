package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ohler55/ojg/jp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/archive/generated"
	"github.com/pathwise-net/pathwise/export"
	"github.com/pathwise-net/pathwise/measure"
)

// dashboards are what deploy/grafana asks for, by the names of panels and variables.
type dashboards struct {
	queries   []query // of Prometheus
	calls     []call  // of the API
	variables []query // label_values(selector, label)
}

type query struct{ of, expr, legend string }

type call struct {
	of, path string
	params   url.Values
	root     string
	columns  []string
}

// dashboardFile is a dashboard's JSON as Grafana reads it, as far as we look.
type dashboardFile struct {
	UID        string
	Templating struct {
		List []struct {
			Name, Regex string
			Query       any
		}
	}
	Panels []struct {
		ID      int
		Title   string
		GridPos struct{ X, Y, W, H int }
		Targets []struct {
			Expr, LegendFormat, URL string
			RootSelector            string                      `json:"root_selector"`
			Columns                 []struct{ Selector string } `json:"columns"`
			Options                 struct {
				Params []struct{ Key, Value string }
			} `json:"url_options"`
		}
	}
}

// readDashboards reads both, and checks what they hold together by.
func readDashboards(t *testing.T) *dashboards {
	t.Helper()
	files, err := filepath.Glob("../../deploy/grafana/dashboards/*.json")
	if err != nil || len(files) != 2 {
		t.Fatalf("%d dashboards, error %v", len(files), err)
	}
	all := &dashboards{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var d dashboardFile
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if d.UID+".json" != filepath.Base(file) {
			t.Errorf("%s has the UID %q, which links go by", file, d.UID)
		}
		all.add(t, &d)
	}
	return all
}

func (all *dashboards) add(t *testing.T, d *dashboardFile) {
	t.Helper()
	var names []string
	for _, v := range d.Templating.List {
		names = append(names, v.Name)
		if q, ok := v.Query.(map[string]any); ok {
			all.variables = append(all.variables, query{d.UID + ", $" + v.Name, fmt.Sprint(q["query"]), v.Regex})
		}
	}
	for _, want := range []string{"source", "target", "metric", "prometheus", "pathwise"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s has no variable %s", d.UID, want)
		}
	}
	seen := map[int]bool{}
	for _, p := range d.Panels {
		of := d.UID + ", " + p.Title
		if seen[p.ID] || p.GridPos.X+p.GridPos.W > 24 || p.GridPos.H == 0 {
			t.Errorf("%s: its ID is taken, or it has no place: %+v", of, p.GridPos)
		}
		seen[p.ID] = true
		for _, target := range p.Targets {
			if target.Expr != "" {
				all.queries = append(all.queries, query{of, target.Expr, target.LegendFormat})
				continue
			}
			c := call{of: of, path: target.URL, params: url.Values{}, root: target.RootSelector}
			for _, p := range target.Options.Params {
				c.params.Add(p.Key, p.Value)
			}
			for _, column := range target.Columns {
				c.columns = append(c.columns, column.Selector)
			}
			all.calls = append(all.calls, c)
		}
	}
}

// filled has the variables of a dashboard filled in, as Grafana does.
func filled(text string) string {
	now := time.Now().UTC()
	const form = "2006-01-02T15:04:05.000Z" // of ${…:date:iso}
	return strings.NewReplacer("${source}", "ucl", "$source", "ucl", "${target}", "cern", "$target", "cern",
		"${metric}", "rtt_median_seconds", "$metric", "rtt_median_seconds", "$__rate_interval", "1m0s", "$__range", "3600s",
		"${__interval}", "5m", "${__from:date:iso}", now.Add(-24*time.Hour).Format(form), "${__to:date:iso}", now.Add(time.Minute).Format(form)).Replace(text)
}

// Every query of the dashboards has an answer from a real Prometheus that scrapes what we export, with the labels that its
// legend names; and each variable has values.
func TestGrafanaQueries(t *testing.T) {
	t.Parallel()
	all := readDashboards(t)
	if len(all.queries) < 15 || len(all.variables) != 6 {
		t.Fatalf("%d queries and %d variables were read", len(all.queries), len(all.variables))
	}
	p := startPrometheus(t, exported(t))
	label := regexp.MustCompile(`\{\{(\w+)\}\}`)
	for _, q := range all.queries {
		labels := p.ask(t, q.of, filled(q.expr))
		for _, named := range label.FindAllStringSubmatch(q.legend, -1) {
			if labels[named[1]] == "" {
				t.Errorf("%s: its legend names %s, its answer has %v", q.of, named[1], labels)
			}
		}
	}
	values := regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)
	for _, v := range all.variables {
		parts := values.FindStringSubmatch(filled(v.expr))
		if parts == nil {
			t.Fatalf("%s: %q is no label_values(selector, label)", v.of, v.expr)
		}
		var found []string
		p.get(t, "/api/v1/label/"+parts[2]+"/values", url.Values{"match[]": {parts[1]}}, &found)
		want := map[string]string{"source": "ucl", "target": "cern", "__name__": "pathwise_rtt_median_seconds"}[parts[2]]
		if !slices.Contains(found, want) {
			t.Errorf("%s: %v, want %s among them", v.of, found, want)
		}
		if parts[2] == "__name__" && v.legend != "/^pathwise_(?!result_)(.+)$/" { // RE2 knows no (?!, so it is not tried here
			t.Errorf("%s: names are cut by %s", v.of, v.legend)
		}
	}
}

// exported is a page of metrics as a controller shows it: two hosts that measured to each other, of which one is away now.
func exported(t *testing.T) string {
	t.Helper()
	c := export.NewCollector(export.CollectorOptions{State: func() export.State {
		return export.State{Hosts: []export.Host{{Name: "ucl", Here: true}, {Name: "cern"}}}
	}})
	for _, ends := range [][2]string{{"ucl", "cern"}, {"cern", "ucl"}} {
		for tool, metrics := range map[string]map[measure.Metric]float64{
			"rtt":  {measure.RTTMin: 0.02, measure.RTTMedian: 0.021, measure.RTTP95: 0.025, measure.RTTMax: 0.03, measure.LossRatio: 0.1},
			"bulk": {measure.Throughput: 1e7, measure.Retransmits: 3}, "path": {measure.HopCount: 12}, "broken": nil,
		} {
			r := measure.NewResult(tool, time.Now().Add(-time.Minute))
			r.Tool, r.Test, r.Metrics = tool, tool+"@all", metrics
			r.Source.Name, r.Target.Name = ends[0], ends[1]
			if metrics == nil {
				r.Fail(fmt.Errorf("it is broken"))
			}
			c.Observe(r)
			c.Missed(measure.Miss{Tool: tool})
		}
	}
	handler, err := c.Handler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// scraper is a Prometheus that runs until the test ends.
type scraper struct{ url string }

func startPrometheus(t *testing.T, target string) scraper {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("prometheus (Debian: prometheus) is not installed")
	}
	folder, address := t.TempDir(), freeAddress(t)
	file := filepath.Join(folder, "prometheus.yml")
	config := fmt.Sprintf("scrape_configs: [{job_name: pathwise, scrape_interval: 1s, static_configs: [{targets: ['%s']}]}]\n", target)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), program, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(folder, "data"),
		"--web.listen-address="+address, "--log.level=warn")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() }) // it ends by no other way
	return scraper{"http://" + address}
}

// ask has a query answered, as soon as there is something to answer, and returns the labels of the first series.
func (p scraper) ask(t *testing.T, of, expr string) map[string]string {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(200 * ms) { // it scrapes by and by
		var found struct {
			Result []struct{ Metric map[string]string }
		}
		p.get(t, "/api/v1/query", url.Values{"query": {expr}}, &found)
		switch {
		case len(found.Result) > 0:
			return found.Result[0].Metric
		case time.Now().After(deadline):
			t.Fatalf("%s: no answer to %s", of, expr)
		}
	}
}

// get reads the data of an answer; a Prometheus that only starts is asked again.
func (p scraper) get(t *testing.T, path string, query url.Values, data any) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * ms) {
		answer, err := http.Get(p.url + path + "?" + query.Encode())
		if err == nil && answer.StatusCode != http.StatusServiceUnavailable {
			defer answer.Body.Close()
			text, _ := io.ReadAll(answer.Body)
			if err := json.Unmarshal(text, &struct{ Data any }{data}); err != nil || answer.StatusCode != http.StatusOK {
				t.Fatalf("%s of %v: %s: %s", path, query, answer.Status, text)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("prometheus does not answer: %v", err)
		}
	}
}

// Every call of the dashboards is answered by a controller with what its panel reads.
func TestGrafanaCalls(t *testing.T) {
	all := readDashboards(t)
	if len(all.calls) < 5 {
		t.Fatalf("%d calls were read", len(all.calls))
	}
	page := startHistory(t)
	for _, c := range all.calls {
		params := url.Values{}
		for key, values := range c.params {
			for _, v := range values {
				params.Add(key, filled(v))
			}
		}
		answer, err := http.Get(page + filled(c.path) + "?" + params.Encode())
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		var doc any
		if err := json.Unmarshal(text, &doc); err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s: %s", c.of, answer.Status, text)
			continue
		}
		for _, column := range c.columns {
			if x := jp.MustParseString(c.root + "[*]." + dotted.ReplaceAllString(column, "[$1]")); !x.Has(doc) {
				t.Errorf("%s: no %s in %s of %.300s", c.of, column, c.root, text)
			}
		}
	}
}

// dotted is how a column names an element of a list.
var dotted = regexp.MustCompile(`\.(\d+)`)

// startHistory runs a controller, without agents, over a past of two hosts, and returns where it answers.
func startHistory(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	store, err := archive.Open(t.Context(), filepath.Join(folder, "archive.sqlite"), archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	past := generated.Day([]generated.Host{{Name: "ucl", Address: "192.0.2.1"}, {Name: "cern", Address: "192.0.2.2"}}, now, 1)
	verdict := measure.NewResult("diagnosis", now.Add(-time.Hour))
	verdict.ID, verdict.Tool, verdict.Source.Name, verdict.Target.Name = "01KAG0000000000000000000AA", "diagnosis", "ucl", "cern"
	verdict.Parameters["verdict"] = "random-loss"
	verdict.Metrics = map[measure.Metric]float64{measure.Achieved: 1e6, measure.Expected: 1e7}
	miss := measure.Miss{Run: "01KAG0000000000000000000AB", Test: "rtt", Tool: "rtt", Source: "ucl", Target: "cern", Start: now.Add(-time.Hour), Why: "away"}
	for _, err := range []error{past.Fill(t.Context(), store), store.Put(t.Context(), []*measure.Result{verdict}),
		store.PutMisses(t.Context(), []measure.Miss{miss}), store.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	file, listen := filepath.Join(folder, "mesh.yaml"), freeAddress(t)
	mesh := fmt.Sprintf("controller: {data: %q, listen: %q, public: true, nats: {listen: %q}}\nhosts: {ucl: 192.0.2.1, cern: 192.0.2.2}\n",
		folder, listen, freeAddress(t))
	if err := os.WriteFile(file, []byte(mesh), 0o600); err != nil {
		t.Fatal(err)
	}
	c := selfProcess(t, "serve", file)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() }) // what it kept goes, too
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * ms) {
		if answer, err := http.Get("http://" + listen + "/api/v1/health"); err == nil {
			answer.Body.Close()
			return "http://" + listen
		}
		if time.Now().After(deadline) {
			t.Fatal("the controller does not answer")
		}
	}
}
