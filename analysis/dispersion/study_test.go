package dispersion

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

const size = 1480 // bytes of a packet

// studied is what a Study finds of a path.
func studied(p *path, goal Goal) Findings {
	s := &Study{Goal: goal, Size: size}
	for steps := s.Next(); len(steps) > 0; steps = s.Next() {
		s.Add(p.send(steps, size))
	}
	return s.Findings()
}

// truths are the capacity of the narrowest link for the packets of a Study, and what others leave of it, whose packets have framing as well, or of a
// bucket on it.
func truths(p *path) (capacity, free float64) {
	mean := 1500.0
	if len(p.sizes) > 0 {
		mean = 0
		for _, s := range p.sizes {
			mean += float64(s) / float64(len(p.sizes))
		}
	}
	others := p.load * p.passes()
	free = (p.rate - others*(mean+framing)/mean) * size / (size + framing)
	if p.burst > 0 {
		free = min(free, p.passes()-others)
	}
	return p.rate * size / (size + framing), free
}

// Capacity and what is free, beside other traffic and behind access links of any speed, a receiver being late by 15 µs on average and by up to 1 ms now and
// then.
func TestStudies(t *testing.T) {
	for _, rate := range []float64{10e6, 50e6, 100e6} {
		for _, load := range []float64{0, .3, .6} {
			for _, access := range []float64{0, 1e9, 2 * rate} {
				const seeds = 2
				wrong, uncertain, text := 0, 0, ""
				for seed := range uint64(seeds) {
					p := &path{access: access, rate: rate, load: load, late: 15e-6, queue: int(max(64, rate*.1/12000)), random: rand.New(rand.NewPCG(seed, 1))}
					f := studied(p, Goal{Free: true})
					capacity, free := truths(p)
					switch {
					case !f.Capacity.Certain() || !f.Free.Certain():
						uncertain++
					case off(f.Capacity.BitsPerSecond, capacity) > .05 || off(f.Free.BitsPerSecond, free) > .15:
						wrong++
					}
					text += fmt.Sprintf(" %.3f/%.3f %s%s", f.Capacity.BitsPerSecond/capacity, f.Free.BitsPerSecond/free, f.Capacity.Doubt, f.Free.Doubt)
				}
				if wrong > 0 || uncertain > 1 {
					t.Errorf("%v Mbit/s, others %v, access %v Mbit/s: %d wrong, %d uncertain: %s", rate/1e6, load, access/1e6, wrong, uncertain, text)
				}
			}
		}
	}
}

// Slow links with short queues, beside others that take three fifths of them in packets of all sizes: few packets of others pass in a second, and what streams lose of them
// nobody counts. What is called certain is right, and most is.
func TestSlowAndShort(t *testing.T) {
	for _, c := range []struct {
		rate  float64
		queue int
	}{{6.3e6, 27}, {5e6, 15}, {5e6, 35}, {6.3e6, 50}} {
		var s score
		for seed := range uint64(20) {
			p := &path{access: 1e9, rate: c.rate, load: .6, late: 15e-6, queue: c.queue, sizes: []int{84, 576, 1500}, random: rand.New(rand.NewPCG(seed, 21))}
			_, free := truths(p)
			s.add(studied(p, Goal{Free: true}).Free, free, .15)
		}
		if s.certain < 13 || s.right < s.certain-1 {
			t.Errorf("%v Mbit/s, queue of %d: %v", c.rate/1e6, c.queue, s)
		}
	}
}

// A light study takes a second, and has the capacity.
func TestLightStudy(t *testing.T) {
	for seed := range uint64(10) {
		p := &path{access: 1e9, rate: 20e6, load: .3, late: 15e-6, queue: 200, random: rand.New(rand.NewPCG(seed, 2))}
		f := studied(p, Goal{Free: true, Light: true})
		if capacity, free := truths(p); off(f.Capacity.BitsPerSecond, capacity) > .05 || off(f.Free.BitsPerSecond, free) > .4 || p.over > 1.5 {
			t.Errorf("seed %d, %.1f s: %+v, want %v", seed, p.over, f, free)
		}
	}
}

