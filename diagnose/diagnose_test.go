package diagnose

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// path is a path and a transfer over it, in the terms in which a test wants to vary them.
type path struct {
	capacity      float64 // bit/s of IP; 0: not measured
	rtt, loaded   float64 // s
	usual         float64 // s, of the idle path; 0: as rtt
	goodput       float64 // bit/s
	rwnd, sndbuf  float64 // shares
	appLimited    bool
	notSent       float64 // bytes
	unscaled      bool
	window        float64 // bytes offered by the receiver
	rcvbuf        int
	sendBuffer    int // 0: what the kernel goes to
	rmem, wmem    [3]int
	sent, resent  float64 // packets
	pacedSent     float64
	pacedLost     float64
	timers        bool    // the sender's retransmission timer runs out at times
	halfLost      float64 // share of a probe at half of the capacity; below 0: there was none
	spurious      float64 // packets sent again although they had arrived
	reordered     float64 // packets behind later ones
	unselective   bool    // no selective acknowledgements
	bothScale     bool    // both ends offer to scale windows
	mss           float64
	back          float64 // bit/s that the way back carries; 0: not measured
	fixed         bool
	congestion    string
	noSamples     bool
	rateParameter float64
}

// hundred is 100 Mbit/s over 50 ms with ample buffers.
func hundred() path {
	return path{capacity: 97.5e6, rtt: 0.05, loaded: 0.0505, goodput: 20e6, window: 3e6, rcvbuf: 6 << 20,
		rmem: [3]int{4096, 131072, 33554432}, wmem: [3]int{4096, 16384, 4194304}, sent: 10_000, notSent: 60_000, congestion: "cubic", halfLost: -1, mss: 1448}
}

const testSeconds = 8.0

var testStart = time.Time{}

// results makes the Results that probes would bring from the path.
func (p path) results() []*measure.Result {
	ping := measure.NewResult("ping", time.Time{})
	ping.Metrics[measure.RTTMin], ping.Metrics[measure.RTTMedian] = p.rtt, max(p.rtt, p.usual)
	out := []*measure.Result{ping}
	if p.capacity > 0 {
		c := measure.NewResult("capacity", time.Time{})
		c.Parameters["reverse"] = false
		c.Metrics[measure.Capacity] = p.capacity
		out = append(out, c)
	}
	tcp := measure.NewResult("throughput", time.Time{})
	tcp.Source.Name, tcp.Target.Name = "bob", "carol"
	tcp.Parameters["reverse"], tcp.Parameters["proto"] = false, "tcp"
	if p.rateParameter > 0 {
		tcp.Parameters["rate"] = p.rateParameter
	}
	tcp.Metrics[measure.Throughput] = p.goodput
	if !p.noSamples {
		tcp.Metrics[measure.RwndLimitedRatio], tcp.Metrics[measure.SndbufLimitedRatio] = p.rwnd, p.sndbuf
		tcp.Samples = p.samples()
	}
	out = append(out, tcp)
	if p.pacedSent > 0 {
		udp := measure.NewResult("throughput", time.Time{})
		udp.Parameters["reverse"], udp.Parameters["proto"] = false, "udp"
		udp.Metrics[measure.SentPackets], udp.Metrics[measure.LostPackets] = p.pacedSent, p.pacedLost
		out = append(out, udp)
	}
	if p.halfLost >= 0 {
		udp := measure.NewResult("throughput", time.Time{})
		udp.Parameters["reverse"], udp.Parameters["proto"] = false, "udp"
		udp.Metrics[measure.SentPackets], udp.Metrics[measure.LostPackets] = 8000, 8000*p.halfLost
		udp.Metrics[measure.SentRate] = p.capacity / 2
		out = append(out, udp)
	}
	if p.back > 0 {
		c := measure.NewResult("capacity", time.Time{})
		c.Parameters["reverse"] = true
		c.Metrics[measure.Capacity] = p.back
		out = append(out, c)
	}
	return out
}

