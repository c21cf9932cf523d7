package probe

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// The mean of drawn intervals is the interval, geometric ones are whole slots, and bursts leave together.
func TestPingSchedules(t *testing.T) {
	const n, interval = 20_000, 100 * time.Millisecond
	for schedule, spread := range map[string]float64{"": 0, schedulePeriodic: 0, schedulePoisson: 1, scheduleGeometric: math.Sqrt(1 - 1./geometricSlots)} {
		gap := Ping{Interval: interval, Schedule: schedule, Rand: rand.New(rand.NewPCG(1, 2))}.gaps()
		sum, squares, whole := 0., 0., true
		for range n {
			g := gap()
			whole = whole && g%(interval/geometricSlots) == 0 && g >= interval/geometricSlots
			sum, squares = sum+float64(g)/float64(interval), squares+math.Pow(float64(g)/float64(interval)-1, 2)
		}
		if mean, deviation := sum/n, math.Sqrt(squares/n); math.Abs(mean-1) > 0.03*spread || math.Abs(deviation-spread) > 0.03*spread {
			t.Errorf("%q: a mean of %v intervals, a deviation of %v, want 1, %v", schedule, mean, deviation, spread)
		}
		if whole != (schedule != schedulePoisson) {
			t.Errorf("%q: whole slots %v", schedule, whole)
		}
	}
	gap, size := Ping{Interval: interval, Burst: true}.gaps(), Ping{Size: 1400, Burst: true}.sizesOf()
	var gaps []time.Duration
	var sizes []int
	for i := range 12 {
		gaps, sizes = append(gaps, gap()), append(sizes, size(i))
	}
	want := make([]time.Duration, 12)
	want[9] = interval
	if !slices.Equal(gaps, want) || !slices.Equal(sizes, []int{1400, 1400, 1400, 1400, 1400, 12, 12, 12, 12, 12, 1400, 1400}) {
		t.Errorf("bursts: gaps %v, sizes %v", gaps, sizes)
	}
}

// A sweep has each size once in a round, in an order that changes.
func TestPingSizePlan(t *testing.T) {
	want := []int{64, 220, 376, 533, 689, 846, 1002, 1159, 1315, 1472}
	if got := sizePlan("64..1472"); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := sizePlan("20..22"); !slices.Equal(got, []int{20, 21, 22}) {
		t.Errorf("%v", got)
	}
	of := Ping{Sizes: "64..1472", Rand: rand.New(rand.NewPCG(1, 2))}.sizesOf()
	orders := map[string]bool{}
	for round := range 5 {
		var sizes []int
		for i := range want {
			sizes = append(sizes, of(10*round+i))
		}
		orders[fmt.Sprint(sizes)] = true
		slices.Sort(sizes)
		if !slices.Equal(sizes, want) {
			t.Errorf("round %d: %v", round, sizes)
		}
	}
	if len(orders) < 4 {
		t.Errorf("%d orders in five rounds", len(orders))
	}
}

