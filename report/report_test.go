package report

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/measure"
)

var update = flag.Bool("update", false, "write testdata/receive-window-limited.md as it is now")

// recorded is the diagnosis of a fault that the lab played.
func recorded(t *testing.T, fault string, change ...func(text string) string) *diagnose.Diagnosis {
	t.Helper()
	var text json.RawMessage
	path := filepath.Join("..", "diagnose", "testdata", "faults", fault+".json.gz")
	if err := document.ReadPacked(path, diagnose.MostBytes, &text); err != nil {
		t.Fatal(err)
	}
	changed := string(text)
	for _, c := range change {
		changed = c(changed)
	}
	var r diagnose.Recording
	if err := json.Unmarshal([]byte(changed), &r); err != nil {
		t.Fatal(err)
	}
	return diagnose.Diagnose(r.Results)
}

var (
	made = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	told = Told{Observed: "copies to b take all night | since <b>summer</b>", Expected: "an hour", Since: "2026-07-01", Application: "rsync over ssh"}
)

func written(t *testing.T, p Problem, f Format) string {
	t.Helper()
	var out strings.Builder
	if err := p.Write(&out, f); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The report of a recorded diagnosis, in Markdown, is as a person has read it once; without the causes that were looked for, which
// grow with every rule, and end the text where they are there.
func TestMarkdown(t *testing.T) {
	hosts := []Host{{Name: "a", System: "Debian GNU/Linux 13 (trixie)", Kernel: "Linux 6.18.5", Machine: "x86_64"}}
	p := New(recorded(t, "receive-window-limited"), told, hosts, "test", made)
	whole := written(t, p, Markdown)
	if _, causes, _ := strings.Cut(whole, "## Causes that were looked for"); strings.Count(causes, "\n| ") != 1+len(p.Causes) || len(p.Causes) < 20 {
		t.Errorf("of %d causes:\n%s", len(p.Causes), causes)
	}
	p.Causes = nil
	got := written(t, p, Markdown)
	golden := filepath.Join("testdata", "receive-window-limited.md")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("go test ./report -run TestMarkdown -update writes it (-want +got):\n%s", diff)
	}
}