// A brief study is as right as one that is not, of the same paths, buckets of shapers included, and takes less than half the time.
func TestBriefStudy(t *testing.T) {
	var took [2]float64
	var capacity, rate [2]score
	for i, goal := range []Goal{{}, {Brief: true}} {
		for seed := range uint64(60) {
			p := drawn(seed)
			f := studied(p, goal)
			link, _ := truths(p)
			capacity[i].add(f.Capacity.Estimate, link, .05)
			if p.shape > 0 {
				rate[i].add(f.Bucket.Rate, p.passes(), .05)
			}
			took[i] += p.over
		}
	}
	t.Logf("capacity %v, rate of shapers %v, %.1f s", capacity, rate, took)
	if capacity[1].certain < capacity[0].certain-2 || capacity[1].right < capacity[1].certain-2 || rate[1].right < rate[0].right-1 || took[1] > took[0]/2 {
		t.Errorf("brief: capacity %v, rate of shapers %v, %.1f s", capacity, rate, took)
	}
}

// A brief study has the rate of a shaper: as that of its bucket, or as what the path carries.
func TestBriefStudyOfShapers(t *testing.T) {
	for name, p := range map[string]*path{
		"usual":          {rate: 50e6, queue: 300, shape: 10e6, burst: 60e3},
		"of few packets": {rate: 50e6, queue: 300, shape: 10e6, burst: 6e3},
		"slow":           {rate: 20e6, queue: 100, shape: 2e6, burst: 30e3},
		"fast":           {rate: 100e6, queue: 800, shape: 20e6, burst: 60e3},
	} {
		p.access, p.late, p.random = 1e9, 15e-6, rand.New(rand.NewPCG(3, 3))
		f := studied(p, Goal{Brief: true})
		rate := f.Capacity.Estimate
		if f.Bucket.Known() {
			rate = f.Bucket.Rate
		}
		if !rate.Certain() || off(rate.BitsPerSecond, p.passes()) > .05 {
			t.Errorf("%s: %+v, %+v", name, f.Capacity.Estimate, f.Bucket)
		}
	}
}

// On a slow link the short trains of a brief study take as long as its long ones shall, and these are not sent.
func TestBriefStudyOfSlowLink(t *testing.T) {
	for rate, long := range map[float64]bool{30e3: false, 600e3: false, 1e6: true} {
		p := &path{rate: rate, access: 1e9, queue: 100, late: 15e-6, random: rand.New(rand.NewPCG(3, 3))}
		f := studied(p, Goal{Brief: true})
		takes := 3 * 30 * size * 8 / rate // the survey's packets
		if !f.Capacity.Certain() || off(f.Capacity.BitsPerSecond, rate) > .05 || (p.over > takes+0.8) != long {
			t.Errorf("%g bit/s: %+v, over after %.1f s, of which the short trains took %.1f", rate, f.Capacity.Estimate, p.over, takes)
		}
	}
}

// Where nothing arrives of the first trains, a study ends.
func TestNothingArrives(t *testing.T) {
	for _, goal := range []Goal{{}, {Brief: true}} {
		s := &Study{Goal: goal, Size: size}
		steps := s.Next()
		lost := make([]Train, len(steps))
		for i, step := range steps {
			lost[i] = Train{Sent: step.Packets, Size: size}
		}
		if s.Add(lost); s.Next() != nil {
			t.Errorf("%+v: goes on", goal)
		}
		if f := s.Findings(); f.Capacity.Doubt != Few {
			t.Errorf("%+v: %+v", goal, f.Capacity)
		}
	}
}

// Behind a bucket that holds one packet and a part of the next, the second of five packets waits for a part of its tokens alone: the five come a tenth faster
// than the bucket's rate, which a light study, that sends no more in a row, does not call certain.
func TestLightStudyBehindSmallBuckets(t *testing.T) {
	for _, rate := range []float64{50e6, 100e6} {
		for _, share := range []float64{.1, .2, .4, .6} {
			for seed := range uint64(5) {
				p := &path{access: 1e9, rate: rate, queue: 300, shape: rate * share, burst: 2000, late: 15e-6, random: rand.New(rand.NewPCG(seed, 9))}
				got := studied(p, Goal{Free: true, Light: true}).Capacity
				if capacity, _ := truths(p); got.Certain() && off(got.BitsPerSecond, capacity) > .05 && off(got.BitsPerSecond, p.shape) > .05 {
					t.Errorf("%v Mbit/s for long of %v, seed %d: %+v", p.shape/1e6, rate/1e6, seed, got.Estimate)
				}
			}
		}
	}
}

