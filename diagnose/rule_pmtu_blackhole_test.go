package diagnose

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// hole is a path on which packets above a size vanish, in one direction or both, and what a survey of it measures.
type hole struct {
	above            int // bytes; packets of more than this vanish
	forward, reverse bool
	told             bool   // a router says so
	deaf             bool   // nobody answers pings
	address          string // of the target
	capacity         float64
	reflects         bool // a STAMP reflector answers at the target
}

// measure makes the Result of a step.
func (h hole) measure(s Step) *measure.Result {
	r := measure.NewResult(s.Kind, time.Time{})
	r.Source.Name, r.Source.Address, r.Target.Name, r.Target.Address = "bob", holeSource, "carol", h.address
	back := s.Parameters["reverse"] == true
	r.Parameters["reverse"] = back
	gone := h.forward && !back || h.reverse && back
	switch s.Kind {
	case "ping":
		h.ping(r, s)
	case "mtu":
		if h.reflects {
			h.sizes(r)
		}
	case "capacity":
		length, set := s.Parameters["length"].(int)
		if !set {
			length = mostTrainLength
		}
		if length > mostTrainLength {
			panic("the probe takes no such length")
		}
		if gone && (length+8+int(ipHeader(h.address)) > h.above) {
			r.Fail(errors.New("too few packets of the trains arrived"))
		} else {
			r.Metrics[measure.Capacity] = h.capacity
		}
	case "throughput":
		h.transfer(r, back, gone)
	}
	return r
}

func (h hole) ping(r *measure.Result, s Step) {
	size, _ := s.Parameters["size"].(int)
	if size == 0 {
		size = 56
	}
	whole := s.Parameters["df"] == true
	r.Parameters["size"], r.Parameters["df"] = size, whole
	r.Metrics[measure.SentPackets] = 5
	echo := measure.Echo{Seq: 1}
	switch large := size+8+int(ipHeader(h.address)) > h.above; {
	case h.deaf:
	case large && h.told:
		echo.Error = "fragmentation needed"
	case large:
	default:
		r.Metrics[measure.ReceivedPackets], r.Metrics[measure.RTTMin] = 5, 0.04
	}
	r.Samples.Echoes = []measure.Echo{echo}
}

// sizes are what the tool mtu finds: on the way there large packets pass the first hop of three.
func (h hole) sizes(r *measure.Result) {
	there, back := 1500, 1500
	if h.forward {
		there = h.above
		r.Samples.Hops = []measure.Hop{{TTL: 1, Addresses: []string{"10.1.1.1"}, Reply: "no answer"}}
	}
	if h.reverse {
		back = h.above
	}
	r.Metrics[measure.PathMTU], r.Metrics[measure.ReversePathMTU] = float64(there), float64(min(there, back))
}

func (h hole) transfer(r *measure.Result, back, gone bool) {
	r.Parameters["duration"] = 8.0
	direction, end := measure.Forward, measure.Sender
	mss := 1500 - 32 - ipHeader(h.address)
	values := map[string]float64{"snd_mss_bytes": mss, "min_rtt_seconds": 0.04, "bytes_acked": 38, "data_segs_out": 15, "total_retrans_packets": 5}
	if back {
		direction, end = measure.Reverse, measure.Receiver
		r.Metrics[measure.Throughput] = 0
	}
	if !gone {
		r.Metrics[measure.Throughput], values["bytes_acked"] = 45e6, 45e6
	}
	r.Samples.TCPInfo = []measure.TCPSample{{End: end, Direction: direction, Stream: 1, ElapsedSeconds: 8, Values: values}}
	r.Samples.Ends = []measure.TCPEnd{{End: end, Direction: direction, Stream: 1, MSSBytes: int(mss)}}
	if gone {
		r.Fail(errors.New("the peer went away during the test"))
	}
}

// survey goes through the plan, as it grows, and returns the Results and the names of the steps.
func (h hole) survey(t *testing.T) (results []*measure.Result, steps []string) {
	t.Helper()
	results, _, err := Executor{Make: func(_ context.Context, s Step) (*measure.Result, error) {
		if steps = append(steps, s.Name); len(steps) > 40 {
			t.Fatalf("no end of steps: %v", steps)
		}
		return h.measure(s), nil
	}}.Execute(t.Context(), Plan(8*time.Second, measure.Forward, measure.Reverse))
	if err != nil {
		t.Fatal(err)
	}
	return results, steps
}

