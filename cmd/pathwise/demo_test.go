package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/archive/generated"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/web"
)

// demoHosts is how many hosts the mesh has, as the help of the command and docs/demo.md say.
const demoHosts = 12

// keptDemo is `demo --mesh` on a terminal of its own, and somebody who looks at it.
type keptDemo struct {
	t      *testing.T
	page   string
	client *http.Client
}

// The demo mesh shows what is measured and what is generated, and says which is which; its first page names the sick hosts, and soon the
// causes, without a click; who takes the link signs in and gets the cause of a sick path within a minute; and Ctrl-C leaves nothing.
func TestDemoMesh(t *testing.T) {
	t.Parallel()
	carrying(t)
	folder, binary := t.TempDir(), builtProgram(t)
	user, program := terminalOf(t, 120, 30)
	var drawn drawing
	go io.Copy(&drawn, user) //nolint:errcheck // ends when the terminal is closed
	c := exec.Command(binary, "demo", "--mesh", "--listen", "127.0.0.1:0")
	c.Env = append(os.Environ(), "TMPDIR="+folder)
	c.Stdin, c.Stdout, c.Stderr = program, program, program
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} // Ctrl-C on this terminal is for it
	began := time.Now()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	t.Cleanup(func() { _ = c.Process.Kill() }) // has ended already, if all went well
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("it drew\n%s", drawn.text())
		}
	})
	d := &keptDemo{t: t}
	d.eventually("the mesh is up", func() bool {
		if len(ended) > 0 {
			t.Fatalf("ended by itself:\n%s", drawn.text())
		}
		return strings.Contains(drawn.text(), "Ctrl-C ends all of it")
	})
	told := regexp.MustCompile(`(http://127\.0\.0\.1:\d+/)#/welcome\?token=(\S+)`).FindStringSubmatch(drawn.text())
	if told == nil {
		t.Fatalf("told no link:\n%s", drawn.text())
	}
	jar, _ := cookiejar.New(nil) // never an error
	d.page, d.client = told[1], &http.Client{Jar: jar}

	d.expectMark()
	d.expectPast()
	d.eventually("everyone is here", d.everyoneHere)
	d.expectNamed(began)
	d.signIn(told[2])
	d.expectCause("ucl", "cern", "receive-window-limited")
	d.eventually("everyone is measured by now", d.measured)

	if _, err := user.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil || !strings.Contains(drawn.text(), "nothing of it is left") {
			t.Errorf("ended with %v, and drew\n%s", err, drawn.text())
		}
	case <-time.After(30 * time.Second): // a second on a machine that does nothing else
		t.Error("Ctrl-C did not end it")
	}
	expectNoProcess(t, folder) // which agents keep their things in
	expectNoProcess(t, fmt.Sprintf("private-%d-", c.Process.Pid))
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// get reads a document of the API.
func (d *keptDemo) get(path string, doc any) {
	d.t.Helper()
	answer, err := d.client.Get(d.page + "api/v1/" + path)
	if err != nil {
		d.t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(doc); err != nil || answer.StatusCode != http.StatusOK {
		d.t.Fatalf("%s: %s, %v", path, answer.Status, err)
	}
}

// post sends a document to the API.
func (d *keptDemo) post(path string, doc map[string]string) *http.Response {
	d.t.Helper()
	body, _ := json.Marshal(doc) // text can always be
	answer, err := d.client.Post(d.page+"api/v1/"+path, "application/json", bytes.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { answer.Body.Close() })
	if answer.StatusCode >= 300 {
		text, _ := io.ReadAll(answer.Body)
		d.t.Fatalf("%s: %s: %s", path, answer.Status, text)
	}
	return answer
}

func (d *keptDemo) eventually(what string, true func() bool) {
	d.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !true(); time.Sleep(100 * ms) { // other processes work
		if time.Now().After(deadline) {
			d.t.Fatalf("not in three minutes: %s", what)
		}
	}
}

// expectMark sees until when nobody measured.
func (d *keptDemo) expectMark() {
	d.t.Helper()
	var status web.Status
	d.get("status", &status)
	if until := status.GeneratedUntil; until == nil || time.Since(*until) < 0 || time.Since(*until) > 30*time.Minute {
		d.t.Errorf("generated until %v, now is %v", until, time.Now())
	}
	if len(status.Hosts) != demoHosts {
		d.t.Errorf("%d hosts, want %d", len(status.Hosts), demoHosts)
	}
}

// expectPast sees a generated day of every pair, each Result of which says what it is.
func (d *keptDemo) expectPast() {
	d.t.Helper()
	pairs := demoHosts * (demoHosts - 1)
	for _, metric := range []measure.Metric{measure.RTTMedian, measure.Throughput, measure.HopCount} {
		if n := d.cells(metric, "generated *", "24h"); n != pairs {
			d.t.Errorf("%s was generated for %d pairs, want %d", metric, n, pairs)
		}
	}
	var page struct{ Results []*measure.Result }
	d.get("results?test=generated+ping&source=ucl&target=lyon&limit=2", &page)
	for _, r := range page.Results {
		if !slices.Contains(r.Notes, generated.Note) || r.Metrics[measure.RTTMin] < 0.025 {
			d.t.Errorf("a generated result has notes %q, and a round trip of %v s", r.Notes, r.Metrics[measure.RTTMin])
		}
	}
	if len(page.Results) != 2 {
		d.t.Errorf("%d generated results of ucl and lyon", len(page.Results))
	}
}

// cells is how many pairs of the matrix have a value.
func (d *keptDemo) cells(metric measure.Metric, test, span string) (n int) {
	d.t.Helper()
	var matrix struct{ Values []*float64 }
	d.get(fmt.Sprintf("matrix?metric=%s&span=%s&test=%s", metric, span, strings.ReplaceAll(test, " ", "+")), &matrix)
	for _, v := range matrix.Values {
		if v != nil {
			n++
		}
	}
	return n
}

func (d *keptDemo) everyoneHere() bool {
	d.t.Helper()
	var status web.Status
	d.get("status", &status)
	return allHere(&status)
}

// measured says whether the mesh brings in all that it is to.
func (d *keptDemo) measured() bool {
	d.t.Helper()
	return d.cells(measure.RTTMedian, "rtt@*", "1h") >= 12 && d.cells(measure.HopCount, "path@*", "1h") > 0 // transfers take turns
}

func (d *keptDemo) signIn(token string) {
	d.t.Helper()
	const password = "of a demonstration"
	d.post("invitation", map[string]string{"token": token, "password": password})
	d.post("session", map[string]string{"name": "admin", "password": password})
}

// expectCause diagnoses a path.
func (d *keptDemo) expectCause(source, target, verdict string) {
	d.t.Helper()
	began := time.Now()
	lines := json.NewDecoder(d.post("diagnoses", map[string]string{"source": source, "target": target}).Body) // empty ones are passed over
	var last control.DiagnosisLine
	for lines.More() {
		last = control.DiagnosisLine{}
		if err := lines.Decode(&last); err != nil {
			d.t.Fatal(err)
		}
	}
	took := time.Since(began)
	if last.Diagnosis == nil || last.Diagnosis.Verdict != verdict {
		d.t.Fatalf("%s to %s: last line %+v, diagnosis %+v", source, target, last, last.Diagnosis)
	}
	d.t.Logf("the diagnosis took %v", took.Round(ms))
	if took > 2*time.Minute { // half a minute on a machine that does nothing else; a minute is what is wanted
		d.t.Errorf("the diagnosis took %v", took)
	}
}

// Where nobody could see the address or press Ctrl-C, no mesh is kept, and it says why.
func TestDemoIsNotKeptWithoutTerminal(t *testing.T) {
	c := selfProcess(t, "demo", "--mesh")
	var said bytes.Buffer
	c.Stderr = &said
	if out, err := c.Output(); err == nil || len(out) > 0 || !strings.Contains(said.String(), "no terminal") {
		t.Errorf("error %v, printed %q, said %q", err, out, said.String())
	}
	if out, err := selfProcess(t, "demo", "--keep", "--listen", "nowhere").CombinedOutput(); err == nil || !strings.Contains(string(out), "--listen: ") {
		t.Errorf("error %v, printed %q", err, out)
	}
	if out, err := selfProcess(t, "demo", "--listen", "127.0.0.1:0").CombinedOutput(); err == nil || !strings.Contains(string(out), "--listen: want --keep") {
		t.Errorf("error %v, printed %q", err, out)
	}
}
