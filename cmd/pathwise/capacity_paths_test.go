package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// capacityPath is a path in a lab whose capacity, and what others leave of it, are known: rates in Mbit/s.
type capacityPath struct {
	rate    float64
	access  string // of the link before it; "": it is the first
	queue   int    // packets; 0: as labs have it
	load    float64
	kind    string // of others' traffic
	mixed   bool   // in sizes
	shape   float64
	police  float64
	burst   int // bytes
	seed    int
	reverse bool
}

func (p capacityPath) String() string {
	text := fmt.Sprintf("seed %d: %.1f Mbit/s, access %q, queue %d", p.seed, p.rate, p.access, p.queue)
	if p.load > 0 {
		text += fmt.Sprintf(", %.0f %% %s, mixed %v", 100*p.load, p.kind, p.mixed)
	}
	if p.burst > 0 {
		text += fmt.Sprintf(", shape %.1f, police %.1f, burst %d", p.shape, p.police, p.burst)
	}
	return text
}

// passes is what passes for long, in Mbit/s of IP: packets have 1480 bytes.
func (p capacityPath) passes() float64 {
	long := p.rate * 1480 / 1518
	if p.burst > 0 {
		long = min(long, max(p.shape, p.police))
	}
	return long
}

func (p capacityPath) spec() string {
	narrow := fmt.Sprintf("rate: %.3fmbit, delay: 3ms", p.rate)
	if p.queue > 0 {
		narrow += fmt.Sprintf(", queue: %dp", p.queue)
	}
	if p.shape > 0 {
		narrow += fmt.Sprintf(", shaper: {rate: %.3fmbit, burst: %dB}", p.shape, p.burst)
	}
	if p.police > 0 {
		narrow += fmt.Sprintf(", police: {rate: %.3fmbit, burst: %dB}", p.police, p.burst)
	}
	access := ""
	if p.access != "" {
		access = ", rate: " + p.access
	}
	from, to := "bob", "carol"
	if p.reverse {
		from, to = to, from
	}
	text := fmt.Sprintf("seed: %d\nhosts: {bob: {}, carol: {}}\nrouters: [near, far]\nlinks:\n  - {between: [%s, near]%s}\n"+
		"  - {between: [near, far], forward: {%s}, reverse: {rate: 1gbit, delay: 3ms}}\n  - {between: [far, %s], rate: 1gbit}\n", p.seed, from, access, narrow, to)
	if p.load > 0 {
		sizes := ""
		if p.mixed {
			sizes = ", sizes: {84B: 34%, 576B: 33%, 1500B: 33%}"
		}
		text += fmt.Sprintf("traffic:\n  - {from: near, to: far, kind: %s, rate: %.3fmbit%s}\n", p.kind, p.load*p.passes(), sizes)
	}
	return text
}

// drawnPath is a path whose rate, queue, traffic and bucket are drawn.
func drawnPath(seed int) capacityPath {
	r := rand.New(rand.NewPCG(uint64(seed), 11))
	pick := func(v ...float64) float64 { return v[r.IntN(len(v))] }
	p := capacityPath{seed: seed, rate: 3 * math.Pow(100./3, r.Float64()), access: []string{"", "1gbit", "1gbit"}[r.IntN(3)],
		load: pick(0, .3, .6, .6*r.Float64()), queue: int(5 * math.Pow(100, r.Float64())), kind: []string{"poisson", "poisson", "constant"}[r.IntN(3)], mixed: r.IntN(2) == 0,
		reverse: r.IntN(4) == 0}
	if p.kind == "constant" {
		p.mixed = false
	}
	if r.IntN(3) == 0 {
		p.burst = int(6e3 * math.Pow(25, r.Float64()))
		if rate := p.rate * (0.1 + 0.6*r.Float64()); r.IntN(2) == 0 {
			p.shape = rate
		} else {
			p.police = rate
		}
	}
	return p
}

// capacityScore is how many answers were certain, and of those right.
type capacityScore struct{ all, certain, right int }

func (s *capacityScore) add(e measure.RateEstimate, want, within float64) string {
	s.all++
	verdict := fmt.Sprintf("%.3f of %.2f Mbit/s", e.BitsPerSecond/want, want/1e6)
	if !e.Certain {
		return verdict + " uncertain: " + e.Doubt
	}
	s.certain++
	if math.Abs(e.BitsPerSecond/want-1) > within {
		return verdict + " WRONG"
	}
	s.right++
	return verdict
}

func (s capacityScore) String() string {
	return fmt.Sprintf("%d of %d certain, of these %d right", s.certain, s.all, s.right)
}

// capacityScores are those of a number of paths.
type capacityScores struct{ capacity, free, bucket capacityScore }

// play plays a path in a test of its own, at the end of which its lab ends.
func (s *capacityScores) play(t *testing.T, p capacityPath) {
	t.Run(fmt.Sprint(p.rate, " ", p.load, " ", p.seed), func(t *testing.T) { s.judge(t, p) })
}