// Whatever the size above which packets vanish, and the way, it is found, and what is said of it fits.
func TestBlackHole(t *testing.T) {
	for _, h := range reflecting([]hole{
		{above: 1300, forward: true}, {above: 1300, reverse: true}, {above: 1300, forward: true, reverse: true},
		{above: 1499, forward: true}, {above: 1492, forward: true}, {above: 1400, forward: true}, {above: 600, forward: true, reverse: true}, {above: 90, forward: true},
		{above: 1476, forward: true, address: "10.0.0.2"}, {above: 1476, reverse: true, address: "10.0.0.2"}, {above: 1280, forward: true, address: "fd00::2"},
	}) {
		h.capacity = 48e6
		t.Run(fmt.Sprintf("%+v", h), func(t *testing.T) {
			results, steps := h.survey(t)
			d := Diagnose(results)
			checkFindings(t, d)
			f := d.First()
			if d.Verdict != "pmtu-blackhole" || !Measured(results) || !IsStuck(results) {
				t.Fatalf("verdict %s after %v", d.Verdict, steps)
			}
			ways := map[measure.Way]bool{}
			for _, f := range d.Findings {
				ways[f.Way] = ways[f.Way] || f.ID == "pmtu-blackhole"
			}
			if ways[measure.Forward] != h.forward || ways[measure.Reverse] != h.reverse {
				t.Errorf("ways %v", ways)
			}
			passes := f.Evidence[0].Value
			if passes > float64(h.above) || passes < float64(h.above)-nearEnough {
				t.Errorf("packets of %v bytes pass, of %d in truth", passes, h.above)
			}
			header := ipHeader(h.address)
			clamp, lock := fmt.Sprintf("--set-mss %.0f", passes-header-20), fmt.Sprintf("mtu lock %.0f", passes)
			if last := f.Advice[len(f.Advice)-2].Command; !strings.Contains(last, clamp) {
				t.Errorf("advice %q, want %s", last, clamp)
			}
			if to := " " + receiver(f, h.address) + " "; h.address != "" && (!strings.Contains(f.Advice[0].Command, to) || !strings.Contains(f.Advice[0].Command, lock)) {
				t.Errorf("advice %q, want %s to%s", f.Advice[0].Command, lock, to)
			}
			want := 48e6 * (passes - header - 32) / passes
			if p := f.Predicted; p == nil || math.Abs(p.BitsPerSecond-want)/want > 0.05 {
				t.Errorf("predicted %+v, want about %v", p, want)
			}
			most := 21
			if h.reflects {
				most = 13
			}
			if len(steps) > most {
				t.Errorf("%d steps: %v", len(steps), steps)
			}
			if named := strings.Contains(f.Explanation, "They vanish behind hop 1 (10.1.1.1)."); named != (h.reflects && h.forward) {
				t.Errorf("the hop is not as it is known: %s", f.Explanation)
			}
		})
	}
}

// reflecting are paths with a reflector of STAMP at the target, and the same without.
func reflecting(all []hole) (both []hole) {
	for _, h := range all {
		both = append(both, h)
		h.reflects = true
		both = append(both, h)
	}
	return both
}

