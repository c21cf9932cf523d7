package twin

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/chance"
	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// result makes a Result of the path that these tests are about.
func result(kind string) *measure.Result {
	r := measure.NewResult(kind, time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC))
	r.ID = "01J-" + kind
	r.Source = measure.Endpoint{Name: "ucl.example.org", Address: "192.0.2.1"}
	r.Target = measure.Endpoint{Name: "cern", Address: "198.51.100.1"}
	return r
}

// ping makes a Result of echoes; a NaN is a lost one.
func ping(rtts ...float64) *measure.Result {
	r := result("ping")
	r.Parameters = map[string]any{"count": len(rtts), "interval_seconds": 0.1, "size_bytes": 56, "sampling": "poisson"}
	var came []float64
	for i, v := range rtts {
		s := measure.Echo{Seq: i + 1}
		if !math.IsNaN(v) {
			s.RTTSeconds = &v
			came = append(came, v)
		}
		r.Samples.Echoes = append(r.Samples.Echoes, s)
	}
	s := stat.Summarize(came)
	r.Metrics = map[measure.Metric]float64{measure.SentPackets: float64(len(rtts)), measure.ReceivedPackets: float64(s.N),
		measure.LossRatio: 1 - float64(s.N)/float64(len(rtts))}
	if s.N > 0 {
		r.Metrics[measure.RTTMin], r.Metrics[measure.RTTMedian], r.Metrics[measure.RTTP95] = s.Min, s.Median, s.P95
	}
	return r
}

func hop(ttl int, address string, rtts ...float64) measure.Hop {
	h := measure.Hop{TTL: ttl, RTTSeconds: []*float64{nil}}
	if address != "" {
		h.Addresses = []string{address}
	}
	for _, v := range rtts {
		h.RTTSeconds = append(h.RTTSeconds, &v)
	}
	return h
}

func trace(hops ...measure.Hop) *measure.Result {
	r := result("trace")
	r.Samples.Hops = hops
	return r
}

func transfer(reverse bool, goodput float64, samples ...map[string]float64) *measure.Result {
	r := result("throughput")
	r.Parameters = map[string]any{"proto": "tcp", "reverse": reverse, "duration_seconds": 5.0, "cc": "reno"}
	r.Metrics = map[measure.Metric]float64{measure.Throughput: goodput}
	way := measure.Forward
	if reverse {
		way = measure.Reverse
	}
	for i, v := range samples {
		r.Samples.TCPInfo = append(r.Samples.TCPInfo, measure.TCPSample{End: measure.Sender, Direction: way, Stream: 1,
			ElapsedSeconds: float64(i) * 0.05, Values: v})
	}
	return r
}

func mustTwin(t *testing.T, results ...*measure.Result) (*Twin, *lab.Spec) {
	t.Helper()
	twin, err := FromResults(results)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := twin.Spec()
	if err != nil {
		t.Fatalf("%v in:\n%s", err, twin.YAML())
	}
	return twin, spec
}

func delays(s *lab.Spec) (all []time.Duration) {
	for _, l := range s.Links {
		all = append(all, time.Duration(*l.Delay))
	}
	return all
}

// Each hop is as far as its least answer, but no farther than what lies behind it; one that does not answer lies in
// between.
func TestDelays(t *testing.T) {
	const target = "198.51.100.1"
	ms := func(values ...float64) (all []time.Duration) {
		for _, v := range values {
			all = append(all, time.Duration(v*1e6))
		}
		return all
	}
	for _, c := range []struct {
		name    string
		results []*measure.Result
		want    []time.Duration
		silent  string
	}{
		{"ping alone", []*measure.Result{ping(0.050, 0.040, 0.041)}, ms(20), ""},
		{"trace alone", []*measure.Result{trace(hop(1, "192.0.2.9", 0.003, 0.002), hop(2, target, 0.010))}, ms(1, 4), ""},
		{"the ping's total", []*measure.Result{ping(0.040), trace(hop(1, "192.0.2.9", 0.002), hop(2, target, 0.044))},
			ms(1, 19), ""},
		{"a late router", []*measure.Result{ping(0.040), trace(hop(1, "192.0.2.9", 0.002), hop(2, "192.0.2.10", 0.050),
			hop(3, "192.0.2.11", 0.030), hop(4, target, 0.041))}, ms(1, 14, 0, 5), ""},
		{"silent routers", []*measure.Result{ping(0.040), trace(hop(1, "192.0.2.9", 0.002), hop(2, ""), hop(3, ""),
			hop(4, "192.0.2.12", 0.032), hop(5, target, 0.041))}, ms(1, 5, 5, 5, 4), "hop2 hop3"},
		{"a trace that ends before the target", []*measure.Result{ping(0.040), trace(hop(1, "192.0.2.9", 0.002),
			hop(2, "192.0.2.10", 0.030))}, ms(1, 14, 5), ""},
		{"TCP alone", []*measure.Result{transfer(false, 1e6, map[string]float64{"min_rtt_seconds": 0.02,
			"rtt_seconds": 0.021})}, ms(10), ""},
	} {
		twin, spec := mustTwin(t, c.results...)
		if diff := cmp.Diff(c.want, delays(spec)); diff != "" {
			t.Errorf("%s: delays (-want +got):\n%s", c.name, diff)
		}
		var silent []string
		for _, r := range twin.Routers {
			if r.Silent {
				silent = append(silent, r.Name)
			}
		}
		if got := strings.Join(silent, " "); got != c.silent {
			t.Errorf("%s: silent routers %q, want %q", c.name, got, c.silent)
		}
	}
}