func TestPingPlanRefuses(t *testing.T) {
	for want, p := range map[string]Ping{
		"sizes":    {Sizes: "64"},
		"64..63":   {Sizes: "64..63"},
		"1..100":   {Sizes: "1..100"},
		"size":     {Sizes: "64..100", Size: 100},
		"icmp":     {Sizes: "64..100", Proto: protoUDP},
		"one of":   {Flood: true, Burst: true},
		"interval": {Flood: true, Interval: time.Second},
		"schedule": {Flood: true, Schedule: scheduleGeometric},
		"poisson":  {Poisson: true, Schedule: schedulePeriodic},
		"flood":    {Flood: true, Proto: protoTCP},
		"window":   {Window: "8", Burst: true},
	} {
		p.Target = "a"
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for _, p := range []Ping{{Poisson: true, Schedule: schedulePoisson}, {Burst: true, Size: 1000}, {Sizes: "12..65507"}, {Flood: true, Proto: protoSTAMP}} {
		p.Target = "a"
		if err := p.Validate(); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if err := (Ping{Flood: true}).permitFlood(); (err == nil) != (os.Geteuid() == 0) {
		t.Errorf("a flood of nobody's: %v", err)
	}
	if err := (Ping{Flood: true, MayFlood: true}).permitFlood(); err != nil {
		t.Error(err)
	}
}

// sweep are echoes of sizes by which a path takes longer, in rounds: large ones wait by so much now and then, and so many of them are lost.
func sweep(rounds int, slope, wait float64, loses int) (echoes []measure.Echo) {
	random := rand.New(rand.NewPCG(3, 4))
	for i := range rounds {
		for _, size := range sizePlan("64..1472") {
			e := measure.Echo{Size: size}
			rtt := 0.005 + slope*float64(size) + 20e-6*random.Float64()
			if size > 800 && i > 0 { // in the first round the queue is empty
				rtt += wait * random.Float64()
			}
			if e.RTTSeconds = &rtt; size > 800 && loses > 0 && i%loses == 0 && i > 0 {
				e.RTTSeconds = nil
			}
			echoes = append(echoes, e)
		}
	}
	return echoes
}

// What sizes tell: the slope of the least round trips as a rate, and who is served first.
func TestPingSizes(t *testing.T) {
	const slope = 16 / 10e6 // of 10 Mbit/s each way
	for name, c := range map[string]struct {
		echoes []measure.Echo
		rate   float64 // 0: none is known
		text   []string
	}{
		"alike":              {sweep(20, slope, 0, 0), 10e6, []string{"no size is served before another"}},
		"small first":        {sweep(20, slope, 0.004, 0), 10e6, []string{"small packets are served first: large ones wait"}},
		"large are lost":     {sweep(40, slope, 0, 3), 10e6, []string{"large packets are lost more: 0.00 % of the small ones"}},
		"no difference":      {sweep(20, 0, 0, 0), 0, []string{"no size is served before another"}},
		"one round, no more": {sweep(1, slope, 0, 0), 10e6, []string{"no size is served before another"}},
	} {
		sizes := reduceSizes(c.echoes)
		rate, known := serialization(sizes)
		text := sizePriority(c.echoes, sizes)
		if known != (c.rate > 0) || math.Abs(rate-c.rate) > 0.03*c.rate {
			t.Errorf("%s: %v bit/s, known %v", name, rate, known)
		}
		for _, want := range c.text {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q, want %q", name, text, want)
			}
		}
	}
	rtt := 0.01
	got := reduceSizes([]measure.Echo{{Size: 100}, {Size: 50, RTTSeconds: &rtt}, {Size: 100}})
	want := []measure.SizeSample{{Bytes: 50, Sent: 1, RTTMinSeconds: &rtt, RTTMedianSeconds: &rtt}, {Bytes: 100, Sent: 2, Lost: 2}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Sweeps, bursts and floods reach a target, and have what they promise.
func TestPingPlansLoopback(t *testing.T) {
	needEcho(t, false)
	for name, p := range map[string]Ping{
		"sizes": {Sizes: "64..1000", Count: 20, Interval: time.Millisecond},
		"burst": {Burst: true, Count: 20, Interval: 5 * time.Millisecond},
		"flood": {Flood: true, Count: 50, MayFlood: true},
	} {
		p.Target, p.Timeout = "127.0.0.1", time.Second
		r, err := p.Do(t.Context())
		if received, _ := r.Get(measure.ReceivedPackets); err != nil || int(received) != p.Count {
			t.Errorf("%s: %v received, %v", name, received, err)
		}
		_, extent := r.Get(measure.ReorderingExtent)
		if (len(r.Samples.Sizes) == 10) != (name == "sizes") || extent != (name == "burst") || (r.Samples.Echoes[0].Size > 0) != (name != "flood") {
			t.Errorf("%s: sizes %+v, extent %v, first %+v", name, r.Samples.Sizes, extent, r.Samples.Echoes[0])
		}
		if took := r.Samples.Echoes[len(r.Samples.Echoes)-1].SentSeconds; name == "flood" && took > 0.25 {
			t.Errorf("a flood of 50 took %v s over loopback", took)
		}
	}
}