func (p path) samples() measure.Samples {
	var s measure.Samples
	options := 7.0 // time stamps, SACK, window scale
	if p.unscaled {
		options -= sock.OptWscale
	}
	if p.unselective {
		options -= sock.OptSACK
	}
	scaling := 0
	if p.bothScale {
		scaling = 1
	}
	const every = 0.05
	for i := range int(testSeconds/every) + 1 {
		at := float64(i) * every
		values := map[string]float64{"snd_mss_bytes": p.mss, "dsack_dups": p.spurious * at / testSeconds, "reord_seen": p.reordered * at / testSeconds, "rtt_seconds": p.loaded, "min_rtt_seconds": p.rtt, "options": options,
			"snd_wnd_bytes": p.window, "notsent_bytes": p.notSent, "bytes_acked": p.goodput / 8 * at,
			"data_segs_out": p.sent * at / testSeconds, "total_retrans_packets": p.resent * at / testSeconds}
		if p.appLimited {
			values["delivery_rate_app_limited"] = 1
		}
		if p.timers && i%10 == 0 {
			values["backoff"] = 1
		}
		s.TCPInfo = append(s.TCPInfo, measure.TCPSample{End: measure.Sender, Direction: measure.Forward, Stream: 1, ElapsedSeconds: at, Values: values})
	}
	s.Ends = []measure.TCPEnd{
		{End: measure.Sender, Direction: measure.Forward, Stream: 1, Host: "bob", CongestionControl: p.congestion, MSSBytes: 1448,
			SendBufferBytes: p.buffer(), BuffersFixed: p.fixed, Settings: &measure.TCPSettings{WmemBytes: &p.wmem, WindowScaling: &scaling}},
		{End: measure.Receiver, Direction: measure.Forward, Stream: 1, Host: "carol", ReceiveBufferBytes: p.rcvbuf,
			BuffersFixed: p.fixed, Settings: &measure.TCPSettings{RmemBytes: &p.rmem, WindowScaling: &scaling}},
	}
	return s
}

// buffer is the sender's buffer.
func (p *path) buffer() int {
	if p.sendBuffer > 0 {
		return p.sendBuffer
	}
	return p.wmem[2]
}

func with(change func(*path)) path {
	p := hundred()
	change(&p)
	return p
}

func smallWindow(p *path) {
	p.window, p.rcvbuf, p.rmem = 76_000, 131072, [3]int{4096, 87380, 131072}
	p.rwnd, p.goodput, p.loaded = 0.97, 76_000*8/0.05, 0.05
}

func smallSendBuffer(p *path) {
	p.wmem, p.sndbuf, p.goodput, p.notSent, p.appLimited = [3]int{4096, 16384, 131072}, 0.9, 14e6, 0, true
}

func lossy(p *path) {
	p.sent, p.resent, p.goodput = 1700, 17, 2.6e6
	p.pacedSent, p.pacedLost = 3450, 35
}

// bursty loses without a queue, and nothing of a slow probe.
func bursty(p *path) { lossy(p); p.goodput, p.pacedLost = 20e6, 0 }

// queued has a queue standing while it gets a fifth of the path.
func queued(p *path) { p.loaded = 0.09 }

// overfilled is queued from before, and loses a tenth of what BBR sends.
func overfilled(p *path) {
	queued(p)
	p.usual, p.congestion, p.sent, p.resent, p.pacedSent = 0.06, "bbr", 10_000, 1000, 3000
}

func idle(p *path) {
	p.goodput, p.appLimited, p.notSent = 10e6, true, 0
}