// Where large packets vanish is said as well as the hops tell it.
func TestHoleAt(t *testing.T) {
	answers, silent := measure.Hop{TTL: 2, Addresses: []string{"10.0.1.2"}}, measure.Hop{TTL: 3}
	for want, hops := range map[string][]measure.Hop{
		"":                                    nil,
		"at an unknown hop, for none answers": {{TTL: 1}, {TTL: 2}},
		"on the link that bob is on":          {{TTL: 0, Addresses: []string{"10.0.0.1"}}},
		"behind hop 2 (10.0.1.2)":             {{TTL: 1}, answers},
		"behind hop 2 (10.0.1.2), or beyond, where hops answer nothing": {answers, silent},
	} {
		if got := holeAt(&Subject{Sender: "bob", hole: hops}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// receiver is the address of who receives what a finding is about, target that of the target.
func receiver(f *measure.Finding, target string) string {
	if f.Way == measure.Forward {
		return target
	}
	return holeSource
}

// holeSource is the address of who asks in a hole's Results.
const holeSource = "10.9.9.9"

// Where nothing vanishes in silence, no black hole is claimed.
func TestNoBlackHole(t *testing.T) {
	for name, h := range map[string]hole{
		"nothing moves, all sizes answered": {above: 9000, forward: true},
		"a router says so":                  {above: 1300, forward: true, told: true},
		"nobody answers pings":              {above: 1300, forward: true, deaf: true},
	} {
		results, steps := h.survey(t)
		d := Diagnose(results)
		checkFindings(t, d)
		if d.Verdict != "unexplained" || d.First().Way != measure.Forward {
			t.Errorf("%s: %s after %v", name, d.Verdict, steps)
		}
	}
	h := hole{above: 9000, capacity: 48e6} // of no Ethernet, so that small packets are tried, too
	results, steps := h.survey(t)
	if d := Diagnose(results); d.Verdict != Healthy || len(steps) != 7 || IsStuck(results) {
		t.Errorf("a sound path: %s after %v", d.Verdict, steps)
	}
}

// A transfer that was cut short at once is none on which nothing moved.
func TestCutShort(t *testing.T) {
	h := hole{above: 1300, forward: true}
	r := h.measure(Step{Kind: "throughput"})
	r.Samples.TCPInfo[0].ElapsedSeconds = 0.3
	if results := []*measure.Result{r}; Measured(results) || IsStuck(results) {
		t.Error("0.3 s of silence mean something")
	}
}

// A diagnosis without a transfer says what answered, and what did not.
func TestNoTransfer(t *testing.T) {
	for name, c := range map[string]struct {
		deaf bool
		fail string
		want string
	}{
		"nothing listens": {false, "connection refused: is a responder running there?", "it answers pings"},
		"host down":       {true, "no answer", "no pings either"},
	} {
		h := hole{above: 9000, deaf: c.deaf}
		capacity := measure.NewResult("capacity", time.Time{})
		capacity.Target.Name = "carol"
		capacity.Fail(errors.New(c.fail))
		results := []*measure.Result{h.measure(Step{Kind: "ping"}), capacity}
		d := Diagnose(results)
		checkFindings(t, d)
		if d.Verdict != Unknown || len(d.Findings) != 1 || d.Findings[0].ID != "no-transfer" || Measured(results) ||
			!strings.Contains(d.Findings[0].Explanation, c.fail) || !strings.Contains(d.Findings[0].Explanation, c.want) {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if d := Diagnose(nil); d.Verdict != Unknown || len(d.Findings) != 0 {
		t.Errorf("of nothing: %+v", d)
	}
}

// What a real path showed whose black hole is in both directions, where the control connection of every test suffers as well:
// each direction has a prediction, since trains of packets that pass told the capacity.
func TestBlackHoleBothWays(t *testing.T) {
	d := Diagnose(readRecording(t, "testdata/faults/pmtu-blackhole.json.gz").Results)
	predicted := map[measure.Way]bool{}
	for _, f := range d.Findings {
		if p := f.Predicted; f.ID == "pmtu-blackhole" && p != nil {
			predicted[f.Way] = math.Abs(p.BitsPerSecond/45e6-1) < 0.05 // 50 Mbit/s, by packets of 1,300 bytes, in 4 s
		}
	}
	if !predicted[measure.Forward] || !predicted[measure.Reverse] {
		t.Errorf("predicted %v of %s", predicted, d.Verdict)
	}
}

// A ping that was broken off before it sent anything takes nothing back of what earlier ones told.
func TestPingOfNothing(t *testing.T) {
	answered, nothing := measure.NewResult("ping", testStart), measure.NewResult("ping", testStart.Add(time.Second))
	answered.Metrics[measure.SentPackets], answered.Metrics[measure.ReceivedPackets] = 20, 19
	nothing.Fail(errors.New("broken off"))
	forward := gather([]*measure.Result{answered, nothing}).ways[measure.Forward]
	if forward.Value(Pings) != 20 || forward.Value(Answers) != 19 {
		t.Errorf("%v of %v answered, want 19 of 20", forward.Value(Answers), forward.Value(Pings))
	}
}

// On real paths with a reflector the size is known to the byte, and the hop behind which larger packets vanish is named.
func TestHoleRecorded(t *testing.T) {
	for fault, size := range map[string]float64{"pmtu-blackhole": 1300, "jumbo-mismatch": 1500} {
		f := Diagnose(readRecording(t, "testdata/faults/"+fault+".json.gz").Results).First()
		if f == nil || !strings.Contains(f.Explanation, "They vanish behind hop 1 (10.0.0.2).") || f.Evidence[0].Value != size || f.Evidence[2].Metric != "hop" || f.Evidence[2].Value != 1 {
			t.Errorf("%s: %+v", fault, f)
		}
	}
}

// Echoes of a size that get no answer are no black hole where packets of that size come through otherwise.
func TestOnlyEchoesVanish(t *testing.T) {
	for passes, want := range map[float64]bool{1400: true, 1500: false} {
		echoes, sizes := measure.NewResult("ping", testStart), measure.NewResult("mtu", testStart.Add(time.Second))
		echoes.Parameters["df"], echoes.Parameters["size"] = true, 1472
		echoes.Metrics[measure.SentPackets] = 5
		sizes.Metrics[measure.PathMTU], sizes.Metrics[measure.ReversePathMTU] = passes, passes
		s := gather([]*measure.Result{echoes, sizes}).ways[measure.Forward]
		if s.Known(SilentSize) != want || s.Value(PassingSize) != passes {
			t.Errorf("%v bytes pass: silent %v, passing %v", passes, s.Value(SilentSize), s.Value(PassingSize))
		}
	}
}
