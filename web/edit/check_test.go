package edit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/control"
)

// What is wrong has file, line and column, and no path; nothing is written.
func TestErrorsOfACheck(t *testing.T) {
	d := newDesk(t, File{"a.yaml", hostsText}, File{"b.yml", testsText})
	for _, c := range []struct {
		files []File
		want  []Problem
	}{
		{[]File{{"a.yaml", hostsText}, {"b.yml", strings.Replace(testsText, "group: all", "group: al", 1)}},
			[]Problem{{"b.yml", 4, 24, `tests[0].group: "al": want the name of a group; did you mean all?`}}},
		{[]File{{"a.yaml", "hosts: {a: 10.0.0.1, b: 10.0.0.2\n"}, {"b.yml", testsText}}, nil},
		{[]File{{"a.yaml", hostsText}, {"b.yml", testsText}, {"c.yaml", "hosts: {a: 10.0.0.9}\n"}},
			[]Problem{{"c.yaml", 1, 9, "hosts.a: want each name once; it is defined at a.yaml:1:9 as well"}}},
	} {
		o, err := d.Check(t.Context(), c.files, false)
		must(t, err)
		if c.want != nil {
			expect(t, "errors", o.Errors, c.want)
		}
		if len(o.Errors) == 0 || o.After != nil || o.Before == nil || o.Diff == "" {
			t.Errorf("%+v", o)
		}
		var wrong *Wrong
		if _, err := d.save(d.current().Version, c.files...); !errors.As(err, &wrong) || strings.Contains(err.Error(), "\n") || len(wrong.Problems) != len(o.Errors) {
			t.Errorf("saved: %v", err)
		}
	}
	expect(t, "files", d.current().Files, []File{{"a.yaml", hostsText}, {"b.yml", testsText}})
	if len(d.History()) > 0 {
		t.Errorf("a check is in the history: %v", d.comments())
	}
}

// Figures go by the rates that the controller goes by now: those of what is on disk, too, although it did not change.
func TestFiguresGoByRates(t *testing.T) {
	files := File{"mesh.yaml", hostsText + bulkText}
	d := newDesk(t, files)
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "rates.json"), []byte(`{"schema": "pathwise.rates/1", "rates": [
		{"tool": "bulk", "source": "a", "target": "b", "bits_per_second": 1e6}, {"tool": "bulk", "source": "b", "target": "a", "bits_per_second": 1e6}]}`), 0o600))
	slow, err := control.ReadRates(folder)
	must(t, err)
	var now *control.Rates
	d.options.Rates = func() *control.Rates { return now }
	check := func() (before, after float64) {
		t.Helper()
		o, err := d.Check(t.Context(), []File{files}, false)
		must(t, err)
		return o.Before.BytesPerDay, o.After.BytesPerDay
	}
	file, _ := check()
	now = slow
	before, after := check()
	if before != after || before > file/100 {
		t.Errorf("%v bytes a day by the file, then %v before and %v after", file, before, after)
	}
}

// What would come of a change is told beside what is.
func TestConsequences(t *testing.T) {
	d := newDesk(t, File{"mesh.yaml", hostsText + testsText})
	started, err := config.Parse([]config.File{{Name: "m", Text: []byte(hostsText)}}, nil)
	must(t, err)
	d.options.Started = started.Controller
	text := "sites: {S: {rate: 1mbit, budget: {daily: 1kB}}, T: {}}\n" +
		strings.Replace(hostsText, "b: 10.0.0.2", "b: {address: 10.0.0.2, site: S}, c: {address: 10.0.0.3, site: T}", 1) + bulkText +
		"controller: {listen: \":9090\", data: /var/lib/pathwise, public: true, remote_write: [{url: http://x.example, headers: {X-A: secret}}]}\n"
	o, err := d.Check(t.Context(), []File{{"mesh.yaml", text}}, false)
	must(t, err)
	before, after := o.Before, o.After
	if len(o.Errors) > 0 || before == nil || after == nil {
		t.Fatalf("%+v", o)
	}
	expect(t, "before", *before, Figures{Hosts: 2, Tests: 1, Pairs: 2, RunsPerDay: 48, BytesPerDay: before.BytesPerDay, Archive: before.Archive})
	expect(t, "after", *after, Figures{Hosts: 3, Tests: 2, Pairs: 12, RunsPerDay: 288, BytesPerDay: after.BytesPerDay, Archive: after.Archive,
		Cycle: after.Cycle, LowerBound: after.LowerBound})
	if after.Cycle < after.LowerBound || after.LowerBound < 10 || after.BytesPerDay < 10*before.BytesPerDay || after.Archive <= before.Archive {
		t.Errorf("%+v after %+v", after, before)
	}
	expect(t, "changes", o.Changes, []string{"new hosts: c", "new tests: bulk@all"})
	var texts []string
	for _, w := range o.Warnings {
		texts = append(texts, w.Text)
		if !w.New {
			t.Errorf("not new: %s", w.Text)
		}
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{"over budget: S daily", "controller.listen takes effect at the next start", "controller.remote_write takes"} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning %q in\n%s", want, all)
		}
	}
	if strings.Contains(all, "secret") || strings.Contains(all, "controller.public") || strings.Contains(all, "controller.data") {
		t.Error(all)
	}
	if !strings.HasPrefix(o.Diff, "--- mesh.yaml\n+++ mesh.yaml\n@@ -1,") || !strings.Contains(o.Diff, "\n+sites: ") && !strings.Contains(o.Diff, "+sites: ") {
		t.Error(o.Diff)
	}

	_, err = d.save(d.current().Version, File{"mesh.yaml", text})
	must(t, err)
	same, err := d.Check(t.Context(), []File{{"mesh.yaml", text}}, false)
	must(t, err)
	if same.Diff != "" || !reflect.DeepEqual(same.Before, same.After) || len(same.Changes) > 0 || slices.ContainsFunc(same.Warnings, func(w Warning) bool { return w.New }) {
		t.Errorf("of no change: %+v", same)
	}
}

