package archive

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// A stream is what one tool measures on one path for one test and one role, of one subject or none: its Results have their metrics at
// the same times.
// Numbers stand for streams and metrics wherever they are kept; both are given once and never again.
type (
	streamID int64
	metricID uint16 // so there are at most 65,536 names of metrics
	seriesID int64  // of one metric of a stream: metric<<32 | stream, so that all streams of a metric are neighbours
)

// mostStreams is above every number of a stream.
const mostStreams = 1 << 32

func (s streamID) series(m metricID) seriesID { return seriesID(m)<<32 | seriesID(s) }

func (s seriesID) split() (streamID, metricID) { return streamID(s % mostStreams), metricID(s >> 32) }

// streamKey is a stream by its names. Source and target are those of the data.
type streamKey struct {
	source, target, test, tool, kind string
	role                             measure.Role // as of measure.Role.Series
	subject                          string       // as measure.Subject writes it; "": none
}

// keyOf names the stream that a Result is filed in: of the way that its data went.
func keyOf(r *measure.Result) streamKey {
	k := streamKey{r.Source.NameOrAddress(), r.Target.NameOrAddress(), r.Test,
		cmp.Or(r.Tool, r.Kind), r.Kind, cmp.Or(r.Role, measure.RoleOf(r.Test)).Series(), r.Subject.String()}
	if r.Way == measure.Reverse {
		return k.back()
	}
	return k
}

// back returns the key of the stream in the opposite direction between the same ends.
func (k streamKey) back() streamKey {
	k.source, k.target = k.target, k.source
	return k
}

// stream is what memory holds about one stream, so that its points need not be read for it.
type stream struct {
	id   streamID
	key  streamKey
	pair int // index into the registry's pairs
	streamTail
}

// streamTail is the newest of a stream.
type streamTail struct {
	first  int64         // when its oldest run began, ns since 1970, even if that failed or is pruned; 0: it had none
	last   int64         // when its newest run began
	latest []latestValue // of every metric it ever had, by metric
}

type latestValue struct {
	metric metricID
	time   int64 // ns since 1970
	value  float64
}

// note takes in what a run measured, if it is newer, and says whether any metric of it is the stream's first.
func (s *streamTail) note(r run) (more bool) {
	if s.last == 0 {
		s.first = r.time
	}
	s.first, s.last = min(s.first, r.time), max(s.last, r.time)
	for _, v := range r.values {
		i, found := slices.BinarySearchFunc(s.latest, v.metric, func(l latestValue,
			m metricID) int {
			return int(l.metric) - int(m)
		})
		switch {
		case !found:
			s.latest = slices.Insert(s.latest, i, latestValue{v.metric, r.time, v.value})
			more = true
		case r.time >= s.latest[i].time:
			s.latest[i].time, s.latest[i].value = r.time, v.value
		}
	}
	return more
}

// bytes writes streamTail: when the oldest and the newest run were, and the latest values, each metric, time, value.
func (s streamTail) bytes() []byte {
	b := binary.AppendVarint(binary.AppendVarint(nil, s.first), s.last)
	for _, l := range s.latest {
		b = binary.AppendUvarint(b, uint64(l.metric))
		b = binary.AppendVarint(b, l.time)
		b = stat.AppendFloat(b, l.value)
	}
	return b
}

func decodeStreamTail(data []byte) (s streamTail, err error) {
	r := reader{data: data}
	s.first, s.last = r.int(), r.int()
	for len(r.data) > 0 && r.err == nil {
		s.latest = append(s.latest, latestValue{metricID(r.uint(1 << 16)), r.int(), r.float()})
	}
	return s, r.err
}

// registry holds all streams and names of metrics. It is guarded by the lock of its owner.
type registry struct {
	streams []*stream // [id-1], nil where there is none any more
	byKey   map[streamKey]*stream
	byPair  map[Pair][]*stream
	pairs   []Pair                // in the order in which they came
	sorted  atomic.Pointer[[]int] // indices into pairs, by source and target; of as many as there were when it was made
	metrics []measure.Metric      // [id]
	byName  map[measure.Metric]metricID
	byTool  map[string]map[metricID]bool // what each tool ever measured, between any hosts

	subjects bool // a stream has one
}