// What the rates add to the packets that were measured with is not in the delay, or it would be there twice: an echo of
// 84 bytes takes 122 on the wire, 1.952 ms at 1 Mbit/s there and back.
func TestDelayLeavesOutSerialization(t *testing.T) {
	trains := result("capacity")
	trains.Parameters = map[string]any{"reverse": false, "size_bytes": 1500}
	trains.Metrics[measure.Capacity] = 1e6 * 1500 / 1538
	_, spec := mustTwin(t, ping(0.040), trains)
	if got, want := delays(spec)[0], 19_024*time.Microsecond; got != want {
		t.Errorf("delay %v, want %v", got, want)
	}
	if got := float64(*spec.Links[0].Rate); got != 1e6 {
		t.Errorf("rate %v, want 1e6", got)
	}
}

// The rate is the trains', or the transfer's that filled the link; the other way is taken for alike; the queue is
// what the round trip rose by.
func TestRateAndQueue(t *testing.T) {
	full := func(reverse bool) *measure.Result {
		// 40 samples at 20 Mbit/s of line: 1448 of 1538 bytes, and a round trip of 20 ms that 60 ms of queue make 80.
		var samples []map[string]float64
		for i := range 40 {
			samples = append(samples, map[string]float64{"min_rtt_seconds": 0.020,
				"rtt_seconds": min(0.080, 0.020+0.006*float64(i)), "snd_mss_bytes": 1448, "pmtu_bytes": 1500, "advmss_bytes": 1448, "delivered": 0.05 * float64(i) * 20e6 / 8 / 1538})
		}
		r := transfer(reverse, 20e6*1448/1538, samples...)
		r.Metrics[measure.RetransmittedBytes] = 14480
		return r
	}
	_, spec := mustTwin(t, ping(0.020, 0.0201, 0.0202), full(true))
	l := spec.Links[0]
	if l.Rate == nil || math.Abs(float64(*l.Rate)/20e6-1) > 0.001 {
		t.Errorf("rate %v, want 20 Mbit/s both ways", l.Rate)
	}
	if l.Forward != nil && l.Forward.Queue != nil || l.Reverse == nil || l.Reverse.Queue == nil {
		t.Fatalf("queues: forward %v, reverse %v; want one in reverse", l.Forward, l.Reverse)
	}
	want := 0.060 * 20e6 / 8 * 1500 / 1538
	if got := float64(l.Reverse.Queue.Limit.Bytes); math.Abs(got/want-1) > 0.02 {
		t.Errorf("queue %v bytes, want %v", got, want)
	}

	idle := transfer(false, 3e6,
		map[string]float64{"min_rtt_seconds": 0.020, "rtt_seconds": 0.0205, "snd_mss_bytes": 1448})
	_, spec = mustTwin(t, ping(0.020), idle)
	if spec.Links[0].Rate != nil || spec.Links[0].Forward != nil {
		t.Errorf("a transfer that filled nothing makes a rate: %v", spec.Links[0])
	}
}