func fullPath(p *path) {
	p.goodput, p.loaded, p.resent = 94e6, 0.12, 60
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name string
		path path
		want string
	}{
		{"full", with(fullPath), Healthy},
		{"full, capacity not known", with(func(p *path) { fullPath(p); p.capacity = 0 }), Healthy},
		{"full although a little is lost", with(func(p *path) { fullPath(p); p.pacedSent, p.pacedLost = 3000, 5 }), Healthy},
		{"full under BBR with loss", with(func(p *path) { fullPath(p); p.congestion, p.resent = "bbr", 900 }), Healthy},
		{"receive window", with(smallWindow), "receive-window-limited"},
		{"receive window, with a few losses", with(func(p *path) { smallWindow(p); p.resent = 2 }), "receive-window-limited"},
		{"receive window, set by the program", with(func(p *path) { smallWindow(p); p.fixed = true }), "receive-buffer-fixed"},
		{"send buffer, set by the program", with(func(p *path) { smallSendBuffer(p); p.fixed = true }), "send-buffer-fixed"},
		{"receive window nearly enough", with(func(p *path) { smallWindow(p); p.goodput = 80e6 }), Healthy},
		{"a queue that others filled before, capacity not known", with(func(p *path) { fullPath(p); p.capacity, p.usual = 0, 0.08 }), "cross-traffic"},
		{"receive window that a paced sender fills now and then", with(func(p *path) { smallWindow(p); p.rwnd, p.congestion = 0.3, "bbr" }), "receive-window-limited"},
		{"receive window that is full now and then, and not used up", with(func(p *path) { smallWindow(p); p.rwnd, p.goodput = 0.3, 0.7*p.goodput }), "unexplained"},
		{"no window scaling", with(func(p *path) { smallWindow(p); p.unscaled, p.window = true, 65535 }), "no-window-scaling"},
		{"no window scaling, loss binds", with(func(p *path) { lossy(p); p.unscaled, p.window = true, 65535 }), "random-loss"},
		{"send buffer", with(smallSendBuffer), "send-buffer-limited"},
		{"random loss", with(lossy), "random-loss"},
		{"random loss, no paced probe", with(func(p *path) { lossy(p); p.pacedSent = 0 }), "random-loss"},
		{"loss with a queue, of which a paced probe sees little", with(func(p *path) { lossy(p); p.pacedSent, p.pacedLost, p.loaded = 300, 2, 0.09 }), "unexplained"},
		{"loss with a queue, of which a paced probe sees as much", with(func(p *path) { lossy(p); p.loaded = 0.09 }), "random-loss"},
		{"loss on a slow link, whose packets take their time", with(func(p *path) {
			p.capacity, p.goodput, p.rtt, p.loaded, p.sent, p.resent, p.pacedSent, p.pacedLost, p.timers = 1.9e6, 0.85e6, 0.014, 0.036, 750, 52, 229, 16, true
		}), "random-loss"},
		{"loss with a queue, no paced probe", with(func(p *path) { lossy(p); p.pacedSent, p.loaded = 0, 0.09 }), "unexplained"},
		{"loss that a paced probe does not see", with(func(p *path) { lossy(p); p.pacedLost = 0 }), "unexplained"},
		{"loss while others fill the path", with(func(p *path) { lossy(p); p.usual = 0.06 }), "unexplained"},
		{"a loss so rare that probes need not meet it", with(func(p *path) { bursty(p); p.sent, p.resent, p.pacedSent, p.halfLost = 20_000, 4, 1000, 0 }), "unexplained"},
		{"a loss so rare that only many even packets would meet it", with(func(p *path) { bursty(p); p.sent, p.resent, p.pacedSent, p.halfLost = 20_000, 8, 1000, 0 }), "shallow-buffer"},
		{"loss that half of the capacity does not see", with(func(p *path) { bursty(p); p.halfLost = 0 }), "shallow-buffer"},
		{"loss of a tiny window that half of the capacity does not see", with(func(p *path) { bursty(p); p.goodput, p.halfLost = 2e6, 0 }), "unexplained"},
		{"loss of a tiny window, and much of it", with(func(p *path) { bursty(p); p.goodput, p.resent, p.halfLost = 2e6, 100, 0 }), "duplex-mismatch"},
		{"loss of half of the capacity", with(func(p *path) { bursty(p); p.halfLost = 0.6 }), "policer"},
		{"loss of half of the capacity under a queue", with(func(p *path) { bursty(p); p.loaded, p.halfLost = 0.2, 0.02 }), "cross-traffic"},
		{"sent again in vain", with(func(p *path) { lossy(p); p.pacedLost, p.resent, p.spurious = 0, 70, 64 }), "reordering-harmful"},
		{"sent again in vain, too rarely to matter", with(func(p *path) { lossy(p); p.pacedLost, p.spurious = 0, 16 }), "unexplained"},
		{"sent again in vain, no paced probe", with(func(p *path) { lossy(p); p.pacedSent, p.spurious = 0, 16 }), "unexplained"},
		{"sent again, in vain now and then", with(func(p *path) { bursty(p); p.spurious, p.halfLost = 3, 0 }), "shallow-buffer"},
		{"reordered and full", with(func(p *path) { fullPath(p); p.reordered = 300 }), Healthy},
		{"others' queue", with(queued), "cross-traffic"},
		{"others' queue, from before, and nearly a fair share of it", with(func(p *path) { queued(p); p.usual, p.goodput = 0.06, 68e6 }), "cross-traffic"},
		{"others' queue, which BBR overfills", with(func(p *path) { overfilled(p); p.pacedLost = 20 }), "cross-traffic"},
		{"others' queue, of which a paced probe loses as much", with(func(p *path) { overfilled(p); p.pacedLost = 300 }), "unexplained"},
		{"loss that BBR does not slow for, and half of the capacity does not see", with(func(p *path) { bursty(p); p.halfLost, p.congestion = 0, "bbr" }), "unexplained"},
		{"others' queue, and the program is slow", with(func(p *path) { queued(p); idle(p) }), "application-limited"},
		{"delays that differ by themselves", with(func(p *path) { queued(p); p.reordered = 2000 }), "unexplained"},
		{"acknowledgements that wait", with(func(p *path) { queued(p); p.back = 0.5e6 }), "ack-path-congested"},
		{"acknowledgements that do not wait", with(func(p *path) { p.back = 0.5e6 }), "unexplained"},
		{"no SACK", with(func(p *path) { lossy(p); p.pacedLost, p.unselective = 0, true }), "no-sack"},
		{"no SACK, and nothing lost", with(func(p *path) { p.unselective = true }), "unexplained"},
		{"no SACK, and random loss", with(func(p *path) { lossy(p); p.unselective = true }), "random-loss"},
		{"no scaling although both offer it", with(func(p *path) { smallWindow(p); p.unscaled, p.window, p.bothScale = true, 65535, true }), "middlebox"},
		{"a long queue", with(func(p *path) { fullPath(p); p.loaded = 0.2 }), Healthy},
		{"small packets, full", with(func(p *path) { fullPath(p); p.mss, p.goodput = 548, 85e6 }), Healthy},
		{"small packets, slow", with(func(p *path) { p.mss = 548 }), "small-mss"},
		{"application", with(idle), "application-limited"},
		{"application at a rate", with(func(p *path) { idle(p); p.rateParameter = 10e6 }), "application-limited"},
		{"application near the capacity", with(func(p *path) { idle(p); p.goodput = 85e6 }), Healthy},
		{"slow for no known reason", with(func(p *path) {}), "unexplained"},
		{"a stock server, reverse: no samples", with(func(p *path) { p.noSamples, p.capacity = true, 0 }), Unknown},
		{"no cause, capacity not known", with(func(p *path) { p.capacity = 0 }), Unknown},
		{"a cause, capacity not known", with(func(p *path) { smallWindow(p); p.capacity = 0 }), "receive-window-limited"},
		{"faster than the capacity", with(func(p *path) { p.capacity, p.goodput = 5.8e6, 15.2e6 }), Unknown},
		{"faster than the capacity, which may be off by that much", with(func(p *path) { fullPath(p); p.capacity = 90e6 }), Healthy},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Diagnose(c.path.results())
			if d.Verdict != c.want {
				d.Results = nil
				text, _ := json.MarshalIndent(d, "", " ")
				t.Errorf("verdict %s, want %s:\n%s", d.Verdict, c.want, text)
			}
			checkFindings(t, d)
		})
	}
}

