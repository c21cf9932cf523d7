package generated

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// Filer takes Results, as an archive.Archive does.
type Filer interface {
	Put(ctx context.Context, results []*measure.Result) error
}

// together is how many Results are put at once.
const together = 2000

// Fill puts a History into an archive, test by test, each in order of time.
func (h *History) Fill(ctx context.Context, to Filer) error {
	if len(h.Hosts) < 2 {
		return nil
	}
	for i := range h.Tests {
		if err := h.fillTest(ctx, to, &h.Tests[i]); err != nil {
			return fmt.Errorf("fill with generated history: %w", err)
		}
	}
	return nil
}

// fillTest has several goroutines make every so many pairs of it each: an archive packs what its callers bring.
func (h *History) fillTest(ctx context.Context, to Filer, t *Test) error {
	workers := min(2*runtime.GOMAXPROCS(0), h.pairs())
	errs, happened := make([]error, workers), h.happenings()
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			m := newMaker(h, t, happened)
			start, times := h.span(t)
			for n := range times {
				for pair := w; pair < h.pairs() && errs[w] == nil; pair += workers {
					// Runs of a round are spread over its time, a pair always at the same part of it.
					late := time.Duration(float64(t.Every) * h.dice(pair, 6, 0))
					if m.add(pair, start.Add(time.Duration(n)*t.Every+late)) == together {
						errs[w] = m.put(ctx, to)
					}
				}
			}
			if errs[w] == nil {
				errs[w] = m.put(ctx, to)
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// maker makes Results, over and over in the same memory.
type maker struct {
	h       *History
	test    *Test
	source  *rand.PCG
	random  *rand.Rand
	entropy ulid.MonotonicReader
	results []*measure.Result
	n       int // of results that are waiting
	sketch  stat.Sketch
	of      []happened // each pair
}

func newMaker(h *History, t *Test, of []happened) *maker {
	source := rand.NewPCG(0, 0)
	m := &maker{h: h, test: t, source: source, random: rand.New(source), of: of}
	var key [32]byte
	for i := range key {
		key[i] = byte(rand.Uint32()) // IDs are nobody else's
	}
	m.entropy = ulid.Monotonic(rand.NewChaCha8(key), 0)
	return m
}

func (m *maker) put(ctx context.Context, to Filer) error {
	n := m.n
	m.n = 0
	return to.Put(ctx, m.results[:n])
}

// add makes the Result of a pair at a time, and says how many are waiting.
func (m *maker) add(pair int, at time.Time) int {
	if m.n == len(m.results) {
		m.results = append(m.results, m.blank())
	}
	r := m.results[m.n]
	m.n++
	source, target := m.h.pair(pair)
	m.source.Seed(m.h.Seed+uint64(pair), uint64(at.UnixNano())) // whoever makes it, it is the same
	r.ID = ulid.MustNew(ulid.Timestamp(at), m.entropy).String()
	r.Started = at.UTC()
	r.Source = measure.Endpoint{Name: source.Name, Address: source.Address}
	r.Target = measure.Endpoint{Name: target.Name, Address: target.Address}
	m.measure(r, pair, at)
	if m.test.Metrics != nil {
		maps.DeleteFunc(r.Metrics, func(name measure.Metric, _ float64) bool {
			return !slices.Contains(m.test.Metrics, name)
		})
		if !slices.Contains(m.test.Metrics, measure.RTTMedian) {
			r.Distributions = nil
		}
	}
	return m.n
}

// blank is a Result of the tool with all that is in every one.
func (m *maker) blank() *measure.Result {
	r := measure.NewResult(string(m.test.Tool), m.h.Start)
	r.Test, r.Tool = testName(m.test.Tool), string(m.test.Tool)
	r.Clock = measure.NewClock(200*time.Microsecond, true)
	r.Note(Note)
	switch m.test.Tool {
	case Ping:
		r.Parameters = map[string]any{"count": echoes, "size": 56, "interval": 0.1}
		r.DurationSeconds = 1
	case Throughput:
		r.Parameters = map[string]any{"streams": 1}
		r.DurationSeconds = 10
	case Trace:
		r.DurationSeconds = 2
	}
	return r
}

// echoes a ping sends.
const echoes = 10

// measure makes up the metrics of a pair.
func (m *maker) measure(r *measure.Result, pair int, at time.Time) {
	p := m.h.at(pair, at)
	left := m.of[pair].suffer(&p, at)
	switch m.test.Tool {
	case Ping:
		m.ping(r, p)
	case Throughput:
		// As of Mathis et al., with losses of its own on a path without: TCP fills what there is.
		const segmentBits = 1448 * 8
		rate := segmentBits / (p.base + p.queue) * 1.22 / math.Sqrt(p.loss+1e-6)
		r.Metrics[measure.Throughput] = left * min(rate, 9.4e9) * (0.9 + 0.1*m.random.Float64())
		r.Metrics[measure.Retransmits] = math.Floor(m.random.ExpFloat64() * (3 + 2000*p.loss))
	case Trace:
		r.Metrics[measure.HopCount] = float64(p.hops)
		if r.Samples.Hops = m.of[pair].hops; r.Samples.Hops != nil {
			r.Metrics[measure.HopCount] = float64(len(r.Samples.Hops))
		}
	}
}

func (m *maker) ping(r *measure.Result, p path) {
	lost := 0.0
	for range echoes {
		if p.loss > 0 && m.random.Float64() < p.loss {
			lost++
		}
	}
	r.Metrics[measure.SentPackets], r.Metrics[measure.ReceivedPackets] = echoes, echoes-lost
	r.Metrics[measure.LostPackets], r.Metrics[measure.LossRatio] = lost, lost/echoes
	r.Metrics[measure.DuplicatePackets] = 0
	r.Distributions = nil
	if lost == echoes {
		for _, metric := range metricsOf[Ping][5:] {
			delete(r.Metrics, metric)
		}
		return
	}
	wait := p.queue * m.random.ExpFloat64()
	least := p.base + 0.1*wait
	r.Metrics[measure.RTTMin], r.Metrics[measure.RTTMax] = least, least+3*wait
	r.Metrics[measure.RTTMedian], r.Metrics[measure.RTTMean] = least+0.7*wait, least+0.9*wait
	r.Metrics[measure.RTTP95], r.Metrics[measure.RTTP99] = least+2.4*wait, least+2.9*wait
	r.Metrics[measure.RTTStddev] = 0.8 * wait
	if m.test.Bare {
		return
	}
	m.sketch.Reset()
	for i := range echoes - int(lost) { // spread so that metrics are near their quantiles
		part := float64(i) / max(1, echoes-lost-1)
		m.sketch.Add(least + wait*(0.2*part+2.8*part*part))
	}
	r.Distributions = map[measure.Metric]measure.Distribution{measure.RTTs: measure.NewDistribution(&m.sketch)}
}