// Losses that come in runs make a Gilbert model, others do not.
func TestLossModel(t *testing.T) {
	const n = 20_000
	for _, c := range []struct {
		name  string
		loss  *chance.Loss
		burst float64 // 1: independent
	}{
		{"independent", chance.Independent(0.02), 1},
		{"bursty", &chance.Loss{Gilbert: &chance.Gilbert{Ratio: 0.02, Burst: 4}}, 4},
	} {
		process := c.loss.New(0, rand.New(rand.NewPCG(1, 2)))
		rtts := make([]float64, n)
		for i := range rtts {
			rtts[i] = 0.020
			if process.Lost(0, 84) {
				rtts[i] = math.NaN()
			}
		}
		datagrams := result("throughput") // says that all of it is forward
		datagrams.Parameters = map[string]any{"proto": "udp", "reverse": false}
		datagrams.Metrics = map[measure.Metric]float64{measure.SentPackets: n, measure.LostPackets: 0.02 * n,
			measure.SentRate: 1e6}
		trains := result("capacity")
		trains.Parameters = map[string]any{"reverse": false, "size_bytes": 1500}
		trains.Metrics[measure.Capacity] = 100e6
		_, spec := mustTwin(t, ping(rtts...), datagrams, trains)
		got := spec.Links[0].Forward.Loss
		switch {
		case c.burst == 1:
			if got.Gilbert != nil || got.Ratio == nil || float64(*got.Ratio) != 0.02 {
				t.Errorf("%s: %v, want 2%%", c.name, got)
			}
		case got.Gilbert == nil || math.Abs(got.Gilbert.Burst-c.burst) > 0.8 || float64(got.Gilbert.Ratio) != 0.02:
			t.Errorf("%s: %v, want a Gilbert of 2%% in bursts of 4", c.name, got)
		}
	}
}

// The test for runs has the size that it says: of 2000 samples of independent losses about 1 % are called bursty, fewer
// where the count of runs is coarse. More than 35 would be five standard deviations off.
func TestBurstyIsRare(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	called := 0
	for range 2000 {
		lost := make([]bool, 1000)
		for i := range lost {
			lost[i] = random.Float64() < 0.05
		}
		c := tally{sent: len(lost)}
		for _, run := range stat.LossRuns(lost) {
			c.lost, c.runs = c.lost+run, c.runs+1
		}
		if c.bursty() {
			called++
		}
	}
	if called == 0 || called > 35 {
		t.Errorf("%d of 2000 independent samples are called bursty; want about 1 %%", called)
	}
	if p := fewRuns(tally{sent: 10, lost: 3, runs: 3}); math.Abs(p-1) > 1e-9 {
		t.Errorf("all runs there can be have probability %v, want 1", p)
	}
	// 8 places of C(10,3) = 120 for one run of three.
	if p := fewRuns(tally{sent: 10, lost: 3, runs: 1}); math.Abs(p-8.0/120) > 1e-9 {
		t.Errorf("one run of three in ten: %v, want %v", p, 8.0/120)
	}
}

// Two ways with the twin's table add up to what the round trips were: the largest difference of the distribution
// functions stays below the critical value of the two-sample Kolmogorov-Smirnov test at 0.1 %, 1.95 sqrt(2/n)
// (Smirnov, 1948).
func TestHalvesAddUp(t *testing.T) {
	const n = 20_000
	for name, jitter := range map[string]chance.Jitter{
		"exponential": {Spread: notation.Delay(time.Millisecond), Distribution: chance.Exponential},
		"pareto":      {Spread: notation.Delay(time.Millisecond), Distribution: chance.Pareto},
	} {
		there, back := jitter.New(rand.New(rand.NewPCG(1, 1))), jitter.New(rand.New(rand.NewPCG(2, 2)))
		rtts := make([]float64, n)
		for i := range rtts {
			rtts[i] = 0.020 + float64(there.Extra(0)+back.Extra(0))/1e9
		}
		_, spec := mustTwin(t, ping(rtts...))
		table := spec.Links[0].Jitter
		if table == nil {
			t.Fatalf("%s: no jitter", name)
		}
		there, back = table.New(rand.New(rand.NewPCG(3, 3))), table.New(rand.New(rand.NewPCG(4, 4)))
		again := make([]float64, n)
		for i := range again {
			again[i] = float64(2**spec.Links[0].Delay)/1e9 + float64(there.Extra(0)+back.Extra(0))/1e9
		}
		if d, most := kolmogorov(rtts, again), 1.95*math.Sqrt(2.0/n); d > most {
			t.Errorf("%s: the distributions differ by %.4f, want at most %.4f", name, d, most)
		}
	}
}