// checkFindings holds every finding to what the contract promises.
func checkFindings(t *testing.T, d *Diagnosis) {
	t.Helper()
	said := *d
	said.Results = nil // which were given
	// NaN and infinities do not pass.
	if _, err := json.Marshal(said); err != nil {
		t.Errorf("not fit for JSON: %v", err)
	}
	if expected := d.ExpectedBitsPerSecond; expected != nil && *expected < d.AchievedBitsPerSecond {
		t.Errorf("expected %v, achieved %v", *expected, d.AchievedBitsPerSecond)
	}
	for _, f := range d.Findings {
		checkCalls(t, &f)
		about := func(some func(*Rule) bool) bool {
			return slices.ContainsFunc(rules, func(r Rule) bool { return r.ID == f.ID && some(&r) })
		}
		hasWay := func(r *Rule) bool { return r.about(OfWay) || r.about(OfConnection) }
		if f.Way != "" && !about(hasWay) || f.Way == "" && !about(func(r *Rule) bool { return !hasWay(r) || r.about(OfPath) }) {
			t.Errorf("%s: way %q", f.ID, f.Way)
		}
		if f.ID == "" || f.Where == "" || f.Explanation == "" || len(f.Evidence) == 0 || f.Advice == nil {
			t.Errorf("incomplete finding %+v", f)
		}
		if text, _ := json.Marshal(f); bytes.ContainsAny(bytes.ReplaceAll(text[1:], []byte(`{"`), nil), "{") { // "{" begins a name that no fact has
			t.Errorf("%s names what is not known: %s", f.ID, text)
		}
		if f.Confidence <= 0 || f.Confidence > 1 {
			t.Errorf("%s: confidence %v", f.ID, f.Confidence)
		}
		if f.Severity == measure.Problem && len(f.Advice) == 0 {
			t.Errorf("%s: no advice", f.ID)
		}
		for _, e := range f.Evidence {
			if e.Metric == "" || e.Unit == "" || e.Means == "" || math.IsNaN(e.Value) {
				t.Errorf("%s: incomplete evidence %+v", f.ID, e)
			}
		}
	}
}