// Token buckets have their rate and their size, a policer is told from a shaper, and the link before it keeps its own rate.
func TestBuckets(t *testing.T) {
	for name, p := range map[string]*path{
		"a shaper":                        {rate: 50e6, queue: 300, shape: 10e6, burst: 60e3},
		"of few packets":                  {rate: 50e6, queue: 300, shape: 10e6, burst: 6e3},
		"slow":                            {rate: 20e6, queue: 100, shape: 2e6, burst: 30e3},
		"with a short queue":              {rate: 20e6, queue: 12, shape: 8e6, burst: 20e3},
		"a policer":                       {rate: 50e6, queue: 300, police: 10e6, burst: 60e3},
		"a policer before a short queue":  {rate: 50e6, queue: 10, police: 20e6, burst: 20e3},
		"a policer not far from the link": {rate: 30e6, queue: 100, police: 20e6, burst: 30e3},
	} {
		for _, access := range []float64{0, 1e9} {
			one := *p
			one.access, one.late, one.random = access, 15e-6, rand.New(rand.NewPCG(3, 3))
			f := studied(&one, Goal{Free: true})
			capacity, free := truths(&one)
			if off(f.Capacity.BitsPerSecond, capacity) > .05 || off(f.Bucket.Rate.BitsPerSecond, one.passes()) > .05 || off(f.Bucket.Bytes, one.burst) > .2 ||
				f.Bucket.Drops != (one.police > 0) || off(f.Free.BitsPerSecond, free) > .15 {
				t.Errorf("%s, access %v: %+v, %+v, %+v; want link %v, free %v", name, access, f.Capacity.Estimate, f.Bucket, f.Free, capacity, free)
			}
		}
	}
}

// drawn is a path whose rate, queue, traffic and bucket are drawn.
func drawn(seed uint64) *path {
	r := rand.New(rand.NewPCG(seed, 7))
	pick := func(v ...float64) float64 { return v[r.IntN(len(v))] }
	p := &path{random: r, late: 15e-6, rate: 3e6 * math.Pow(100./3, r.Float64()), access: pick(0, 1e9, 1e9), load: pick(0, .3, .6, .6*r.Float64())}
	p.queue, p.even = int(5*math.Pow(100, r.Float64())), r.IntN(3) == 0
	if r.IntN(2) == 0 {
		p.sizes = []int{84, 576, 1500}
	}
	if r.IntN(3) == 0 {
		p.burst = math.Max(3000, math.Min(150e3, 6e3*math.Pow(25, r.Float64())))
		if rate := p.rate * (0.1 + 0.6*r.Float64()); r.IntN(2) == 0 {
			p.shape = rate
		} else {
			p.police = rate
		}
	}
	return p
}

// Of paths that are drawn, what is called certain is right, and most is. PATHWISE_DRAWN_PATHS says how many are played.
func TestDrawnPaths(t *testing.T) {
	paths := 50
	if n, err := strconv.Atoi(os.Getenv("PATHWISE_DRAWN_PATHS")); err == nil {
		paths = n
	}
	var capacity, free, rate score
	for seed := range uint64(paths) {
		p := drawn(seed)
		f := studied(p, Goal{Free: true})
		link, left := truths(p)
		capacity.add(f.Capacity.Estimate, link, .05)
		free.add(f.Free, left, .15)
		if p.burst > 0 {
			rate.add(f.Bucket.Rate, p.passes(), .05)
		}
	}
	t.Logf("capacity %v, free %v, rate of buckets %v", capacity, free, rate)
	for name, s := range map[string]score{"capacity": capacity, "free": free} {
		if s.right < s.certain*93/100 || s.certain < s.all*3/4 {
			t.Errorf("%s: %v", name, s)
		}
	}
	if rate.right < rate.certain*9/10 {
		t.Errorf("rates of buckets: %v", rate)
	}
}

// score is how many estimates were certain, and of those right.
type score struct{ all, certain, right int }

func (s *score) add(e Estimate, want, within float64) {
	s.all++
	if e.Certain() {
		s.certain++
		if off(e.BitsPerSecond, want) <= within {
			s.right++
		}
	}
}

func (s score) String() string {
	return fmt.Sprintf("%d of %d certain, %d of these right", s.certain, s.all, s.right)
}