// inOrder sends echoes a time apart over two ways that keep order, and returns their Result.
func inOrder(n int, apart, least float64, there, back func() float64) *measure.Result {
	rtts, first, second := make([]float64, n), 0.0, 0.0
	for i := range rtts {
		sent := float64(i) * apart
		first = max(first, sent+least/2+there())
		second = max(second, first+least/2+back())
		rtts[i] = second - sent
	}
	r := ping(rtts...)
	for i := range r.Samples.Echoes {
		r.Samples.Echoes[i].SentSeconds = float64(i) * apart
	}
	return r
}

// A rare long delay holds up the echoes behind it. That is one delay, not one for each: else the twin, which keeps
// order too, would have all of them again behind each.
func TestHeldEchoesCountOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	rarelyLong := func() float64 {
		extra := 0.0003 * random.ExpFloat64()
		if random.Float64() < 0.005 {
			extra += 0.010
		}
		return extra
	}
	original := inOrder(20_000, 0.002, 0.020, rarelyLong, func() float64 { return 0 })
	_, spec := mustTwin(t, original)
	table := spec.Links[0].Jitter
	there, back := table.New(rand.New(rand.NewPCG(3, 3))), table.New(rand.New(rand.NewPCG(4, 4)))
	again := inOrder(20_000, 0.002, 0.020, func() float64 { return float64(there.Extra(0)) / 1e9 },
		func() float64 { return float64(back.Extra(0)) / 1e9 })
	// 0.03: the long delays of both ways together are as many as the original's only nearly, and each shows in five
	// echoes.
	if d := kolmogorov(roundTrips(original), roundTrips(again)); d > 0.03 {
		t.Errorf("the distributions differ by %.4f, want at most 0.03", d)
	}
	a, b := stat.Summarize(roundTrips(original)).P95, stat.Summarize(roundTrips(again)).P95
	if math.Abs(a-b) > 0.0005 {
		t.Errorf("p95 %.3f ms, the twin's %.3f ms", a*1000, b*1000)
	}
}

func kolmogorov(a, b []float64) (largest float64) {
	x, y := sorted(a), sorted(b)
	i, j := 0, 0
	for i < len(x) && j < len(y) {
		if x[i] <= y[j] {
			i++
		} else {
			j++
		}
		largest = max(largest, math.Abs(float64(i)/float64(len(x))-float64(j)/float64(len(y))))
	}
	return largest
}

func sorted(values []float64) []float64 { r := ping(values...); return roundTrips(r) }

// Datagrams that varied as much as echoes did put the jitter on their way; a steady path has none.
func TestJitterSide(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	jitter := chance.Jitter{Spread: notation.Delay(time.Millisecond), Distribution: chance.Exponential}
	process := jitter.New(random)
	rtts := make([]float64, 2000)
	for i := range rtts {
		rtts[i] = 0.020 + float64(process.Extra(0))/1e9
	}
	trains := result("capacity")
	trains.Parameters = map[string]any{"reverse": true}
	trains.Metrics[measure.Capacity] = 100e6
	datagrams := result("throughput")
	datagrams.Parameters = map[string]any{"proto": "udp", "reverse": true}
	datagrams.Metrics = map[measure.Metric]float64{measure.SentPackets: 1000, measure.SentRate: 1e6, measure.Jitter: 0.001}
	_, spec := mustTwin(t, ping(rtts...), trains, datagrams)
	l := spec.Links[0]
	if l.Jitter != nil || l.Reverse == nil || l.Reverse.Jitter == nil || l.Forward != nil && l.Forward.Jitter != nil {
		t.Errorf("jitter is not in reverse alone: %v %v %v", l.Jitter, l.Forward, l.Reverse)
	}
	_, spec = mustTwin(t, ping(rtts...))
	if spec.Links[0].Jitter == nil {
		t.Error("without datagrams there is no jitter both ways")
	}
	steady := make([]float64, 100)
	for i := range steady {
		steady[i] = 0.020 + float64(i%10)*1e-6
	}
	if _, spec = mustTwin(t, ping(steady...)); spec.Links[0].Jitter != nil {
		t.Error("9 µs of it make a jitter")
	}
}

