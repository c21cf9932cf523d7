package browser

import (
	"context"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/web"
)

const playedText = `
hosts:
  ucl:   {address: 10.0.0.1, site: London}
  cern:  {address: 10.0.0.2, site: Geneva}
  dl:    {address: 10.0.0.3, site: Daresbury}
  ral:   {address: 10.0.0.4, site: Didcot}
  sink:  {address: 10.0.0.5, reach: responder, ports: {iperf3: 5201}}
  closed: {address: 10.0.0.6, online: false}
tools: {rtt: {probe: ping, parameters: {count: 5, interval: 200ms}}, state: {probe: host}}
groups: {all: {mesh: [ucl, cern]}}
tests: [{tool: rtt, group: all, schedule: {every: 1h}}]
controller: {callers: {classes: {staff: {}}, assign: [{class: staff, network: 127.0.0.0/8}]}}
`

// evil is what somebody else may write wherever text comes from.
const evil = `<img src=x onerror="document.title='broken into'"><script>document.title='broken into'</script>`

// played is a Hub whose hosts do what they are ordered to, as agents do: they show what comes, file the Result, and end with
// it. All are there but ral; dl lets nobody in.
type played struct {
	said     chan fleet.Receiver
	canceled chan string // IDs of runs that were called back

	mu       sync.Mutex
	receiver fleet.Receiver
	shown    map[string]chan fleet.Progress
	paused   string // the kind whose runs do not end
	goOn     chan struct{}
}

// status is what a host says of itself.
func status(host string) fleet.Status {
	s := fleet.Status{Host: host, At: time.Now(), Version: "v1.2.3", Platform: "linux/amd64", Plan: 1, Clock: measure.NewClock(400*time.Microsecond, true),
		Can: &fleet.Abilities{Protocol: fleet.Protocol, Results: measure.ResultSchema, Kinds: probe.ParameterNames(),
			Values: probe.ParameterValues()}}
	if host == "dl" {
		s.Version, s.Can, s.Platform, s.Spooled, s.Clock = "v1.2.2", nil, evil, 17, measure.Clock{}
		s.Running = []string{someResult}
		s.Lacks = []fleet.MissingCapability{{Kind: "ping", What: "raw-sockets", Why: evil}}
	}
	return s
}