func newRegistry() *registry {
	return &registry{byKey: map[streamKey]*stream{}, byPair: map[Pair][]*stream{}, byName: map[measure.Metric]metricID{},
		byTool: map[string]map[metricID]bool{}}
}

func (g *registry) addStream(s *stream) {
	for int(s.id) > len(g.streams) {
		g.streams = append(g.streams, nil)
	}
	g.streams[s.id-1] = s
	g.byKey[s.key] = s
	g.subjects = g.subjects || s.key.subject != ""
	p := Pair{s.key.source, s.key.target}
	if others := g.byPair[p]; len(others) > 0 {
		s.pair = others[0].pair
	} else {
		s.pair = len(g.pairs)
		g.pairs = append(g.pairs, p)
	}
	g.byPair[p] = append(g.byPair[p], s)
	g.learn(s)
}

// learn takes in which metrics a stream has.
func (g *registry) learn(s *stream) {
	known := g.byTool[s.key.tool]
	if known == nil {
		known = map[metricID]bool{}
		g.byTool[s.key.tool] = known
	}
	for _, l := range s.latest {
		known[l.metric] = true
	}
}

// mayMeasure tells whether a tool ever measured one of these metrics, or nothing at all, so that nobody knows.
func (g *registry) mayMeasure(tool string, wanted map[metricID]bool) bool {
	known := g.byTool[tool]
	for m := range wanted {
		if known[m] {
			return true
		}
	}
	return len(known) == 0
}

// inOrder are the indices of all pairs by source and target.
func (g *registry) inOrder() []int {
	if known := g.sorted.Load(); known != nil && len(*known) == len(g.pairs) {
		return *known
	}
	order := upTo(0, len(g.pairs), 1)
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(strings.Compare(g.pairs[a].Source, g.pairs[b].Source),
			strings.Compare(g.pairs[a].Target, g.pairs[b].Target))
	})
	g.sorted.Store(&order)
	return order
}

func (g *registry) addMetric(m metricID, name measure.Metric) {
	for int(m) >= len(g.metrics) {
		g.metrics = append(g.metrics, "")
	}
	g.metrics[m] = name
	g.byName[name] = m
}

func (g *registry) stream(id streamID) *stream {
	if id < 1 || int(id) > len(g.streams) {
		return nil
	}
	return g.streams[id-1]
}

// find returns the streams that a selector lets pass, in no order.
func (g *registry) find(s selector) []*stream {
	candidates := g.streams
	if s.source.exact && s.target.exact {
		candidates = g.byPair[Pair{s.source.pattern, s.target.pattern}]
	}
	var found []*stream
	for _, c := range candidates {
		if c != nil && s.matchesStream(c.key) {
			found = append(found, c)
		}
	}
	return found
}

// findMetrics returns the metrics of which a selector lets the name pass. Distributions are none.
func (g *registry) findMetrics(s selector) map[metricID]bool {
	found := map[metricID]bool{}
	for i, name := range g.metrics {
		if _, samples := samplesOf(name); name != "" && !samples && s.metric.matches(string(name)) {
			found[metricID(i)] = true
		}
	}
	return found
}

// key names one series.
func (g *registry) key(s *stream, m metricID) Key {
	return Key{s.key.source, s.key.target, s.key.test, s.key.tool, s.key.role, s.key.subject, g.metrics[m]}
}

// compare orders keys by source, target, tool, test, role, subject and metric.
func (k Key) compare(other Key) int {
	for _, c := range [...][2]string{{k.Source, other.Source}, {k.Target, other.Target}, {k.Tool, other.Tool}, {k.Test,
		other.Test}, {string(k.Role), string(other.Role)},
		{k.Subject, other.Subject}, {string(k.Metric), string(other.Metric)}} {
		if order := strings.Compare(c[0], c[1]); order != 0 {
			return order
		}
	}
	return 0
}