func TestHostsAndMTU(t *testing.T) {
	r := transfer(false, 3e6, map[string]float64{"min_rtt_seconds": 0.020, "snd_mss_bytes": 1348, "pmtu_bytes": 1400,
		"advmss_bytes": 1448})
	rmem, scaling := [3]int{4096, 87380, 262144}, 1
	r.Samples.Ends = []measure.TCPEnd{
		{End: measure.Receiver, Direction: measure.Forward,
			Settings: &measure.TCPSettings{RmemBytes: &rmem, WindowScaling: &scaling}}}
	_, spec := mustTwin(t, trace(hop(1, "192.0.2.9", 0.002), hop(2, "198.51.100.1", 0.020)), r)
	want := map[string]lab.Host{"ucl": {}, "cern": {Sysctl: map[string]string{"net.ipv4.tcp_rmem": "4096 87380 262144",
		"net.ipv4.tcp_window_scaling": "1"}}}
	if diff := cmp.Diff(want, spec.Hosts); diff != "" {
		t.Errorf("hosts (-want +got):\n%s", diff)
	}
	if spec.Links[0].MTU != nil || spec.Links[1].MTU == nil || spec.Links[1].MTU.Size != 1400 {
		t.Errorf("MTU %v, %v; want 1400 on the second link alone", spec.Links[0].MTU, spec.Links[1].MTU)
	}
}

// Whatever names Results carry, the file that comes out can be read, and nothing in them gets out of a comment.
func TestHostileNames(t *testing.T) {
	for _, c := range []struct{ source, target, wantSource, wantTarget string }{
		{"ucl.example.org", "cern", "ucl", "cern"},
		{"same", "same.example.org", "source", "target"},
		{"true", "123", "true", "123"},
		{"x\nrouters: {}\n", "- [", "x-routers", "target"},
		{"", "192.0.2.7", "source", "target"},
		{"hop1", "b", "source", "target"},
		{strings.Repeat("a", 64), "localhost", "source", "target"},
	} {
		r := ping(0.02, 0.021)
		r.Source.Name, r.Target.Name, r.ID = c.source, c.target, "id\n#\u2028x: y"
		h := hop(1, "192.0.2.9\nlinks: []", 0.001)
		route := trace(h)
		route.Source.Name, route.Target.Name = c.source, c.target
		twin, _ := mustTwin(t, r, route)
		if twin.Source.Name != c.wantSource || twin.Target.Name != c.wantTarget {
			t.Errorf("%q, %q: hosts %s and %s", c.source, c.target, twin.Source.Name, twin.Target.Name)
		}
	}
}

func TestRefusals(t *testing.T) {
	other := ping(0.02)
	other.Target.Address = "203.0.113.1"
	var bad *notation.Error
	_, err := FromResults([]*measure.Result{ping(0.02), other})
	if !errors.As(err, &bad) || !strings.Contains(err.Error(), "203.0.113.1") {
		t.Errorf("two paths: %v", err)
	}
	failed := ping(0.02)
	failed.Status = measure.StatusFailed
	for name, results := range map[string][]*measure.Result{
		"nothing": nil, "a failed one": {failed}, "nothing came back": {ping(math.NaN(), math.NaN())}, "nil": {nil},
	} {
		if _, err := FromResults(results); !errors.Is(err, ErrNothing) {
			t.Errorf("%s: %v, want ErrNothing", name, err)
		}
	}
}

func TestRead(t *testing.T) {
	one, err := json.Marshal(ping(0.02))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		string(one): 1,
		`{"schema": "pathwise.results/1", "results": [` + string(one) + "," + string(one) + `]}`: 2,
		`{"schema": "pathwise.diagnosis/1", "results": [` + string(one) + `]}`:                   1,
		`{"schema": "pathwise.truth/1"}`:                                                         0,
		`{"results": [{"schema": "x"}]}`:                                                         0,
		`{"results": [null]}`:                                                                    0,
		`[]`:                                                                                     0,
		`hosts: {}`:                                                                              0,
		`{"schema": "pathwise.result/1", "metrics": 3}`:                                          0,
	} {
		results, err := Read("x.json", []byte(text))
		if len(results) != want || (err == nil) != (want > 0) {
			t.Errorf("%.60s: %d results, %v; want %d", text, len(results), err, want)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "x.json: ") {
			t.Errorf("%.60s: %v does not name the file", text, err)
		}
	}
}

