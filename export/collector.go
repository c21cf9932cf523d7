package export

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// How long a Collector shows what it was told.
const (
	// Values go after this many intervals without a Result. Of Poisson sampling one gap in 22,000 is as long as that, so
	// the series of a test that goes on stay whole.
	staleIntervals = 10
	staleAtLeast   = 5 * time.Minute // a burst of Results by hand teaches no interval
	// Of how many intervals the mean interval is made, about: enough to settle, few enough to follow a new schedule.
	intervalMemory = 4
	// Until there are two Results, nobody knows the interval: a daily test lives from one to the next.
	staleUnknown = 25 * time.Hour
	// When the last Result came is told for longer than what it said: an alarm on that must not end by itself before
	// somebody has come back from a weekend.
	forgetAfter = 7 * 24 * time.Hour
)

// maxSeries bounds a Collector when CollectorOptions do not: what Prometheus can be expected to scrape in one go, about
// 100 MB of text. A larger mesh is for remote write.
const maxSeries = 500_000

// CollectorOptions say what a Collector shows beside Results. The zero value is ready for use.
type CollectorOptions struct {
	Version string           // of Pathwise, for pathwise_build_info
	State   func() State     // how the controller is, asked at each scrape; nil: nothing of it is shown
	Log     *slog.Logger     // of what a scrape could not show; nil: nowhere
	Now     func() time.Time // nil: time.Now
	// Way is the way that data of a tool goes, for values from the archive, which does not say; nil: nobody knows.
	Way       func(tool string) measure.Way
	MaxSeries int // Results of streams beyond it are counted and not shown; 0: 500,000
}

// Collector holds the newest Result of each stream and shows it to a Prometheus that scrapes. It is a
// prometheus.Collector; its methods may be called at once from many goroutines.
//
//	          Observe                   10 intervals, nothing              7 days
//	(unknown) -------> values, time, ok ------------------> time, ok only ------> (unknown)
//
// The values are those of one Result: what a newer one did not measure is no longer shown, for a delay of yesterday is
// none of today. Older Results that come late change the counters only.
type Collector struct {
	opts CollectorOptions

	mu      sync.Mutex
	streams map[stream]*latest
	series  int
	counts  counts
}

// latest is the newest Result of a stream. It is replaced, never changed.
type latest struct {
	way    measure.Way   // that its data went: no part of the stream, for of one from the archive it may not be known
	at     time.Time     // when it began; not in the future, whatever the clock was that it came from
	every  time.Duration // mean interval of the stream's Results; 0: not known
	status measure.Status
	values []value
}

type counts struct {
	results map[outcome]uint64
	missed  map[string]uint64 // by tool
	leftOut uint64
}

type outcome struct {
	tool   string
	status measure.Status
}

// NewCollector returns a Collector that knows nothing yet.
func NewCollector(o CollectorOptions) *Collector {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.MaxSeries = cmp.Or(o.MaxSeries, maxSeries)
	if o.Way == nil {
		o.Way = func(string) measure.Way { return "" }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Collector{opts: o, streams: map[stream]*latest{},
		counts: counts{results: map[outcome]uint64{}, missed: map[string]uint64{}}}
}

// Seed takes the newest values of planned runs from the archive, so that a restart leaves no hole: what was asked for once
// belongs to its time. Of each stream it takes those of one time, its newest; whether that Result was whole is not told until the
// next one. Counters begin at zero.
func (c *Collector) Seed(ctx context.Context, a archive.Archive) error {
	all, err := a.Latest(ctx, archive.Match{Role: string(measure.RolePlanned), Subject: "*"})
	if err != nil {
		return fmt.Errorf("read latest values: %w", err)
	}
	newest := map[stream]*latest{}
	for _, l := range all {
		s := stream{string(l.Role), l.Source, l.Target, l.Test, l.Tool, l.Subject}.labels()
		n := newest[s]
		if n == nil || l.Time.After(n.at) {
			n = &latest{way: c.opts.Way(l.Tool), at: l.Time}
			newest[s] = n
		}
		if l.Time.Equal(n.at) && exportable(l.Metric) {
			n.values = append(n.values, value{l.Metric, l.Value})
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for s, n := range newest {
		c.take(s, n)
	}
	return nil
}

// Observe shows a Result that was filed, if it is the newest of its stream, and counts it. One that is observed again
// counts again.
func (c *Collector) Observe(r *measure.Result) {
	parts, way := partsOf(r), measure.Way(label(string(r.Way)))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts.results[outcome{parts[0].tool, r.Status}]++
	for _, p := range parts {
		c.take(p.stream, &latest{way: way, at: r.Started, status: r.Status, values: p.values})
	}
}

// Missed counts a run that did not take place.
func (c *Collector) Missed(m measure.Miss) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts.missed[label(m.Tool)]++
}

// take makes l the latest of a stream, unless there is a newer one or no room.
func (c *Collector) take(s stream, l *latest) {
	if now := c.opts.Now(); l.at.After(now) {
		l.at = now
	}
	before := c.streams[s]
	room := c.opts.MaxSeries - c.series
	if before != nil {
		if l.at.Before(before.at) {
			return
		}
		l.every = interval(before, l)
		room += before.series()
	}
	if l.series() > room {
		c.counts.leftOut++
		return
	}
	c.series += l.series()
	if before != nil {
		c.series -= before.series()
	}
	c.streams[s] = l
}

// interval is the mean distance of the Results of a stream, the later ones counting more.
func interval(before, l *latest) time.Duration {
	gap := l.at.Sub(before.at)
	if before.every == 0 {
		return gap
	}
	return before.every + (gap-before.every)/intervalMemory
}

// series is how many series a scrape shows of it: values, time, ok.
func (l *latest) series() int { return len(l.values) + 2 }

// stale says whether its values are too old to be shown at the time now.
func (l *latest) stale(now time.Time) bool {
	keep := staleUnknown
	if l.every > 0 {
		keep = max(staleAtLeast, staleIntervals*l.every)
	}
	return now.Sub(l.at) > keep
}

// snapshot is what a scrape shows, after what is stale has gone.
func (c *Collector) snapshot() (map[stream]*latest, counts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.opts.Now()
	shown := make(map[stream]*latest, len(c.streams))
	for s, l := range c.streams {
		switch {
		case now.Sub(l.at) > forgetAfter && l.stale(now):
			c.series -= l.series()
			delete(c.streams, s)
			continue
		case l.stale(now) && len(l.values) > 0:
			c.series -= len(l.values)
			l = &latest{way: l.way, at: l.at, every: l.every, status: l.status}
			c.streams[s] = l
		}
		shown[s] = l
	}
	return shown, c.counts.clone()
}

// help is the HELP text of a metric: what it means, or, of a program that is not ours, what it is called.
func help(m measure.Metric) string {
	if d, ours := m.Definition(); ours {
		return d.Help
	}
	unit := m.Unit()
	text := "Measured by a tool of the site: " + strings.ReplaceAll(strings.TrimSuffix(string(m), "_"+unit), "_", " ")
	if unit == "count" {
		return text + "."
	}
	return text + ", in " + strings.ReplaceAll(unit, "_", " ") + "."
}