// A mesh without tests can be looked at, and one that is broken on disk mended.
func TestOddMeshes(t *testing.T) {
	d := newDesk(t, File{"mesh.yaml", "hosts: [\n"})
	o, err := d.Check(t.Context(), []File{{"mesh.yaml", hostsText}}, false)
	must(t, err)
	if o.Before != nil || len(o.Errors) > 0 {
		t.Errorf("%+v", o)
	}
	expect(t, "after", o.After, &Figures{Hosts: 2})
	_, err = d.save(o.Version, File{"mesh.yaml", hostsText})
	must(t, err)
	expect(t, "history", d.comments(), []string{"anna: why", first})
}

// Who does not wait for their turn leaves.
func TestTurn(t *testing.T) {
	d := newDesk(t, File{"mesh.yaml", hostsText})
	done, err := d.wait(t.Context())
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Check(ctx, []File{{"mesh.yaml", hostsText}}, false); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := d.Save(ctx, Change{Files: []File{{"mesh.yaml", hostsText}}}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	done()
}

// Few lines that ask for more pairs than a controller can hold are an error, and so are thousands of errors few.
func TestTooMuchToJudge(t *testing.T) {
	d := newDesk(t, File{"mesh.yaml", hostsText})
	d.options.pairs = 5
	three := strings.Replace(hostsText, "}", ", c: 10.0.0.3}", 1)
	for tests, want := range map[string][]Problem{
		testsText: {{Text: "tests: want at most 5 pairs in all; a larger mesh can be edited on the controller's machine"}},
		strings.Replace(testsText, "schedule: {every: 1h}", "online: false, schedule: {every: 1h}", 1): {},
	} {
		o, err := d.Check(t.Context(), []File{{"mesh.yaml", three + tests}}, false)
		must(t, err)
		expect(t, "errors", o.Errors, want)
	}
	var hosts strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&hosts, "  h%d: x10.1.%d.%d\n", i, i/250, i%250)
	}
	o, err := d.Check(t.Context(), []File{{"mesh.yaml", "hosts:\n" + hosts.String()}}, false)
	must(t, err)
	if n := len(o.Errors); n != maxProblems+1 || o.Errors[n-1] != (Problem{Text: "and 2800 more"}) {
		t.Errorf("%d errors, the last %v", n, o.Errors[n-1])
	}
}

// What nobody waits for any more is not judged to its end.
func TestJudgedForNobody(t *testing.T) {
	d := newDesk(t, File{"mesh.yaml", hostsText})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if j, err := d.judge(ctx, []File{{"mesh.yaml", hostsText}}); !errors.Is(err, context.Canceled) || j.mesh != nil {
		t.Errorf("%+v, %v", j, err)
	}
}

// Each part of the section controller is one that is opened at the start, or known to take effect at once.
func TestAtNextStart(t *testing.T) {
	atOnce := []string{"Public", "Callers", "Horizon", "HourlyDiagnoses"}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[config.Controller]()) {
		if _, once := opened[f.Name]; once == slices.Contains(atOnce, f.Name) {
			t.Errorf("controller.%s: when does it take effect?", f.Name)
		}
	}
}

// A secret that lies elsewhere than in the controller's folder of secrets is an error that names the key and the folder; one within is none.
func TestSecretsElsewhereAreErrors(t *testing.T) {
	d := newDesk(t, File{"mesh.yaml", hostsText})
	within := filepath.Join(d.data, "secrets", "p")
	for key, text := range map[string]string{
		"controller.remote_write[0].password_file": "remote_write: [{url: 'https://a', user: u, password_file: SECRET}]",
		"controller.remote_write[0].token_file":    "remote_write: [{url: 'https://a', token_file: SECRET}]",
		"controller.tls.key":                       "tls: {certificate: /etc/c, key: SECRET}",
		"controller.nats.key_file":                 "nats: {url: tls://a, cert_file: /etc/c, key_file: SECRET}",
		"controller.nats.nkey_file":                "nats: {url: tls://a, nkey_file: SECRET}",
		"controller.nats.credentials_file":         "nats: {url: tls://a, credentials_file: SECRET}",
	} {
		for name, right := range map[string]bool{"p": true, within: true, "/etc/shadow": false, "../p": false, "sub/p": false} {
			file := File{"mesh.yaml", hostsText + "controller: {" + strings.ReplaceAll(text, "SECRET", name) + "}\n"}
			o, err := d.Check(t.Context(), []File{file}, false)
			if err != nil {
				t.Fatal(err)
			}
			told := len(o.Errors) == 1 && strings.Contains(o.Errors[0].Text, key) && strings.Contains(o.Errors[0].Text, filepath.Join(d.data, "secrets"))
			if right && len(o.Errors) > 0 || !right && !told {
				t.Errorf("%s %s: %v", key, name, o.Errors)
			}
		}
	}
}