// No document crashes the way from text to lab, and every lab that comes out can be read.
func FuzzFromDocument(f *testing.F) {
	for _, r := range []*measure.Result{ping(0.02, 0.03, math.NaN()), trace(hop(1, "", 0.1), hop(2, "198.51.100.1", 0.2)),
		transfer(false, 1e6, map[string]float64{"min_rtt_seconds": 0.02, "rtt_seconds": 0.08, "pmtu_bytes": 1400})} {
		text, err := json.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		results, err := Read("x.json", text)
		if err != nil {
			return
		}
		twin, err := FromResults(results)
		if err != nil {
			return
		}
		if _, err := twin.Spec(); err != nil {
			t.Fatalf("%v in:\n%s", err, twin.YAML())
		}
	})
}

// A twin's text shows what was measured, what was assumed, and by which Result.
func TestYAML(t *testing.T) {
	twin, _ := mustTwin(t, ping(0.040, 0.040),
		trace(hop(1, "192.0.2.9", 0.010), hop(2, ""), hop(3, "198.51.100.1", 0.041)))
	want := `# The twin of the path from ucl.example.org (192.0.2.1) to cern (198.51.100.1), as it was measured by:
#   ping       01J-ping  2026-11-20 10:00:00
#   trace      01J-trace  2026-11-20 10:00:00
# Everything but delay is on the longest link, which is taken for the narrowest.

hosts:
  "ucl": {}
  "cern": {}
routers:
  hop1:                          # 192.0.2.9
  hop2: {silent: true}           # answered no probe
links:
  # delay: half of 10.0 ms, by which the least answer of hop 1 is later than the one before
  - between: ["ucl", "hop1"]
    delay: 5ms
  # delay: assumed, an even part of what lies between the hops that answered
  - between: ["hop1", "hop2"]
    delay: 7.5ms
  # delay: half of what is left of the least round trip (ping 01J-ping, rtt_min_seconds 0.04)
  # jitter: none; 2 round trips are too few to tell (want 20)
  # loss: none of 2 echoes, so less than 100 % with 95 % confidence
  - between: ["hop2", "cern"]
    delay: 7.5ms
`
	if diff := cmp.Diff(want, string(twin.YAML())); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestArguments(t *testing.T) {
	p := ping(0.02)
	p.Parameters["interval_seconds"], p.Parameters["dont_fragment"] = 0.005, true
	udp := result("throughput")
	udp.Parameters = map[string]any{"proto": "udp", "rate_bits_per_second": 4.9e6, "duration_seconds": 4.0,
		"length_bytes": 1400.0, "parallel": 1.0}
	for _, c := range []struct {
		r    *measure.Result
		want string
	}{
		{p, "ping b --json --count 1 --interval 5ms --size 56 --df --poisson"},
		{transfer(true, 1e6), "throughput b --json --time 5s --reverse --cc reno"},
		{udp, "throughput b --json --time 4s --len 1400B --rate 4900000bit --parallel 1 --proto udp"},
		{trace(), "trace b --json"},
	} {
		if got := strings.Join(arguments(c.r, "b"), " "); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.r.Kind, got, c.want)
		}
	}
}

// Rows are OK within what is allowed, and not beyond it.
func TestCompare(t *testing.T) {
	n := 1000
	rtts, later := make([]float64, n), make([]float64, n)
	for i := range rtts {
		rtts[i] = 0.040 + float64(i%100)*1e-6
		later[i] = rtts[i] + 0.003
		if i%100 == 0 {
			rtts[i], later[i] = math.NaN(), math.NaN()
		}
		if i%20 == 0 {
			later[i] = math.NaN()
		}
	}
	verdicts := func(a, b *measure.Result) map[string]bool {
		got := map[string]bool{}
		for _, row := range compare(a, b, 0) {
			got[row.Metric] = row.OK
		}
		return got
	}
	metrics := func(ok bool) map[string]bool {
		return map[string]bool{"rtt_min_seconds": ok, "rtt_median_seconds": ok, "rtt_p95_seconds": ok, "loss_ratio": ok}
	}
	if diff := cmp.Diff(metrics(true), verdicts(ping(rtts...), ping(rtts...))); diff != "" {
		t.Errorf("the same (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(metrics(false), verdicts(ping(rtts...), ping(later...))); diff != "" {
		t.Errorf("3 ms later, five times the loss (-want +got):\n%s", diff)
	}
	for rate, ok := range map[float64]bool{91e6: true, 109e6: true, 89e6: false, 111e6: false} {
		if got := verdicts(transfer(false, 100e6), transfer(false, rate)); got["throughput_bits_per_second"] != ok {
			t.Errorf("%v of 100 Mbit/s: ok is %v", rate, !ok)
		}
	}
}