func (h *played) Serve(ctx context.Context, r fleet.Receiver) error {
	h.mu.Lock()
	h.receiver = r
	h.mu.Unlock()
	h.said <- r
	for beat := time.NewTicker(5 * time.Second); ; {
		for _, host := range []string{"ucl", "cern", "dl"} {
			r.Heard(status(host))
		}
		select {
		case <-beat.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (h *played) Plan(context.Context, fleet.Plan) error { return nil }

func (h *played) of(run string) chan fleet.Progress {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.shown[run] == nil {
		h.shown[run] = make(chan fleet.Progress, 64)
	}
	return h.shown[run]
}

// pause keeps runs of a kind from their end until they may go on.
func (h *played) pause(kind string) (goOn func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ch := make(chan struct{})
	h.paused, h.goOn = kind, ch
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.paused = ""
		close(ch)
	}
}

func (h *played) Order(_ context.Context, host string, o fleet.Order) error {
	switch {
	case o.Cancel != "":
		select {
		case h.canceled <- o.Cancel:
		default: // nobody asks
		}
	case host == "dl":
		return &fleet.Refusal{Host: host, Why: "its owner says " + evil}
	case o.Run != nil:
		go h.play(*o.Run)
	}
	return nil
}

// calledBack waits until some run is.
func (h *played) calledBack(t *testing.T) {
	t.Helper()
	select {
	case <-h.canceled:
	case <-time.After(patience):
		t.Error("the run was not called back")
	}
}

func (h *played) Watch(ctx context.Context, _, run string, ready chan<- struct{}, each func(fleet.Progress)) error {
	close(ready)
	for {
		select {
		case p := <-h.of(run):
			if each(p); p.Result != nil {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (h *played) play(run measure.Run) {
	r := resultOf(&run)
	for i := range r.Samples.Echoes {
		h.of(run.ID) <- fleet.Progress{Run: run.ID, Echo: &r.Samples.Echoes[i]}
	}
	for i := range r.Samples.Intervals {
		h.of(run.ID) <- fleet.Progress{Run: run.ID, Interval: &r.Samples.Intervals[i]}
	}
	if r.Samples.Rounds != nil {
		h.of(run.ID) <- fleet.Progress{Run: run.ID, Rounds: r.Samples.Rounds}
	}
	h.mu.Lock()
	receiver, goOn := h.receiver, h.goOn
	if run.Task.Kind != h.paused {
		goOn = nil
	}
	h.mu.Unlock()
	if goOn != nil {
		<-goOn
	}
	_ = receiver.File(context.Background(), run.Source, []*measure.Result{r}) // a test that needs it misses it
	h.of(run.ID) <- fleet.Progress{Run: run.ID, Result: r}
}

// resultOf is what came of a run: over a path of 50 Mbit/s and 40 ms, on which one of five echoes is lost, and whose far end
// has a small window.
func resultOf(run *measure.Run) *measure.Result {
	const window, rtt, rate = 53_200.0, 0.04, 10.4e6
	r := measure.NewResult(run.Task.Kind, run.Start)
	r.ID, r.Tool, r.DurationSeconds = run.ID, run.Tool, 1
	r.Source, r.Target = measure.Endpoint{Name: run.Source, Address: "10.0.0.1"}, measure.Endpoint{Name: run.Target, Address: "10.0.0.2"}
	maps.Copy(r.Parameters, run.Task.Parameters)
	reverse := r.Parameters["reverse"] == true
	switch run.Task.Kind {
	case "ping":
		for i := range 5 {
			e := measure.Echo{Seq: i + 1, SentSeconds: float64(i) * 0.2}
			if i != 2 {
				v := rtt
				e.RTTSeconds = &v
			}
			r.Samples.Echoes = append(r.Samples.Echoes, e)
		}
		r.Metrics = map[measure.Metric]float64{measure.RTTMin: rtt, measure.RTTMedian: rtt, measure.LossRatio: 0.2}
	case "trace":
		v := rtt
		r.Samples.Hops = []measure.Hop{{TTL: 1, Addresses: []string{"10.0.0.2"}, RTTSeconds: []*float64{&v}}}
		r.Metrics[measure.HopCount] = 1
		if r.Parameters["rounds"] != nil {
			r.Samples.Rounds = &measure.RoundsSample{Rounds: 7, Hops: []measure.HopRounds{{TTL: 1, Sent: 7, Answered: 7, Last: &v, Best: &v, Mean: &v, Worst: &v, From: []measure.HopAnswers{{Address: "10.0.0.2", Packets: 7}}}},
				Loss: measure.PathLoss{End: 1, Reached: true, Verdict: "Nothing is lost."}}
		}
	case "capacity":
		r.Metrics[measure.Capacity] = 48.8e6
		if reverse {
			r.Metrics[measure.Capacity] = 20e6 // which the transfer shows to be wrong
		}
	case "throughput":
		way, got, share := measure.Forward, rate, 0.972
		if reverse {
			way, got, share = measure.Reverse, 46e6, 0.0
		}
		r.Metrics = map[measure.Metric]float64{measure.Throughput: got, measure.RwndLimitedRatio: share, measure.SndbufLimitedRatio: 0}
		for i := range 6 {
			at := float64(i)
			r.Samples.Intervals = append(r.Samples.Intervals, measure.Interval{Direction: way, End: measure.Receiver,
				StartSeconds: at, EndSeconds: at + 1, Bytes: int64(got / 8), BitsPerSecond: got})
			r.Samples.TCPInfo = append(r.Samples.TCPInfo, measure.TCPSample{End: measure.Sender, Direction: way, Stream: 1, ElapsedSeconds: at + 1,
				Values: map[string]float64{"snd_mss_bytes": 1448, "rtt_seconds": rtt, "min_rtt_seconds": rtt, "options": 7, "snd_wnd_bytes": window,
					"notsent_bytes": 60_000, "bytes_acked": got / 8 * (at + 1), "data_segs_out": 1000 * (at + 1), "total_retrans_packets": 0}})
		}
		rmem := [3]int{4096, 87380, 87380}
		r.Samples.Ends = []measure.TCPEnd{{End: measure.Sender, Direction: way, Stream: 1, Host: run.Source, CongestionControl: "cubic", MSSBytes: 1448, SendBufferBytes: 4 << 20},
			{End: measure.Receiver, Direction: way, Stream: 1, Host: run.Target, ReceiveBufferBytes: 87380, Settings: &measure.TCPSettings{RmemBytes: &rmem}}}
	}
	return r
}

// playedMesh is a controller over played hosts, and its pages, for one test.
type playedMesh struct {
	*web.Server
	url string
	hub *played
}

// roles are those of people: olga is an operator, and vic may look.
var roles = map[string]account.Role{"olga": account.Operator, "vic": account.Viewer}

// newPlayed makes a mesh with some people.
func newPlayed(t *testing.T, people ...string) *playedMesh {
	t.Helper()
	return playedBehind(t, public, people...)
}

// playedBehind makes one whose pages are shown as handler has them.
func playedBehind(t *testing.T, handler func(*web.Server) http.Handler, people ...string) *playedMesh {
	t.Helper()
	folder := t.TempDir()
	store, err := archive.Open(t.Context(), filepath.Join(folder, "archive"), archive.Options{})
	must(t, err)
	file := filepath.Join(folder, "mesh.yaml")
	must(t, os.WriteFile(file, []byte(playedText), 0o600))
	h := &played{said: make(chan fleet.Receiver, 1), canceled: make(chan string, 8), shown: map[string]chan fleet.Progress{}}
	some := map[string]account.Role{}
	for _, name := range people {
		some[name] = roles[name]
	}
	s, url, end := serve(t, control.Config{Mesh: file, Data: folder, Hub: h, Archive: store}, some, handler)
	t.Cleanup(func() { must(t, end()) })
	<-h.said
	for late := time.Now().Add(patience); s.Control.Overview().Plan == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("there is no plan")
		}
	}
	return &playedMesh{s, url + "/", h}
}
