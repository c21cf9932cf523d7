package twin

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab"
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
	r.Parameters = map[string]any{"count": len(rtts), "interval": 0.1, "size": 56, "poisson": true}
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

// echoes makes a Result of so many echoes, the losses among them far apart.
func echoes(c tally) *measure.Result {
	rtts := make([]float64, c.sent)
	for i := range rtts {
		rtts[i] = 0.034
		if c.lost > 0 && i%(c.sent/c.lost) == 0 {
			rtts[i] = math.NaN()
		}
	}
	return ping(rtts...)
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
	r.Parameters = map[string]any{"proto": "tcp", "reverse": reverse, "duration": 5.0, "cc": "reno"}
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
	var bad *document.Error
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