// What audits found is told of the system that each was made at, beside what is known of it otherwise.
func TestAudits(t *testing.T) {
	at := func(name string, findings ...measure.Finding) *measure.Result {
		r := measure.NewResult(audit, made)
		r.Source.Name, r.Target.Name, r.Samples.Findings = name, name, findings
		return r
	}
	failed := at("b")
	failed.Fail(errors.New("not read"))
	ping := measure.NewResult("ping", made)
	ping.Source, ping.Target = measure.Endpoint{Name: "a", Address: "10.0.0.1"}, measure.Endpoint{Name: "b", Address: "10.0.0.2"}
	small := measure.Finding{ID: "mtu", Where: "b eth0", Explanation: "1280, and 1500 is needed."}
	p := New(&diagnose.Diagnosis{Results: []*measure.Result{at("a"), ping, failed, at("b", small)}}, told, nil, "test", made)
	want := []end{
		{Name: "a", Address: "10.0.0.1", Facts: [][2]string{{"audit", "no setting is in the way"}}},
		{Name: "b", Address: "10.0.0.2", Facts: [][2]string{{"mtu eth0", "1280, and 1500 is needed."}}},
	}
	if diff := cmp.Diff(want, endsOf(p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The page is well formed, loads nothing, runs nothing, shows what was told as text, and has each Result whole.
func TestPage(t *testing.T) {
	d := recorded(t, "receive-window-limited")
	page := written(t, New(d, told, nil, "test", made), HTML)
	tree, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	raw, drawn := 0, map[string]int{}
	for node := range tree.Descendants() {
		drawn[node.Data]++
		for _, a := range node.Attr {
			if a.Key == "src" || a.Key == "href" || strings.HasPrefix(a.Key, "on") {
				t.Errorf("<%s %s=%q>", node.Data, a.Key, a.Val)
			}
		}
		if node.Data == "pre" && node.Type == html.ElementNode {
			var r measure.Result
			if err := json.Unmarshal([]byte(node.FirstChild.Data), &r); err != nil || r.ID != d.Results[raw].ID {
				t.Errorf("Result %d: %v, %s", raw, err, r.ID)
			}
			raw++
		}
	}
	if raw != len(d.Results) || drawn["svg"] != 5 || drawn["b"] != 0 || drawn["script"] != 0 {
		t.Errorf("%d of %d Results, %d drawings, %d of what was told as markup, %d scripts", raw, len(d.Results), drawn["svg"], drawn["b"], drawn["script"])
	}
	for _, want := range []string{"copies to b take all night | since &lt;b&gt;summer&lt;/b&gt;", d.Findings[0].Advice[0].Why, "10.0.0.2"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// What was asked of a longer path has a table in each format that people read.
func TestSection(t *testing.T) {
	d := recorded(t, "receive-window-limited")
	d.Section = diagnose.JudgeSection(diagnose.Target{Rate: 20e6, RTT: 100 * time.Millisecond}, d.Results)
	for _, f := range []Format{HTML, Markdown} {
		text := regexp.MustCompile(`</t[dr]>|<t[dr]>|[|*\s]+|<.?strong>`).ReplaceAllString(written(t, New(d, told, nil, "test", made), f), " ")
		text = strings.Join(strings.Fields(text), " ")
		for _, want := range []string{"To carry 20.0 Mbit/s over 100 ms: fail .", "fail receive buffer, forward 131 kB 500 kB", "pass rate, forward 47.1 Mbit/s 20.0 Mbit/s"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q", f, want)
			}
		}
	}
}

// A report in JSON is what it was made of.
func TestJSON(t *testing.T) {
	p := New(recorded(t, "receive-window-limited"), told, nil, "test", made)
	var back Problem
	if err := json.Unmarshal([]byte(written(t, p, JSON)), &back); err != nil {
		t.Fatal(err)
	}
	p.Diagnosis.Considered = nil // they are its Causes
	if diff := cmp.Diff(p, back); diff != "" {
		t.Errorf("(-made +read):\n%s", diff)
	}
	if len(back.Causes) < 20 {
		t.Errorf("%d causes were looked for", len(back.Causes))
	}
}

// With a mask, no address and no name of any host or router is left in any format, while the same one stays the same, and the
// findings and numbers stay.
func TestMask(t *testing.T) {
	longer := strings.NewReplacer(`"name":"a"`, `"name":"alice.example.net"`, `"host":"a"`, `"host":"alice.example.net"`,
		`"name":"b"`, `"name":"storage"`, `"host":"b"`, `"host":"storage"`, `"10.0.0.1"`, `"2001:db8:77::1"`)
	for _, fault := range []string{"receive-window-limited", "pmtu-blackhole", "duplex-mismatch", "asymmetric-route"} {
		d := recorded(t, fault, longer.Replace)
		d.Notes = append(d.Notes, "see alice.example.net:5201 at 10.0.0.2:5201, [2001:db8:77::1]:80 or fe80::1%eth0.")
		own := Told{Observed: "slow from alice.example.net (2001:db8:77::1) to storage; a version 1.2.3 is no address, nor is 09:15:30"}
		p := New(d, own, []Host{{Name: "alice.example.net"}}, "test", made)
		masked, err := p.Mask()
		if err != nil {
			t.Fatal(err)
		}
		if len(masked.Diagnosis.Findings) != len(d.Findings) || masked.Diagnosis.Verdict != d.Verdict || len(masked.Causes) != len(p.Causes) {
			t.Errorf("%s: %d findings, verdict %s", fault, len(masked.Diagnosis.Findings), masked.Diagnosis.Verdict)
		}
		for _, f := range Formats {
			text := written(t, masked, f)
			if left := regexp.MustCompile(`10\.0\.\d+\.\d+|2001:db8:77|alice|storage|fe80`).FindAllString(text, 3); left != nil {
				t.Errorf("%s, %s: %q are left", fault, f, left)
			}
			for _, want := range []string{"host-1 (2001:db8::", "to host-2; a version 1.2.3 is no address, nor is 09:15:30"} {
				if !strings.Contains(text, want) {
					t.Errorf("%s, %s: lacks %q", fault, f, want)
				}
			}
		}
		if again, err := masked.Mask(); err != nil || len(again.Diagnosis.Results) != len(d.Results) {
			t.Errorf("masked twice: %v", err)
		}
		if p.Masked || p.Diagnosis.Results[0].Source.Name != d.Results[0].Source.Name {
			t.Error("the report itself was changed")
		}
	}
}

// Recorded faults of all kinds have a report in each format: every fifth, which is enough of them for the time that it takes.
func TestFaults(t *testing.T) {
	files, err := filepath.Glob("../diagnose/testdata/faults/*.json.gz")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	for i := 0; i < len(files); i += 5 {
		fault := strings.TrimSuffix(filepath.Base(files[i]), ".json.gz")
		p := New(recorded(t, fault), Told{}, nil, "test", made)
		for _, f := range []Format{HTML, Markdown} {
			if text := written(t, p, f); strings.Contains(text, "NaN") || strings.Contains(text, "Inf ") || !strings.Contains(text, p.Diagnosis.Verdict) {
				t.Errorf("%s: %s of %d bytes", fault, f, len(text))
			}
		}
	}
}

func TestFormatOf(t *testing.T) {
	for path, want := range map[string]Format{"a.html": HTML, "b/c.MD": Markdown, "d.x.json": JSON} {
		if got, err := FormatOf(path); got != want || err != nil {
			t.Errorf("%s: %s, %v", path, got, err)
		}
	}
	for _, path := range []string{"a", "html", "a.pdf", "a.html/", ""} {
		var bad interface{ BadInput() bool }
		if _, err := FormatOf(path); !errors.As(err, &bad) || !strings.Contains(err.Error(), ".html, .md or .json") {
			t.Errorf("%q: %v", path, err)
		}
	}
}
