package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/measure"
)

// peer is a program of others that receives or scrapes, on a port of loopback, with its data in a folder of the test.
type peer struct {
	url     string
	program string
	args    []string
	ready   string // path that answers 200 when it is
	process *exec.Cmd
}

// free is an address of loopback that nobody listens on now.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (p *peer) start(t *testing.T) {
	t.Helper()
	log := new(bytes.Buffer)
	p.process = exec.Command(p.program, p.args...)
	p.process.Stdout, p.process.Stderr = log, log
	p.process.Env = append(os.Environ(), "GOMAXPROCS=1", "GOMEMLIMIT=200MiB")
	if err := p.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s says, in the end:\n%s", p.program, log.Bytes()[max(0, log.Len()-2000):])
		}
	})
	until(t, p.program+" is ready", func() bool {
		answer, err := http.Get(p.url + p.ready)
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == 200
	})
}

// kill ends it without a chance to tidy up.
func (p *peer) kill() { p.end(syscall.SIGKILL) }

func (p *peer) end(signal syscall.Signal) {
	p.process.Process.Signal(signal)
	p.process.Wait()
}

func find(t *testing.T, program, debian string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s (Debian: %s) is not installed", program, debian)
	}
	return path
}

// prometheusWith returns a Prometheus that is not started yet, with a configuration.
func prometheusWith(t *testing.T, config string) *peer {
	t.Helper()
	folder, address := t.TempDir(), free(t)
	file := filepath.Join(folder, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return &peer{url: "http://" + address, program: find(t, "prometheus", "prometheus"), ready: "/-/ready", args: []string{
		"--config.file=" + file, "--storage.tsdb.path=" + filepath.Join(folder, "data"), "--web.listen-address=" + address,
		"--web.enable-remote-write-receiver", "--log.level=warn"}}
}

func victoriaMetrics(t *testing.T) *peer {
	t.Helper()
	address := free(t)
	return &peer{url: "http://" + address, program: find(t, "victoria-metrics", "victoria-metrics"), ready: "/health",
		args: []string{"-httpListenAddr=" + address, "-storageDataPath=" + t.TempDir(), "-search.latencyOffset=0s",
			"-retentionPeriod=100y", "-dedup.minScrapeInterval=1ms",
			"-memory.allowedBytes=100MB", "-loggerLevel=WARN"}}
}

// samples are what a peer has of one series, by its labels as JSON, in order of time.
type samples map[string][]sample

type sample struct {
	Millis int64
	Value  float64
}

// get asks the peer and returns the body.
func (p *peer) get(t *testing.T, path string, query url.Values) []byte {
	t.Helper()
	answer, err := http.Get(p.url + path + "?" + query.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode/100 != 2 {
		t.Fatalf("%s: %d %v %s", path, answer.StatusCode, err, body)
	}
	return body
}

// fromPrometheus asks PromQL for the raw samples of a range.
func fromPrometheus(t *testing.T, p *peer, selector string) samples {
	t.Helper()
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Values [][2]any
			}
		}
	}
	query := url.Values{"query": {selector + "[2h]"}, "time": {fmt.Sprint(time.Now().Add(time.Minute).Unix())}}
	if err := json.Unmarshal(p.get(t, "/api/v1/query", query), &answer); err != nil {
		t.Fatal(err)
	}
	all := samples{}
	for _, r := range answer.Data.Result {
		for _, v := range r.Values {
			n, err := strconv.ParseFloat(v[1].(string), 64)
			if err != nil {
				t.Fatal(err)
			}
			all.add(r.Metric, sample{int64(v[0].(float64)*1000 + 0.5), n})
		}
	}
	return all
}

// fromVictoriaMetrics asks for what it stored.
func fromVictoriaMetrics(t *testing.T, p *peer, selector string) samples {
	t.Helper()
	p.get(t, "/internal/force_flush", nil)
	all := samples{}
	lines := bufio.NewScanner(bytes.NewReader(p.get(t, "/api/v1/export", url.Values{"match[]": {selector}})))
	for lines.Scan() {
		var one struct {
			Metric     map[string]string
			Values     []float64
			Timestamps []int64
		}
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		for i, v := range one.Values {
			all.add(one.Metric, sample{one.Timestamps[i], v})
		}
	}
	return all
}

func (all samples) add(labels map[string]string, s sample) {
	key, _ := json.Marshal(labels)
	all[string(key)] = append(all[string(key)], s)
}

func (all samples) number() (n int) {
	for _, s := range all {
		n += len(s)
	}
	return n
}

// wanted is what a receiver must have of Results.
func wanted(results []*measure.Result) samples {
	all := samples{}
	for _, r := range results {
		labels := map[string]string{"source": r.Source.Name, "target": r.Target.Name, "tool": r.Tool, "role": string(roleOf(r).Series())}
		if r.Test != "" {
			labels["test"] = r.Test
		}
		put := func(name string, v float64) {
			labels["__name__"] = name
			all.add(labels, sample{r.Started.UnixMilli(), v})
		}
		put("pathwise_result_ok", okValue(r.Status))
		for m, v := range r.Metrics {
			put(prefix+string(m), v)
		}
	}
	for _, s := range all {
		slices.SortFunc(s, func(a, b sample) int { return int(a.Millis - b.Millis) })
	}
	return all
}