// judge plays a path and holds what capacity says of it against what the lab did: what others sent while it measured, too.
func (s *capacityScores) judge(t *testing.T, p capacityPath) {
	t.Helper()
	spec, err := lab.ParseSpec("capacity", []byte(p.spec()))
	if err != nil {
		t.Fatalf("%v\n%s", err, p.spec())
	}
	l := startLab(t, spec)
	startResponder(t, l, "carol")
	before, err := l.Truth()
	if err != nil {
		t.Fatal(err)
	}
	r := capacityIn(t, l, p.reverse)
	truth, err := l.TruthOf(lab.Window{From: before.Seconds})
	if err != nil {
		t.Fatal(err)
	}
	link := p.rate * 1e6 * 1480 / 1518
	bytes, packets := others(truth, before.Seconds)
	free := (p.rate*1e6 - bytes*8 - packets*38*8) * 1480 / 1518
	if p.burst > 0 {
		free = min(free, p.passes()*1e6-bytes*8)
	}
	c := r.Samples.Capacity
	if c == nil {
		t.Errorf("%v: %v", p, *r.Error)
		return
	}
	text := fmt.Sprintf("%v: %.1f s; capacity %s; free %s", p, r.DurationSeconds, s.capacity.add(c.Capacity, link, .05), s.free.add(*c.Available, free, .15))
	switch {
	case p.burst > 0 && c.Bucket != nil:
		text += fmt.Sprintf("; bucket %s, %.2f of its bytes, drops %v", s.bucket.add(c.Bucket.Rate, p.passes()*1e6, .05), c.Bucket.Bytes/float64(p.burst), c.Bucket.Drops)
	case p.burst > 0:
		text += "; no bucket"
		s.bucket.all++
	case c.Bucket != nil:
		text += fmt.Sprintf("; a BUCKET that is not there: %+v", *c.Bucket)
	}
	if truth.Emulator.Bottleneck {
		text += "; the emulator was the bottleneck: " + truth.Emulator.Why
	}
	t.Log("CAPACITY " + text)
}

// others is what the traffic of others had a second, since a time.
func others(truth *lab.Truth, since float64) (bytes, packets float64) {
	for _, f := range truth.Flows {
		if f.Protocol == "udp" && f.SourcePort == trafficPort {
			bytes, packets = bytes+float64(f.Bytes)/(truth.Seconds-since), packets+float64(f.Packets)/(truth.Seconds-since)
		}
	}
	return bytes, packets
}

// trafficPort is that of the first entry of a lab's traffic.
const trafficPort = 40000

// capacityIn runs `pathwise capacity carol` on bob.
func capacityIn(t *testing.T, l *lab.Lab, reverse bool) *measure.Result {
	t.Helper()
	args := []string{"capacity", "carol", "--json"}
	if reverse {
		args = append(args, "-R")
	}
	return resultIn(t, l, args...)
}

// resultIn is the Result that a call of pathwise on bob prints.
func resultIn(t *testing.T, l *lab.Lab, args ...string) *measure.Result {
	t.Helper()
	out, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p, err := l.Start(t.Context(), "bob", selfCommand(writer, nil, args...))
	writer.Close()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	var r measure.Result
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return &r
}

// What capacity calls certain is right, over the lab's truth. PATHWISE_CAPACITY says how many drawn paths are played; "matrix" plays 10, 50 and 100 Mbit/s
// with three loads and ten seeds each.
func TestCapacityPaths(t *testing.T) {
	t.Parallel()
	carrying(t)
	var s capacityScores
	asked := os.Getenv("PATHWISE_CAPACITY")
	from, count, _ := strings.Cut(asked, "+") // 40+20 are the paths 40 to 59
	first, _ := strconv.Atoi(from)
	number, _ := strconv.Atoi(count)
	switch {
	case strings.HasPrefix(asked, "hops"):
		t.Skip("PATHWISE_CAPACITY asks for hops")
	case asked == "matrix":
		matrix(t, &s)
	case count != "":
		for seed := range number {
			s.play(t, drawnPath(first+seed))
		}
	case first > 0:
		for seed := range first {
			s.play(t, drawnPath(seed))
		}
	default:
		s.play(t, capacityPath{rate: 50, access: "1gbit", load: .3, kind: "poisson", seed: 1})
		s.play(t, capacityPath{rate: 20, access: "1gbit", queue: 6, seed: 2, reverse: true})
	}
	t.Logf("CAPACITY in all: capacity %v; free %v; rate of buckets %v", s.capacity, s.free, s.bucket)
	for what, one := range map[string]capacityScore{"capacity": s.capacity, "free": s.free} {
		wrong := one.certain - one.right
		if asked == "" && what == "free" { // what two paths leave free says little of twenty, and a busy machine takes some of it
			wrong--
		}
		if float64(wrong) > 0.05*float64(one.certain) || float64(one.certain) < 0.75*float64(one.all) {
			t.Errorf("%s: %v", what, one)
		}
	}
}

// matrix plays each rate and load with ten seeds, of which nine are to be right, and the rest uncertain.
func matrix(t *testing.T, all *capacityScores) {
	for _, rate := range []float64{10, 50, 100} {
		for _, load := range []float64{0, .3, .6} {
			var s capacityScores
			for seed := range 10 {
				s.play(t, capacityPath{rate: rate, access: "1gbit", load: load, kind: "poisson", seed: seed})
			}
			t.Logf("CAPACITY %.0f Mbit/s, others %.0f %%: capacity %v; free %v", rate, 100*load, s.capacity, s.free)
			for what, one := range map[string]capacityScore{"capacity": s.capacity, "free": s.free} {
				if one.right < 9 || one.right < one.certain {
					t.Errorf("%.0f Mbit/s, others %.0f %%: %s: %v", rate, 100*load, what, one)
				}
			}
			for _, sum := range []struct{ all, one *capacityScore }{{&all.capacity, &s.capacity}, {&all.free, &s.free}} {
				sum.all.all, sum.all.certain, sum.all.right = sum.all.all+sum.one.all, sum.all.certain+sum.one.certain, sum.all.right+sum.one.right
			}
		}
	}
}
