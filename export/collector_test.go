package export

import (
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// clock is a time that a test sets.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// scrape returns what a scrape of c says of pathwise itself, comments left out.
func scrape(t testing.TB, c *Collector, others ...prometheus.Collector) []string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(page(t, c, others...)) {
		if strings.HasPrefix(line, prefix) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

func page(t testing.TB, c *Collector, others ...prometheus.Collector) string {
	t.Helper()
	handler, err := c.Handler(others...)
	if err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	body, _ := io.ReadAll(answer.Result().Body)
	if answer.Code != 200 {
		t.Fatalf("status %d: %s", answer.Code, body)
	}
	return string(body)
}

// of returns the lines about Results, without the prefix.
func of(lines []string) (kept []string) {
	for _, line := range lines {
		if strings.Contains(line, `source="`) {
			kept = append(kept, strings.TrimPrefix(line, prefix))
		}
	}
	return kept
}

const ab = `{role="planned",source="a",target="b",test="lat",tool="rtt",way=""} `

func TestCollectorShowsTheNewest(t *testing.T) {
	failed := ping("4", noon.Add(3*time.Minute), map[measure.Metric]float64{})
	failed.Fail(errors.New("no route"))
	two := map[measure.Metric]float64{measure.RTTMin: 0.25, measure.LossRatio: 0.5}
	tests := []struct {
		name    string
		results []*measure.Result
		want    []string
	}{
		{"nothing", nil, nil},
		{"one", []*measure.Result{ping("1", noon, two)}, []string{
			"loss_ratio" + ab + "0.5", "result_ok" + ab + "1", "result_timestamp_seconds" + ab + "1.7952624e+09",
			"rtt_min_seconds" + ab + "0.25"}},
		{"a newer one replaces it whole", []*measure.Result{
			ping("1", noon, two), ping("2", noon.Add(time.Minute), map[measure.Metric]float64{measure.LossRatio: 1})},
			[]string{"loss_ratio" + ab + "1", "result_ok" + ab + "1", "result_timestamp_seconds" + ab + "1.79526246e+09"}},
		{"an older one that is late does not", []*measure.Result{
			ping("1", noon, two), ping("2", noon.Add(-time.Minute), map[measure.Metric]float64{measure.LossRatio: 1})},
			[]string{"loss_ratio" + ab + "0.5", "result_ok" + ab + "1", "result_timestamp_seconds" + ab + "1.7952624e+09",
				"rtt_min_seconds" + ab + "0.25"}},
		{"a failed one leaves no values", []*measure.Result{ping("1", noon, two), failed},
			[]string{"result_ok" + ab + "0", "result_timestamp_seconds" + ab + "1.79526258e+09"}},
		{"a clock that is ahead does not hide what follows", []*measure.Result{
			ping("1", noon.Add(48*time.Hour), two), ping("2", noon.Add(5*time.Minute), map[measure.Metric]float64{measure.LossRatio: 1})},
			[]string{"loss_ratio" + ab + "1", "result_ok" + ab + "1", "result_timestamp_seconds" + ab + "1.7952627e+09"}},
		{"names that are none", []*measure.Result{ping("1", noon, map[measure.Metric]float64{
			"evil{} 1\n_seconds": 1, "result_timestamp_seconds": 2, "speed": 3, "": 4, "my_own_count": 5})},
			[]string{"my_own_count" + ab + "5", "result_ok" + ab + "1", "result_timestamp_seconds" + ab + "1.7952624e+09"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := NewCollector(CollectorOptions{Now: (&clock{noon.Add(5 * time.Minute)}).now})
			for _, r := range test.results {
				c.Observe(r)
			}
			if diff := cmp.Diff(test.want, of(scrape(t, c))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Values go ten intervals after the last Result, when it was and how it went after a week.
func TestCollectorForgets(t *testing.T) {
	const day = 24 * time.Hour
	tests := []struct {
		name   string
		starts []time.Duration // of Results, after noon
		after  time.Duration   // the scrape, after the last of them
		want   int             // series: 3 with the value, 2 without, 0
	}{
		{"one alone, a day later", []time.Duration{0}, 25 * time.Hour, 3},
		{"one alone, later", []time.Duration{0}, 25*time.Hour + 1, 2},
		{"each minute, ten minutes later", []time.Duration{0, time.Minute}, 10 * time.Minute, 3},
		{"each minute, later", []time.Duration{0, time.Minute}, 10*time.Minute + 1, 2},
		{"each second, five minutes later", []time.Duration{0, time.Second}, 5 * time.Minute, 3},
		{"each second, later", []time.Duration{0, time.Second}, 5*time.Minute + 1, 2},
		{"each week, ten weeks later", []time.Duration{0, 7 * day}, 70 * day, 3},
		{"each week, later", []time.Duration{0, 7 * day}, 70*day + 1, 0},
		{"each minute, a week later", []time.Duration{0, time.Minute}, 7 * day, 2},
		{"each minute, more than a week later", []time.Duration{0, time.Minute}, 7*day + 1, 0},
		{"each hour after each minute", []time.Duration{0, time.Minute, time.Hour + time.Minute}, 2 * time.Hour, 3},
		{"each minute after each hour", []time.Duration{0, time.Hour, time.Hour + time.Minute}, 7*time.Hour + 30*time.Minute, 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			at := &clock{}
			c := NewCollector(CollectorOptions{Now: at.now, MaxSeries: 3})
			for _, start := range test.starts {
				at.at = noon.Add(start)
				c.Observe(ping("", at.at, map[measure.Metric]float64{measure.RTTMin: 1}))
			}
			at.at = at.at.Add(test.after)
			if got := of(scrape(t, c)); len(got) != test.want {
				t.Errorf("%d series, want %d: %v", len(got), test.want, got)
			}
			if c.series != test.want {
				t.Errorf("counts %d series", c.series)
			}
		})
	}
}

func TestCollectorIsBounded(t *testing.T) {
	at := &clock{noon}
	c := NewCollector(CollectorOptions{Now: at.now, MaxSeries: 7})
	for i, metrics := range []int{1, 1, 1, 2, 2} { // 3, 3, 3, and of the first stream 4, again 4
		r := ping("", noon, map[measure.Metric]float64{measure.RTTMin: 1, measure.RTTMax: 2})
		if metrics == 1 {
			delete(r.Metrics, measure.RTTMax)
		}
		if r.Target.Name = "t0"; metrics == 1 {
			r.Target.Name = fmt.Sprint("t", i)
		}
		c.Observe(r)
	}
	got := scrape(t, c)
	if n := len(of(got)); n != 7 || !slices.Contains(got, "pathwise_results_left_out_total 1") {
		t.Errorf("%d series: %v", n, got)
	}
	at.at = at.at.Add(8 * 24 * time.Hour)
	scrape(t, c)
	c.Observe(ping("", at.at, map[measure.Metric]float64{measure.RTTMin: 1}))
	if n := len(of(scrape(t, c))); n != 3 {
		t.Errorf("%d series after the old ones went", n)
	}
}

func TestCollectorCounts(t *testing.T) {
	c := NewCollector(CollectorOptions{Version: "v1", State: func() State {
		return State{
			Hosts: []Host{{"a", true, 1, 2}, {"b", false, 0, 300}, {"b", true, 0, 0}}, Queued: 4,
			Archive: archive.Stats{Streams: 1, Filed: 2, Duplicates: 3, TooOld: 4, Queued: 5, Pending: 6, Commits: 7, MoveError: "x"},
		}
	}})
	failed := ping("", noon, nil)
	failed.Fail(errors.New("no"))
	c.Observe(failed)
	c.Observe(ping("", noon, nil))
	c.Observe(failed)
	c.Missed(measure.Miss{Tool: "bulk"})
	var got []string
	for _, line := range scrape(t, c) {
		if !strings.Contains(line, "source=") && !strings.Contains(line, "build_info") {
			got = append(got, strings.TrimPrefix(line, prefix))
		}
	}
	want := []string{
		`agent_running_runs{host="a"} 1`, `agent_running_runs{host="b"} 0`,
		`agent_spooled_results{host="a"} 2`, `agent_spooled_results{host="b"} 300`,
		`agent_up{host="a"} 1`, `agent_up{host="b"} 0`,
		"archive_commits_total 7", "archive_duplicate_results_total 3", "archive_expired_results_total 4",
		"archive_filed_results_total 2", "archive_move_failing 1", "archive_pending_values 6", "archive_queued_results 5",
		"archive_streams 1",
		`hosts{state="away"} 1`, `hosts{state="here"} 2`,
		"queued_runs 4", "results_left_out_total 0",
		`results_total{status="failed",tool="rtt"} 2`, `results_total{status="ok",tool="rtt"} 1`,
		`results_total{status="partial",tool="rtt"} 0`, `runs_missed_total{tool="bulk"} 1`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A restart shows the newest Result of each stream, and not what it did not measure.
func TestCollectorSeeds(t *testing.T) {
	other := ping("9", noon.Add(-time.Hour), map[measure.Metric]float64{measure.Throughput: 7})
	other.Tool, other.Way = "tra", measure.Forward
	once := ping("8", noon, map[measure.Metric]float64{measure.HopCount: 7})
	once.Test = "" // somebody asked for it
	a := filled(t, other, once,
		ping("1", noon.Add(-2*time.Minute), map[measure.Metric]float64{measure.RTTMin: 1, measure.LossRatio: 0}),
		ping("2", noon.Add(-time.Minute), map[measure.Metric]float64{measure.LossRatio: 1}))
	c := NewCollector(CollectorOptions{Now: (&clock{noon}).now, Way: func(tool string) measure.Way {
		return map[string]measure.Way{"tra": measure.Forward}[tool]
	}})
	newer := ping("3", noon, map[measure.Metric]float64{measure.LossRatio: 0.5})
	newer.Target.Name = "c"
	c.Observe(newer)
	if err := c.Seed(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"loss_ratio" + ab + "1", `loss_ratio{role="planned",source="a",target="c",test="lat",tool="rtt",way=""} 0.5`,
		`result_ok{role="planned",source="a",target="c",test="lat",tool="rtt",way=""} 1`,
		"result_timestamp_seconds" + ab + "1.79526234e+09",
		`result_timestamp_seconds{role="planned",source="a",target="b",test="lat",tool="tra",way="forward"} 1.7952588e+09`,
		`result_timestamp_seconds{role="planned",source="a",target="c",test="lat",tool="rtt",way=""} 1.7952624e+09`,
		`throughput_bits_per_second{role="planned",source="a",target="b",test="lat",tool="tra",way="forward"} 7`,
	}
	if diff := cmp.Diff(want, of(scrape(t, c))); diff != "" {
		t.Error(diff)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Seed(t.Context(), a); !errors.Is(err, archive.ErrClosed) {
		t.Errorf("of a closed archive: %v", err)
	}
}

// Whatever names come from outside, each scrape is one that promtool reads.
func TestLabelsAreSafe(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a.example.org": "a.example.org", "fe80::1%eth0": "fe80::1%eth0", "Zürich": "Zürich",
		"a\nb\x00": "a?b?", "\xff\xfe": "??", `"\`: `"\`, "\x7f\uFFFD": "??",
		strings.Repeat("x", 300):       strings.Repeat("x", 256),
		"y" + strings.Repeat("ü", 200): "y" + strings.Repeat("ü", 127),
	} {
		if got := label(in); got != want {
			t.Errorf("label(%q) = %q, want %q", in, got, want)
		}
	}
	c := NewCollector(CollectorOptions{Now: (&clock{noon}).now})
	for _, name := range []string{"a\nb", "\xff", `x"} 1`, `\`, strings.Repeat("ü", 300), strings.Repeat("ü", 400)} {
		r := ping("", noon, map[measure.Metric]float64{measure.RTTMin: 1})
		r.Source.Name = name
		c.Observe(r)
	}
	promtool(t, page(t, c))
	if n := len(of(scrape(t, c))); n != 5*3 { // two of the names are one when cut
		t.Errorf("%d series", n)
	}
}

// promtool finds no fault with a scrape, but for what docs/mesh-export.md explains: that a rate is in bit/s, as everywhere
// in Pathwise, and that hop_count ends in _count.
func promtool(t *testing.T, page string) {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool (Debian: prometheus) is not installed")
	}
	command := exec.CommandContext(t.Context(), path, "check", "metrics")
	command.Stdin = strings.NewReader(page)
	out, err := command.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		name, remark, _ := strings.Cut(strings.TrimSpace(line), " ")
		unit := measure.Metric(strings.TrimPrefix(name, prefix)).Unit()
		switch {
		case unit == "bits_per_second" && remark == `use base unit "bytes" instead of "bits"`:
		case unit == "count" && remark == `non-histogram and non-summary metrics should not have "_count" suffix`:
		default:
			t.Errorf("promtool: %s", line)
		}
	}
	if err != nil && len(out) == 0 {
		t.Error(err)
	}
}

// Each metric that we measure has a meaning, and all that we ever show passes promtool.
func TestEachMetricHasItsMeaning(t *testing.T) {
	r := ping("", noon, map[measure.Metric]float64{"site_own_count": 1, "disk_read_bytes_per_second": 2})
	for _, d := range measure.Definitions() {
		r.Metrics[d.Metric] = 1
	}
	c := NewCollector(CollectorOptions{Now: (&clock{noon}).now, State: func() State { return State{Hosts: []Host{{Name: "a"}}} }})
	c.Observe(r)
	c.Missed(measure.Miss{Tool: "rtt"})
	writer, _ := remoteWriter(t, &memory{}, "http://localhost:1", RemoteOptions{})
	text := page(t, c, writer)
	promtool(t, text)
	for _, want := range []string{
		"# HELP pathwise_rtt_min_seconds Smallest round-trip delay (RFC 2681) of the probes that returned.\n",
		"# HELP pathwise_disk_read_bytes_per_second Measured by a tool of the site: disk read, in bytes per second.\n",
		"# HELP pathwise_site_own_count Measured by a tool of the site: site own.\n",
		"# TYPE go_goroutines gauge\n", "# TYPE process_open_fds gauge\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("not there: %s", want)
		}
	}
	// A metric of a program must not share its name with one of ours.
	for line := range strings.Lines(text) {
		name, found := strings.CutPrefix(line, "# TYPE "+prefix)
		name, _, _ = strings.Cut(name, " ")
		m := measure.Metric(name)
		if _, measured := r.Metrics[m]; found && !measured && m.Unit() != "" && !reserved[m] {
			t.Errorf("%s is not reserved", m)
		}
	}
}

func TestHandlerRefusesTheSameTwice(t *testing.T) {
	c := NewCollector(CollectorOptions{})
	writer, _ := remoteWriter(t, &memory{}, "http://localhost:1", RemoteOptions{})
	if _, err := c.Handler(writer, writer); err == nil {
		t.Error("took a collector twice")
	}
}

func BenchmarkScrape(b *testing.B) {
	c := NewCollector(CollectorOptions{Now: (&clock{noon}).now})
	for i := range 1000 {
		r := typical()
		r.Target.Name = fmt.Sprint("host-", i)
		c.Observe(r)
	}
	handler, err := c.Handler()
	if err != nil {
		b.Fatal(err)
	}
	request := httptest.NewRequest("GET", "/metrics", nil)
	for b.Loop() {
		handler.ServeHTTP(httptest.NewRecorder(), request)
	}
}

func BenchmarkObserve(b *testing.B) {
	c, r := NewCollector(CollectorOptions{Now: (&clock{noon}).now}), typical()
	b.ReportAllocs()
	for b.Loop() {
		c.Observe(r)
	}
}

// typical has twelve metrics.
func typical() *measure.Result {
	return ping("", noon, map[measure.Metric]float64{
		measure.RTTMin: 0.0123, measure.RTTMean: 0.0124, measure.RTTMedian: 0.01235, measure.RTTP95: 0.0131, measure.RTTP99: 0.0132,
		measure.RTTMax: 0.0144, measure.RTTStddev: 0.0001, measure.SentPackets: 10, measure.ReceivedPackets: 10,
		measure.LostPackets: 0, measure.LossRatio: 0, measure.DuplicatePackets: 0,
	})
}