// history is Results of four streams over the last 20 minutes, oldest first, on times and with values that are not round. They have
// no more digits than VictoriaMetrics keeps, which is 15: a nanosecond of eleven days.
func history(from time.Time, n int) []*measure.Result {
	all := make([]*measure.Result, n)
	for i := range all {
		r := ping(fmt.Sprintf("7%d", i), from.Add(time.Duration(i)*1_234_567_891), map[measure.Metric]float64{
			measure.RTTMin: float64(12_345_678+i*1_000_003) / 1e9, measure.LossRatio: float64(i%10) / 10,
			measure.Throughput: 9.4e9 + float64(i), measure.HopCount: float64(i),
		})
		r.Target.Name = fmt.Sprintf(`peer "%d" ü`, i%2)
		if i%4 < 2 {
			r.Test = ""
		}
		if i%7 == 0 {
			r.Metrics, r.Status = map[measure.Metric]float64{}, measure.StatusFailed
		}
		all[i] = r
	}
	return all
}

// What the real receivers store is what was measured, to the last digit and millisecond, over an outage of theirs.
func TestRemoteWriteToPeers(t *testing.T) {
	const configOutOfOrder = "storage: {tsdb: {out_of_order_time_window: 2h}}\n"
	for _, test := range []struct {
		name string
		make func(t *testing.T) *peer
		path string
		read func(t *testing.T, p *peer, selector string) samples
		late bool           // takes samples that are older than what it has
		end  syscall.Signal // what it outlives: VictoriaMetrics has what it accepted on disk some seconds later only
	}{
		{"prometheus", func(t *testing.T) *peer { return prometheusWith(t, configOutOfOrder) }, "/api/v1/write", fromPrometheus, true, syscall.SIGKILL},
		{"prometheus in order", func(t *testing.T) *peer { return prometheusWith(t, "") }, "/api/v1/write", fromPrometheus, false, syscall.SIGKILL},
		{"victoria-metrics", victoriaMetrics, "/api/v1/write", fromVictoriaMetrics, true, syscall.SIGTERM},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := test.make(t)
			p.start(t)
			begin := time.Now().Add(-20 * time.Minute).UTC()
			all := history(begin, 600)
			late := all[100:140] // of which an agent that was cut off tells in the end
			intime := slices.Concat(all[:100], all[140:])
			a := filled(t)
			w, _ := remoteWriter(t, a, p.url+test.path, RemoteOptions{Batch: 200, Memory: 1000, Retry: 20 * time.Millisecond})
			run(t, w)
			file(t, a, w, intime[:200]...)
			until(t, "the first part is sent", func() bool { return len(unsentOf(w)) == 0 })
			p.end(test.end)
			file(t, a, w, intime[200:400]...)
			file(t, a, w, intime[400:]...)
			until(t, "sending fails", func() bool { return w.Stats().Failed > 0 })
			p.start(t)
			until(t, "all is sent", func() bool { return len(unsentOf(w)) == 0 })
			file(t, a, w, late...)
			until(t, "late ones are sent", func() bool { return len(unsentOf(w)) == 0 })

			want, refused := wanted(intime), uint64(wanted(late).number())
			if test.late {
				want, refused = wanted(all), 0
			}
			got := test.read(t, p, `{__name__=~"pathwise_.*"}`)
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			if stats := w.Stats(); stats.Refused < refused || (stats.Refused > 0) != (refused > 0) { // some are sent twice
				t.Errorf("%d samples refused, want %d", stats.Refused, refused)
			}
		})
	}
}

// Prometheus scrapes what a Collector shows, and answers PromQL over it as docs/mesh-export.md has it.
func TestPrometheusScrapes(t *testing.T) {
	t.Parallel()
	c := NewCollector(CollectorOptions{Version: "v9", State: func() State { return State{Hosts: []Host{{Name: "a", Here: true}}} }})
	handler, err := c.Handler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	r := ping("", time.Now().Add(-time.Minute), map[measure.Metric]float64{measure.RTTMin: 0.0123456789012345, measure.LossRatio: 1})
	r.Target.Name = "odd \"\\\nname"
	c.Observe(r)
	p := prometheusWith(t, fmt.Sprintf(`
global: {scrape_interval: 1s}
scrape_configs:
  - job_name: pathwise
    static_configs: [{targets: [%q]}]
`, server.Listener.Addr()))
	p.start(t)
	value := func(query string) (found string) {
		var answer struct {
			Data struct {
				Result []struct{ Value [2]any }
			}
		}
		if err := json.Unmarshal(p.get(t, "/api/v1/query", url.Values{"query": {query}}), &answer); err != nil {
			t.Fatal(err)
		}
		for _, r := range answer.Data.Result {
			found += r.Value[1].(string) + " "
		}
		return found
	}
	until(t, "it is scraped", func() bool { return value("pathwise_loss_ratio") != "" })
	for query, want := range map[string]string{
		`pathwise_rtt_min_seconds{role="planned",source="a",target="odd \"\\?name",test="lat",tool="rtt"}`: "0.0123456789012345 ",
		`pathwise_loss_ratio > 0.01`:                                                   "1 ",
		`pathwise_hosts{state="here"}`:                                                 "1 ",
		`pathwise_build_info{version="v9"}`:                                            "1 ",
		`pathwise_results_total{status="ok"}`:                                          "1 ",
		`time() - pathwise_result_timestamp_seconds > bool 3600`:                       "0 ",
		`timestamp(pathwise_loss_ratio) - pathwise_result_timestamp_seconds > bool 59`: "1 ",
	} {
		if got := value(query); got != want {
			t.Errorf("%s is %q, want %q", query, got, want)
		}
	}
	// A newer Result without the round trip ends its series at the next scrape, not after five minutes.
	r2 := *r
	r2.Started, r2.Metrics = time.Now(), map[measure.Metric]float64{measure.LossRatio: 0.5}
	c.Observe(&r2)
	until(t, "the newer Result is scraped", func() bool { return value("pathwise_loss_ratio") == "0.5 " })
	if got := value("pathwise_rtt_min_seconds"); got != "" {
		t.Errorf("still there: %s", got)
	}
}