// Where nothing says what the path can carry, nothing is promised: its capacity was not measured, or the transfer was faster than the trains
// could tell, so that its hosts hold it as soon as its own limit is gone.
func TestNoPredictionWithoutCapacity(t *testing.T) {
	for _, capacity := range []float64{0, 5e6} {
		f := Diagnose(with(func(p *path) { smallWindow(p); p.capacity = capacity }).results()).First()
		if f == nil || f.ID != "receive-window-limited" || f.Predicted != nil {
			t.Errorf("capacity %g: %+v", capacity, f)
		}
	}
}

// Predictions are the least of the limits that remain.
func TestPredictions(t *testing.T) {
	const carries = 97.5e6 * 1448 / 1500
	// Slow start on this path: 416 packets of bandwidth-delay product are 6 doublings of 10, 300 ms, in which 630 packets
	// are sent, 77.6 ms of the rate.
	mean := carries * (1 - (0.3-630*1448*8/carries)/testSeconds)
	window := 76_000 * 8 / 0.05
	for _, c := range []struct {
		name  string
		path  path
		want  float64
		basis string
	}{
		{"receive window, then the path", with(smallWindow), mean, "capacity"},
		{"send buffer, then the path", with(smallSendBuffer), mean, "capacity"},
		{"buffers that the program sets at both ends, then the path", with(func(p *path) {
			p.fixed, p.rcvbuf, p.window, p.sendBuffer = true, 131072, 76_000, 131072
			p.sndbuf, p.goodput = 0.9, 14e6
		}), mean, "capacity"},
		{"loss, then the path", with(lossy), mean, "capacity"},
		{"loss, then the receive window", with(func(p *path) {
			smallWindow(p)
			lossy(p)
			p.rwnd = 0.02
		}), window, "receive window"},
		{"application, then loss is no limit of it", with(func(p *path) { idle(p); p.resent = 1 }), mean, "capacity"},
		{"receive window, then the send buffer", with(func(p *path) {
			smallWindow(p)
			p.wmem[2] = 200_000
		}), 200_000 * sendShare * 8 / 0.05, "send buffer"},
	} {
		f := Diagnose(c.path.results()).First()
		if f == nil || f.Predicted == nil {
			t.Errorf("%s: no prediction", c.name)
			continue
		}
		if got := f.Predicted.BitsPerSecond; math.Abs(got-c.want)/c.want > 0.02 || !strings.Contains(f.Predicted.Basis, c.basis) {
			t.Errorf("%s: predicted %.4g (%s), want %.4g by %s", c.name, got, f.Predicted.Basis, c.want, c.basis)
		}
	}
	if f := Diagnose(with(func(p *path) { idle(p); p.capacity = 0; p.noSamples = true }).results()).First(); f != nil {
		t.Errorf("a verdict from nothing: %+v", f)
	}
}

