package archive

import (
	"context"
	"math"
	"slices"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
)

// draft is a commit in the making: new names get numbers, which become known when it succeeds.
type draft struct {
	k          *keeper
	batch      batch
	runs       []streamRun
	lastBlock  int64
	streams    map[streamKey]*stream
	metrics    map[measure.Metric]metricID
	newMetrics []measure.Metric
	shape      shape

	filed              map[string]bool // IDs that were looked up and found
	seen               map[ulid.ULID]bool
	duplicates, tooOld int64
}

type streamRun struct {
	stream *stream
	run
	from, to int // its line in the journal
}

// shape is the names of one run's metrics and their numbers: the next run mostly has the same.
type shape struct {
	names   []measure.Metric
	numbers []metricID
	sorted  []int // positions in ascending order of numbers
}

func (k *keeper) newDraft() *draft {
	d := &draft{k: k, lastBlock: k.lastBlock, streams: map[streamKey]*stream{}, metrics: map[measure.Metric]metricID{},
		seen: map[ulid.ULID]bool{}}
	d.batch.generation, d.batch.journalID = k.active.generation, k.lastJournal+1
	return d
}

// lookUp finds out which Results are filed already.
func (d *draft) lookUp(ctx context.Context, t *tx, group []*request) (err error) {
	var ids [][]byte
	for _, q := range group {
		for i := range q.filings {
			ids = append(ids, q.filings[i].id[:])
		}
	}
	d.filed, err = known(ctx, t, ids)
	return err
}

// fresh tells whether a Result is to be filed: it is not, was not earlier in this draft, and is not too old.
func (d *draft) fresh(f *filing) bool {
	switch {
	case d.seen[f.id] || len(d.filed) > 0 && d.filed[string(f.id[:])]:
		d.duplicates++
		return false
	case f.time < d.k.tooOld(f.stream.tool):
		d.tooOld++
		return false
	}
	d.seen[f.id] = true
	return true
}

// add takes in what is new of a request.
func (d *draft) add(q *request) {
	for _, p := range q.parts {
		var kept []filing
		for i := p.from; i < p.to; i++ {
			if d.fresh(&q.filings[i]) {
				kept = append(kept, q.filings[i])
			}
		}
		if len(kept) == 0 {
			continue
		}
		block := int64(0)
		if p.packed != nil {
			if len(kept) < p.to-p.from { // a block holds each Result once
				p = d.k.newPart(kept, 0, len(kept))
			}
			d.lastBlock++
			block = d.lastBlock
			d.batch.blocks = append(d.batch.blocks, blockRow{block, kept[0].time / day, kept[0].stream.tool, p.samples,
				p.packed})
		}
		for i := range kept {
			d.addFiling(&kept[i], block, i)
		}
	}
}

func (d *draft) addFiling(f *filing, block int64, line int) {
	s := d.addRun(f.stream, f.time, f.metrics)
	d.batch.results = append(d.batch.results, resultRow{f.id[:], f.time, s.id, f.status, block, line})
	if f.other != nil {
		d.addRun(f.other.stream, f.time, f.other.metrics)
	}
}

func (d *draft) addRun(of streamKey, at int64, metrics []namedValue) *stream {
	s := d.stream(of)
	r := run{at, d.values(metrics)}
	from := len(d.batch.journal)
	d.batch.journal = appendRun(d.batch.journal, s.id, r)
	d.runs = append(d.runs, streamRun{s, r, from, len(d.batch.journal)})
	return s
}

// stream returns the stream of this name, a new one if there is none.
func (d *draft) stream(key streamKey) *stream {
	if s := d.k.names.byKey[key]; s != nil {
		return s
	}
	if s := d.streams[key]; s != nil {
		return s
	}
	s := &stream{id: streamID(len(d.k.names.streams) + len(d.streams) + 1), key: key}
	d.streams[key] = s
	d.batch.streams = append(d.batch.streams, s)
	return s
}

// values puts numbers for names.
func (d *draft) values(named []namedValue) []value {
	if !d.shape.fits(named) {
		d.reshape(named)
	}
	values := make([]value, len(d.shape.sorted))
	for i, at := range d.shape.sorted {
		values[i] = value{d.shape.numbers[at], named[at].value, named[at].sketch}
	}
	return values
}

func (s *shape) fits(named []namedValue) bool {
	return slices.EqualFunc(named, s.names, func(v namedValue, name measure.Metric) bool { return v.name == name })
}

func (d *draft) reshape(named []namedValue) {
	d.shape = shape{}
	for i, v := range named {
		m, ok := d.metric(v.name)
		d.shape.names = append(d.shape.names, v.name)
		d.shape.numbers = append(d.shape.numbers, m)
		if ok {
			d.shape.sorted = append(d.shape.sorted, i)
		}
	}
	slices.SortFunc(d.shape.sorted, func(a, b int) int { return int(d.shape.numbers[a]) - int(d.shape.numbers[b]) })
}

// metric returns the number of a name, a new one if it has none. When there are no more numbers, which takes somebody
// who makes up names, the value is in its Result and in no series; so is a distribution before there is any metric.
func (d *draft) metric(name measure.Metric) (metricID, bool) {
	if m, ok := d.k.names.byName[name]; ok {
		return m, true
	}
	if m, ok := d.metrics[name]; ok {
		return m, true
	}
	next := len(d.k.names.metrics) + len(d.metrics)
	_, distribution := samplesOf(name)
	if next > math.MaxUint16 || distribution && next == 0 { // whose rows would have the key of those of all metrics
		return 0, false
	}
	m := metricID(next)
	d.metrics[name] = m
	d.newMetrics = append(d.newMetrics, name)
	d.batch.metrics = append(d.batch.metrics, m)
	d.batch.names = append(d.batch.names, string(name))
	return m, true
}
