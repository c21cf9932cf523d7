package archive

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
)

// filing is one Result made ready for the writer, on its caller's goroutine.
type filing struct {
	id      ulid.ULID
	stream  streamKey
	time    int64 // ns since 1970
	status  byte
	samples bool // it has any
	line    []byte
	metrics []namedValue // by name; those of the stream
	other   *otherWay    // nil: all metrics are of the stream
}

// otherWay is what a Result says of the other way between its ends.
type otherWay struct {
	stream  streamKey
	metrics []namedValue
}

// namedValue is a metric or, under a distributionName, a distribution.
type namedValue struct {
	name   measure.Metric
	value  float64
	sketch []byte // of a distribution, as stat.Sketch writes it; nil: it is a metric
}

// statuses are the values of Result.Status; the database holds the index of one.
var statuses = []measure.Status{measure.StatusOK, measure.StatusPartial, measure.StatusFailed}

// lineBytes is room for a Result without samples.
const lineBytes = 1024

// Bounds of what is filed: names that a person can read, and times that fit into nanoseconds.
const (
	longestName = 256
	mostMetrics = 1000
)

var latestTime = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)

// newFiling checks a Result and, where it is to be kept whole, encodes it.
func (k *keeper) newFiling(r *measure.Result, names *sorter) (filing, error) {
	if r == nil {
		return filing{}, &Invalid{"", "result", "null", "a result"}
	}
	f := filing{stream: keyOf(r), time: r.Started.UnixNano()}
	invalid := func(field, value, want string) (filing, error) { return filing{}, &Invalid{r.ID, field, value, want} }
	var err error
	if f.id, err = ulid.ParseStrict(r.ID); err != nil {
		return invalid("id", r.ID, "a ULID of 26 characters")
	}
	if r.Schema != measure.ResultSchema {
		return invalid("schema", r.Schema, measure.ResultSchema)
	}
	if r.Kind == "" {
		return invalid("kind", "", "what was measured, such as ping")
	}
	if r.Way != "" && r.Way != measure.Forward && r.Way != measure.Reverse && r.Way != measure.Both {
		return invalid("way", string(r.Way), "forward, reverse, both or none")
	}
	if r.Subject != nil {
		if r.Subject.Validate() != nil {
			return invalid("subject", r.Subject.String(), "an interface, flow, class, hop or device with a name")
		}
	}
	if r.Started.Before(time.Unix(0, 0)) || !r.Started.Before(latestTime) {
		return invalid("started", r.Started.Format(time.RFC3339), "a time from 1970 to 2199")
	}
	status := slices.Index(statuses, r.Status)
	if status < 0 {
		return invalid("status", string(r.Status), "ok, partial or failed")
	}
	f.status = byte(status)
	for _, n := range [...]struct{ field, name string }{{"source", f.stream.source}, {"target", f.stream.target},
		{"test", r.Test},
		{"tool", r.Tool}, {"kind", r.Kind}, {"role", string(r.Role)}, {"subject", f.stream.subject}} {
		if !fits(n.name) {
			return invalid(n.field, n.name, fmt.Sprintf("at most %d characters without control characters", longestName))
		}
	}
	if len(r.Metrics) > mostMetrics {
		return invalid("metrics", strconv.Itoa(len(r.Metrics)), fmt.Sprintf("at most %d", mostMetrics))
	}
	if f.metrics, err = names.metrics(r); err != nil {
		return filing{}, err
	}
	f.samples = hasSamples(&r.Samples)
	if k.keeps(f.stream.tool).Results != Never {
		if f.line, err = appendResult(make([]byte, 0, lineBytes), r, f.metrics); err != nil {
			return invalid("result", err.Error(), "what JSON can hold")
		}
	}
	distributions, err := distributionsIn(r)
	if err != nil {
		return filing{}, err
	}
	f.metrics = append(f.metrics, distributions...)
	f.divide(r.Way)
	return f, nil
}

// divide divides the metrics of a Result as measure.Result.Parts does.
func (f *filing) divide(way measure.Way) {
	if way != measure.Reverse && way != measure.Both {
		return
	}
	var there, back []namedValue
	for _, m := range f.metrics {
		if as, isBack := on(m.name, way); isBack {
			back = append(back, namedValue{as, m.value, m.sketch})
		} else {
			there = append(there, m)
		}
	}
	switch {
	case way == measure.Both:
		f.metrics, f.other = there, &otherWay{f.stream.back(), back}
	case len(there) > 0:
		f.metrics, f.other = back, &otherWay{f.stream.back(), there}
	}
}

// metricsIn returns the metrics of a Result by name.
func metricsIn(r *measure.Result) ([]namedValue, error) { return new(sorter).metrics(r) }

// valuesIn returns the metrics and the distributions of a Result, each by name.
func valuesIn(r *measure.Result) ([]namedValue, error) {
	metrics, err := metricsIn(r)
	if err != nil {
		return nil, err
	}
	distributions, err := distributionsIn(r)
	return append(metrics, distributions...), err
}

// sorter knows the metrics of the last Result in order of their names: the next one mostly has the same.
type sorter struct{ names []measure.Metric }

func (s *sorter) metrics(r *measure.Result) ([]namedValue, error) {
	metrics := make([]namedValue, 0, len(r.Metrics))
	for _, name := range s.names {
		if v, has := r.Metrics[name]; has {
			metrics = append(metrics, namedValue{name: name, value: v})
		}
	}
	if len(metrics) < len(r.Metrics) {
		s.names, metrics = slices.Sorted(maps.Keys(r.Metrics)), metrics[:0]
		for _, name := range s.names {
			metrics = append(metrics, namedValue{name: name, value: r.Metrics[name]})
		}
	}
	for _, m := range metrics {
		if math.IsNaN(m.value) || math.IsInf(m.value, 0) {
			return nil, &Invalid{r.ID, string(m.name), strconv.FormatFloat(m.value, 'g', -1, 64),
				"a number; leave out what was not measured"}
		}
		if _, reserved := samplesOf(m.name); m.name == "" || reserved || !fits(string(m.name)) {
			return nil, &Invalid{r.ID, "metric", string(m.name), fmt.Sprintf("a name of at most %d characters", longestName)}
		}
	}
	return metrics, nil
}

// fits tells whether a name can stand in a list: control characters would break lines, and zero bytes end text in SQL.
func fits(name string) bool {
	plain := true
	for i := range len(name) {
		plain = plain && name[i] >= ' ' && name[i] < 0x7f
	}
	if !plain {
		plain = !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError })
	}
	return plain && len(name) <= longestName
}

func hasSamples(s *measure.Samples) bool {
	return !reflect.ValueOf(s).Elem().IsZero() // whatever fields it has by now
}