func TestAdviceCommands(t *testing.T) {
	for _, c := range []struct {
		name string
		path path
		want measure.Advice
	}{
		// Four times the bandwidth-delay product of 609,375 bytes, at the 0.58 of the buffer that the window was: 4,203,830
		// bytes, in steps of 64 KiB.
		{"receive window", with(smallWindow), measure.Advice{Host: "carol", Command: `sysctl -w net.ipv4.tcp_rmem="4096 87380 4259840"`}},
		{"send buffer", with(smallSendBuffer), measure.Advice{Host: "bob", Command: `sysctl -w net.ipv4.tcp_wmem="4096 16384 3670016"`}},
		{"receive window set by the program", with(func(p *path) { smallWindow(p); p.fixed = true }), measure.Advice{Host: "carol"}},
		{"no scaling", with(func(p *path) { smallWindow(p); p.unscaled, p.window = true, 65535 }),
			measure.Advice{Host: "carol", Command: "sysctl -w net.ipv4.tcp_window_scaling=1"}},
		{"loss", with(lossy), measure.Advice{Host: "path from bob to carol"}},
	} {
		got := Diagnose(c.path.results()).First().Advice[0]
		got.Why = ""
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestPacedProbe(t *testing.T) {
	for _, c := range []struct {
		name string
		path path
		want float64 // bit/s; 0: none
	}{
		{"no loss", with(func(p *path) {}), 0},
		{"loss on a full path", with(fullPath), 0},
		{"loss", with(func(p *path) { lossy(p) }), 9.75e6},
		{"three losses while a window held it", with(func(p *path) { smallWindow(p); p.resent = 3 }), 0},
		{"four losses while a window held it", with(func(p *path) { smallWindow(p); p.resent = 4 }), 9.75e6},
		{"three losses of many packets", with(func(p *path) { p.sent, p.resent = 14_000, 3 }), 10e6},
		{"a loss of many packets", with(func(p *path) { p.sent, p.resent = 14_000, 1 }), 0},
		{"a rare loss: up to half of what TCP got", with(func(p *path) { p.sent, p.resent = 14_000, 9 }), 10e6},
		{"a rare loss: up to a third of the path", with(func(p *path) { p.sent, p.resent, p.goodput = 40_000, 9, 70e6 }), 97.5e6 / 3},
		{"loss on a slow path", with(func(p *path) { lossy(p); p.capacity, p.goodput = 10e6, 1e6 }), 200 * 1400 * 8},
		{"loss on a very slow path", with(func(p *path) { lossy(p); p.capacity, p.goodput = 1.5e6, 0.2e6 }), 0.5e6},
	} {
		p := c.path
		p.pacedSent = 0
		plan := Plan(time.Second, measure.Forward)
		longer := extend(plan, len(plan), p.results())
		rate := 0.0
		if i := find(longer, "paced"); i >= 0 {
			rate = longer[i].Parameters["rate"].(float64)
		}
		if math.Abs(rate-c.want) > 1 {
			t.Errorf("%s: %v, want %v", c.name, rate, c.want)
		}
	}
}

// Results that lack anything must not bring the diagnosis down.
func TestDiagnoseIncomplete(t *testing.T) {
	empty := measure.NewResult("throughput", time.Time{})
	empty.Metrics[measure.Throughput] = 0
	for name, results := range map[string][]*measure.Result{
		"nothing":      nil,
		"no metrics":   {measure.NewResult("throughput", time.Time{}), measure.NewResult("ping", time.Time{})},
		"no bytes":     {empty},
		"other kinds":  {measure.NewResult("sunshine", time.Time{})},
		"only samples": {{Kind: "throughput", Samples: hundred().samples(), Metrics: map[measure.Metric]float64{measure.Throughput: 1}}},
	} {
		d := Diagnose(results)
		checkFindings(t, d)
		if d.Findings == nil {
			t.Errorf("%s: findings must be a list", name)
		}
	}
}

// A path is not healthy because one way is, where the transfer the other way failed.
func TestHalfMeasured(t *testing.T) {
	p := with(fullPath)
	results := p.results()
	failed := measure.NewResult("throughput", testStart)
	failed.Parameters["reverse"], failed.Parameters["proto"] = true, "tcp"
	failed.Fail(errors.New("no answer"))
	d := Diagnose(append(results, failed))
	note := "reverse: nothing is known of this way, whose transfer failed: no answer"
	if d.Verdict != Unknown || !slices.Contains(d.Notes, note) {
		t.Errorf("%s, %q; want unknown, %q", d.Verdict, d.Notes, note)
	}
	if d := Diagnose(append(with(lossy).results(), failed)); d.Verdict != "random-loss" {
		t.Errorf("%s, want the cause that is known", d.Verdict)
	}
	if d := Diagnose(results); d.Verdict != Healthy || len(d.Notes) > 0 {
		t.Errorf("%s, %q; want healthy", d.Verdict, d.Notes)
	}
}
