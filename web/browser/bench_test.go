package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/web"
)

const meshText = `
hosts:
  ucl:    {address: 10.0.0.1, site: London}
  qmul:   {address: 10.0.0.2, site: London}
  man:    {address: 10.0.0.3, site: Manchester}
  liv:    {address: 10.0.0.4, site: Liverpool}
  ral:    {address: 10.0.0.5, site: Didcot}
  dl:     {address: 10.0.0.6, site: Daresbury}
  nikhef: {address: 10.0.0.7, site: Amsterdam}
  cern:   {address: 10.0.0.8, site: Geneva}
tools: {rtt: {probe: ping, parameters: {count: 10, interval: 200ms}}, route: {probe: trace}, bulk: {probe: throughput}}
groups: {all: {mesh: [ucl, qmul, man, liv, ral, dl, nikhef, cern]}}
tests: [{tool: rtt, group: all, schedule: {every: 20m}}]
`

// east is how far each host is from London, in milliseconds of round trip.
var east = map[string]float64{"ucl": 0.2, "qmul": 0.4, "man": -5, "liv": -6, "ral": -2.3, "dl": -9, "nikhef": 10, "cern": 25}

// hub is a Hub of hosts that report, but for liv.
type hub struct{ said chan fleet.Receiver }

func (h *hub) Serve(ctx context.Context, r fleet.Receiver) error {
	h.said <- r
	for beat := time.NewTicker(time.Second); ; {
		for name := range east {
			if name != "liv" {
				r.Heard(fleet.Status{Host: name, At: time.Now(), Version: "v1", Clock: measure.NewClock(time.Millisecond, true)})
			}
		}
		select {
		case <-beat.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
func (h *hub) Plan(context.Context, fleet.Plan) error           { return nil }
func (h *hub) Order(context.Context, string, fleet.Order) error { return fleet.ErrAway }
func (h *hub) Watch(ctx context.Context, _, _ string, ready chan<- struct{}, _ func(fleet.Progress)) error {
	close(ready)
	<-ctx.Done()
	return ctx.Err()
}

// mesh is a controller with a past, and its pages.
type mesh struct {
	url     string
	archive archive.Archive
	hub     fleet.Receiver
	server  *web.Server
}

// shared is the mesh that all tests look at: filling it takes longer than most of them.
var shared = struct {
	sync.Once
	*mesh
	end func() error
}{}

func theMesh(t *testing.T) *mesh {
	t.Helper()
	shared.Do(func() { shared.mesh, shared.end = newMesh(t) })
	if shared.mesh == nil {
		t.Fatal("there is no mesh: see the first test that failed")
	}
	return shared.mesh
}

func newMesh(t *testing.T) (m *mesh, end func() error) {
	t.Helper()
	folder, err := os.MkdirTemp("", "pathwise-browser")
	must(t, err)
	store, err := archive.Open(context.Background(), filepath.Join(folder, "archive"), archive.Options{})
	must(t, err)
	fill(t, store)
	return serveMesh(t, folder, store, meshText)
}

// serveMesh runs a controller of a mesh file over an archive, and shows its pages.
func serveMesh(t *testing.T, folder string, store archive.Archive, text string) (m *mesh, end func() error) {
	t.Helper()
	file := filepath.Join(folder, "mesh.yaml")
	must(t, os.WriteFile(file, []byte(text), 0o600))
	h := &hub{said: make(chan fleet.Receiver, 1)}
	s, url, stop := serve(t, control.Config{Mesh: file, Data: folder, Hub: h, Archive: store, NameOf: routerName}, nil, func(s *web.Server) http.Handler {
		return http.StripPrefix("/sub/path", public(s)) // as behind a proxy
	})
	return &mesh{url + "/sub/path/", store, <-h.said, s}, func() error { return errors.Join(stop(), os.RemoveAll(folder)) }
}

// routerName is what reverse lookup says in tests.
func routerName(_ context.Context, address string) string {
	return map[string]string{"10.8.7.4": "south4.example.net"}[address]
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func reply(w http.ResponseWriter, doc any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(doc)
}

// someResult is the ID of a ping.
const someResult = "01KAG0000000000000000000AA"

// fill generates a past: some hours of all pairs, two weeks of ucl and cern, with a loss, a detour and a gap in it.
func fill(t *testing.T, store archive.Archive) {
	t.Helper()
	dice := rand.New(rand.NewPCG(5, 2002))
	now := time.Now()
	var all []*measure.Result
	hosts := slices.Sorted(maps.Keys(east)) // the same dice for the same pair each time
	for _, a := range hosts {
		for _, b := range hosts {
			if a == b {
				continue
			}
			for ago := 6 * time.Hour; ago > 0; ago -= 25 * time.Minute {
				if a == "ucl" && b == "cern" || a == "cern" && b == "ucl" {
					break // below, more finely
				}
				all = append(all, ping(dice, a, b, now.Add(-ago)))
			}
		}
	}
	for _, way := range [][2]string{{"ucl", "cern"}, {"cern", "ucl"}} {
		for ago := 15 * 24 * time.Hour; ago > 26*time.Hour; ago -= 2 * time.Hour {
			all = append(all, ping(dice, way[0], way[1], now.Add(-ago)))
		}
		for ago := 25 * time.Hour; ago > 0; ago -= 4 * time.Minute {
			if ago < 9*time.Hour && ago > 8*time.Hour {
				continue
			}
			all = append(all, ping(dice, way[0], way[1], now.Add(-ago-time.Minute)))
		}
		for ago := 25 * time.Hour; ago > 0; ago -= time.Hour {
			all = append(all, transfer(dice, way[0], way[1], now.Add(-ago)), route(dice, way[0], way[1], now.Add(-ago)))
		}
	}
	all[0].ID = someResult
	for batch := range slices.Chunk(all, 500) {
		must(t, store.Put(context.Background(), batch))
	}
	var misses []measure.Miss
	for i := range 12 {
		r := measure.NewResult("ping", now)
		misses = append(misses, measure.Miss{Run: r.ID, Test: "rtt@all", Tool: "rtt", Source: "liv", Target: "ucl",
			Start: now.Add(-time.Duration(i) * 5 * time.Minute), Why: "liv is away"})
	}
	must(t, store.PutMisses(context.Background(), misses))
}

func ended(kind, tool, source, target string, at time.Time) *measure.Result {
	r := measure.NewResult(kind, at)
	r.Tool, r.Test = tool, tool+"@all"
	r.Source = measure.Endpoint{Name: source, Address: "10.0.0.1"}
	r.Target = measure.Endpoint{Name: target, Address: "10.0.0.2"}
	r.Clock = measure.NewClock(300*time.Microsecond, true)
	return r
}

func ping(dice *rand.Rand, source, target string, at time.Time) *measure.Result {
	r := ended("ping", "rtt", source, target, at)
	base := (1 + math.Abs(east[source]-east[target])) / 1e3
	ago := time.Since(at)
	if target == "cern" && ago < 5*time.Hour && ago > 3*time.Hour {
		base *= 1.7 // a detour
	}
	base *= 1 + 0.1*math.Sin(2*math.Pi*float64(at.Hour()*60+at.Minute())/1440) // the day
	if source == "dl" && target == "nikhef" {
		base += 0.13
	}
	lost := 0
	if source == "ral" || target == "cern" && ago < 4*time.Hour && ago > 2*time.Hour {
		lost = dice.IntN(3)
	}
	var rtts []float64
	for i := range 10 {
		e := measure.Echo{Seq: i + 1, SentSeconds: float64(i) * 0.2}
		if i >= lost {
			v := base * (1 + 0.04*dice.ExpFloat64())
			e.RTTSeconds = &v
			rtts = append(rtts, v)
		}
		r.Samples.Echoes = append(r.Samples.Echoes, e)
	}
	slices.Sort(rtts)
	r.DurationSeconds = 1.9
	r.Parameters["count"] = 10
	r.Metrics = map[measure.Metric]float64{measure.RTTMin: rtts[0], measure.RTTMedian: rtts[len(rtts)/2], measure.RTTP95: rtts[len(rtts)-1],
		measure.RTTMax: rtts[len(rtts)-1] * 1.1, measure.LossRatio: float64(lost) / 10, measure.SentPackets: 10}
	return r
}

func transfer(dice *rand.Rand, source, target string, at time.Time) *measure.Result {
	r := ended("throughput", "bulk", source, target, at)
	r.DurationSeconds = 10
	rate := 4e8 * (0.8 + 0.4*dice.Float64())
	r.Metrics = map[measure.Metric]float64{measure.Throughput: rate, measure.Retransmits: float64(dice.IntN(40))}
	for i := range 10 {
		r.Samples.Intervals = append(r.Samples.Intervals, measure.Interval{Direction: measure.Forward, End: measure.Receiver,
			StartSeconds: float64(i), EndSeconds: float64(i + 1), Bytes: int64(rate / 8), BitsPerSecond: rate * (0.9 + 0.2*dice.Float64())})
	}
	return r
}

func route(dice *rand.Rand, source, target string, at time.Time) *measure.Result {
	r := ended("trace", "route", source, target, at)
	hops := 12
	if ago := time.Since(at); ago < 5*time.Hour && ago > 3*time.Hour {
		hops = 14
	}
	for ttl := range hops {
		v := float64(ttl+1) * 2e-3 * (1 + dice.Float64()/5)
		r.Samples.Hops = append(r.Samples.Hops, measure.Hop{TTL: ttl + 1, Addresses: []string{fmt.Sprintf("10.9.0.%d", ttl+1)}, RTTSeconds: []*float64{&v, nil, &v}})
	}
	r.Samples.Hops[hops-1].Reply = "port unreachable" // by the target
	r.Metrics[measure.HopCount] = float64(hops)
	return r
}
