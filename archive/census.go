package archive

import (
	"math"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

const (
	// mostCounted is how many series are counted one by one in an answer: those of a host with hundreds of others.
	mostCounted = 20_000
	// mostSampled is how many are of a sample of more, as of a whole mesh: each overview that is opened asks for one, and it is to
	// cost no more than a small part of the matrix beside it.
	mostSampled = 5_000
)

// census counts the runs of many streams, or of a sample of them.
type census struct {
	classes []*class
	of      map[streamID]*class // of the streams that are counted
}

// class is what one tool measured in one role.
type class struct {
	tool    string
	role    measure.Role
	streams []*stream
	series  int
	metrics map[metricID]*tally
}

// tally is what is known of one metric of a class.
type tally struct {
	Measured
	counted int   // series
	newest  int64 // run, ns since 1970
}

// newCensus finds what a selector lets pass, and makes a view of what is to be counted.
func (k *keeper) newCensus(s selector) (*census, *view) {
	k.memory.RLock()
	defer k.memory.RUnlock()
	c := &census{of: map[streamID]*class{}}
	wanted := k.names.findMetrics(s)
	all := 0
	for _, g := range k.names.classes(k.names.find(s)) {
		for _, one := range g.streams {
			g.add(one, wanted, k.names.metrics)
		}
		all += g.series
		c.classes = append(c.classes, g)
	}
	var counted []*stream
	for _, g := range c.classes {
		share := 1.0
		if all > mostCounted {
			share = float64(mostSampled) / float64(len(c.classes)) / float64(max(g.series, 1))
		}
		for _, one := range g.streams {
			if !sampled(one.id, share) {
				continue
			}
			counted = append(counted, one)
			c.of[one.id] = g
			for _, l := range one.latest {
				if t := g.metrics[l.metric]; t != nil {
					t.counted++
				}
			}
		}
	}
	return c, k.viewOf(counted, wanted, nil)
}

// classes sorts streams by tool and role.
func (g *registry) classes(streams []*stream) []*class {
	type name struct {
		tool string
		role measure.Role
	}
	var all []*class
	known := map[name]*class{}
	for _, s := range streams {
		n := name{s.key.tool, s.key.role}
		c := known[n]
		if c == nil {
			c = &class{tool: n.tool, role: n.role, metrics: map[metricID]*tally{}}
			known[n], all = c, append(all, c)
		}
		c.streams = append(c.streams, s)
	}
	return all
}

// add takes in which metrics a stream has, and since when.
func (c *class) add(s *stream, wanted map[metricID]bool, names []measure.Metric) {
	for _, l := range s.latest {
		if !wanted[l.metric] {
			continue
		}
		t := c.metrics[l.metric]
		if t == nil {
			t = &tally{Measured: Measured{Metric: names[l.metric], Tool: c.tool, Role: c.role}}
			c.metrics[l.metric] = t
		}
		c.series++
		t.Series++
		t.newest = max(t.newest, l.time)
	}
}

// sampled tells whether a stream is of the sample that has a share of all of them: the same ones each time, and not each
// hundredth, which might all have one target.
func sampled(id streamID, share float64) bool {
	const golden = 0x9e3779b97f4a7c15 // 2^64 by the golden ratio spreads numbers that follow one another (Knuth, TAOCP 6.4)
	return share >= 1 || float64(uint64(id)*golden)/math.Exp2(64) < share
}

// count takes in that a stream has so many values of a metric.
func (c *census) count(id streamID, m metricID, n uint64) {
	if g := c.of[id]; g != nil && g.metrics[m] != nil {
		g.metrics[m].Runs += n
	}
}

// estimate is what was counted, and what it comes to where it is a sample.
func (c *census) estimate() []Measured {
	found := []Measured{}
	for _, g := range c.classes {
		for _, t := range g.metrics {
			if t.counted < t.Series {
				t.Estimated = true
				t.Runs = uint64(math.Round(float64(t.Runs) * float64(t.Series) / float64(max(t.counted, 1))))
			}
			t.Latest = time.Unix(0, t.newest).UTC()
			found = append(found, t.Measured)
		}
	}
	return found
}
