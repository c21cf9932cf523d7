// Package archivebench puts load on an archive and measures what it bears: how fast Results go in, whole or their
// values only, whether that rate lasts, and how fast a year is drawn. It opens no archive and judges nothing; cmd/bench
// and the tests do.
package archivebench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// Load is a mesh as an archive sees it: each pair is measured once a minute, by a tool with twelve metrics and a distribution.
type Load struct {
	Pairs   int // 0: 2450, a full mesh of 50 hosts
	Values  int // in all; 0: 4,000,000
	Callers int // that put at the same time; 0: 8
	Batch   int // Results in a call; 0: 1000
	Slices  int // of the run, whose rates are given apart: 0: 10
	Start   time.Time
}

// Filling is what came of a Load.
type Filling struct {
	Values          int
	Results         int
	Seconds         float64
	ValuesPerSecond float64
	SliceRates      []float64     // values a second of each slice of the run
	SlowestPut      time.Duration // one call's
}

// ends returns the rates of the first and the last slice, if there is more than one.
func (f Filling) ends() (first, last float64, ok bool) {
	if len(f.SliceRates) < 2 {
		return 0, 0, false
	}
	return f.SliceRates[0], f.SliceRates[len(f.SliceRates)-1], true
}

// metrics are those of pathwise ping: what twelve of them look like to a compressor.
var metrics = [...]measure.Metric{
	measure.SentPackets, measure.ReceivedPackets, measure.LostPackets, measure.LossRatio, measure.DuplicatePackets,
	measure.RTTMin, measure.RTTMean, measure.RTTMedian, measure.RTTP95, measure.RTTP99, measure.RTTMax, measure.RTTStddev,
}

// MetricsPerRun is how many values a Result has.
const MetricsPerRun = len(metrics)

func (l Load) withDefaults() Load {
	set := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	set(&l.Pairs, 2450)
	set(&l.Values, 4_000_000)
	set(&l.Callers, 8)
	set(&l.Batch, 1000)
	set(&l.Slices, 10)
	if l.Start.IsZero() {
		l.Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return l
}

// Fill puts a Load into an archive and closes it, so that all that it promises is on disk and rolled up when the clock
// is stopped.
func Fill(ctx context.Context, a archive.Archive, l Load) (Filling, error) {
	l = l.withDefaults()
	results := l.Values / MetricsPerRun
	var put atomic.Int64
	var slowest atomic.Int64
	began := time.Now()
	watch := newWatch(began, results, l.Slices, &put)
	errs := make([]error, l.Callers)
	var group sync.WaitGroup
	for c := range l.Callers {
		group.Go(func() {
			f := newFeeder(l, c)
			for n := results * c / l.Callers; n < results*(c+1)/l.Callers && errs[c] == nil; {
				batch := f.next(min(l.Batch, results*(c+1)/l.Callers-n))
				n += len(batch)
				start := time.Now()
				errs[c] = a.Put(ctx, batch)
				slowest.Store(max(slowest.Load(), int64(time.Since(start)))) // a race loses a maximum of two alike
				put.Add(int64(len(batch)))
			}
		})
	}
	group.Wait()
	rates := watch.stop()
	err := errors.Join(append(errs, a.Close())...)
	took := time.Since(began).Seconds()
	values := results * MetricsPerRun
	return Filling{values, results, took, float64(values) / took, rates, time.Duration(slowest.Load())}, err
}

// watch notes when each slice of a run is done.
type watch struct {
	rates []float64
	quit  chan struct{}
	done  chan struct{}
}

func newWatch(began time.Time, results, slices int, put *atomic.Int64) *watch {
	w := &watch{quit: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(w.done)
		ticker := time.NewTicker(10 * time.Millisecond)
		defer ticker.Stop()
		last, lastAt := int64(0), began
		for {
			select {
			case <-w.quit:
				return
			case now := <-ticker.C:
				if n := put.Load(); n-last >= int64(results/slices) {
					w.rates = append(w.rates, float64((n-last)*int64(MetricsPerRun))/now.Sub(lastAt).Seconds())
					last, lastAt = n, now
				}
			}
		}
	}()
	return w
}

func (w *watch) stop() []float64 {
	close(w.quit)
	<-w.done
	return w.rates
}

// feeder makes Results of every so many pairs, over and over in the same memory: making them anew would be measured
// too.
type feeder struct {
	load    Load
	random  *rand.Rand
	entropy ulid.MonotonicReader
	results []*measure.Result
	pairs   []int
	pair    int // index into pairs
	hosts   map[int]measure.Endpoint
	minute  int
}

func newFeeder(l Load, caller int) *feeder {
	f := &feeder{load: l, random: rand.New(rand.NewPCG(uint64(caller), 1)), hosts: map[int]measure.Endpoint{}}
	f.entropy = ulid.Monotonic(rand.NewChaCha8([32]byte{byte(caller), byte(caller >> 8)}), 0)
	for p := caller; p < l.Pairs; p += l.Callers {
		f.pairs = append(f.pairs, p)
	}
	for range l.Batch {
		r := measure.NewResult("ping", l.Start)
		r.Test, r.Tool = "rtt of all", "rtt"
		r.Parameters = map[string]any{"count": 10, "size": 56, "interval": 0.1}
		r.Clock = measure.NewClock(200*time.Microsecond, true)
		f.results = append(f.results, r)
	}
	return f
}

func (f *feeder) next(n int) []*measure.Result {
	for _, r := range f.results[:n] {
		p := f.pairs[f.pair]
		f.fill(r, p, f.load.Start.Add(time.Duration(f.minute)*time.Minute+time.Duration(p)*17*time.Millisecond))
		if f.pair++; f.pair == len(f.pairs) {
			f.pair, f.minute = 0, f.minute+1
		}
	}
	return f.results[:n]
}

// fill makes r the Result of a pair at a time: a round trip of its own, and a queue; and the distribution of ten round trips.
func (f *feeder) fill(r *measure.Result, pair int, at time.Time) {
	r.ID = ulid.MustNew(ulid.Timestamp(at), f.entropy).String()
	r.Started, r.DurationSeconds = at, 1+f.random.Float64()/100
	r.Source, r.Target = f.host(pair/49), f.host(50+pair%49)
	base := 0.005 + 0.001*float64(pair%97)
	queue := f.random.ExpFloat64() / 1000
	for i, m := range metrics {
		switch {
		case i < 2:
			r.Metrics[m] = 10
		case i < 5:
			r.Metrics[m] = 0
		default:
			r.Metrics[m] = base + queue*float64(i-4)/7
		}
	}
	var rtts stat.Sketch
	for i := range 10 {
		rtts.Add(base + queue*float64(i+1)/10)
	}
	r.Distributions = map[measure.Metric]measure.Distribution{measure.RTTs: measure.NewDistribution(&rtts)}
}

func (f *feeder) host(n int) measure.Endpoint {
	if _, known := f.hosts[n]; !known {
		f.hosts[n] = measure.Endpoint{Name: fmt.Sprintf("host%d", n), Address: fmt.Sprintf("10.%d.%d.1", n/250, n%250)}
	}
	return f.hosts[n]
}

// ServerOptions are the settings of PostgreSQL that a mesh of this size wants; docs/archive.md names them, too.
var ServerOptions = []string{"shared_buffers=512MB", "max_wal_size=4GB", "checkpoint_timeout=15min",
	"wal_compression=lz4"}
