package analysis

import (
	"cmp"
	"math"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// Tool is how a tool measured a metric of one pair: what it found, how much its runs differ, how far it is from the reference, and what a run cost.
// These are criteria by which GridNM (2002) wants tools compared: accuracy, time, and how much a tool disturbs.
type Tool struct {
	Tool   string         `json:"tool"`
	Kind   string         `json:"kind"` // of probe
	Metric measure.Metric `json:"metric"`
	Runs   int            `json:"runs"`   // that have the metric
	Failed int            `json:"failed"` // that measured nothing; runs that measured other metrics alone count for neither
	Median float64        `json:"median"`
	Low    float64        `json:"low"` // the quarter of the runs below, and above
	High   float64        `json:"high"`
	// Spread is the distance from Low to High over the median; 0 of one run.
	Spread float64 `json:"spread_ratio"`
	// Deviation is the median over the reference's, less 1; nil: there is no reference, or it is 0 or of another unit.
	Deviation *float64 `json:"deviation_ratio"`
	Reference bool     `json:"reference"`
	Seconds   float64  `json:"seconds"` // that a run took, the median
	Bytes     *float64 `json:"bytes"`   // that a run moved, the median, over both ways; nil: its runs do not tell
}

// CompareTools compares the tools that have one of the metrics in Results of a pair and a way, those that cost least bytes first and those whose cost is not
// known last. The reference is the tool of that name, by the first of the metrics that it has; "": the tool with most runs that has the first of all metrics.
// Results of several tests, such as sweeps, are left out: they are not of one.
func CompareTools(results []*measure.Result, metrics []measure.Metric, reference string) []Tool {
	type key struct {
		tool, kind string
	}
	runs := map[key][]*measure.Result{}
	for _, r := range results {
		if r.Samples.Sweep == nil && len(r.Samples.Beside) == 0 && len(r.Samples.Trials) == 0 {
			of := key{cmp.Or(r.Tool, r.Kind), r.Kind}
			runs[of] = append(runs[of], r)
		}
	}
	tools := []Tool{}
	for of, all := range runs {
		for _, m := range metrics {
			if t := toolOf(all, m); t.Runs > 0 {
				t.Tool, t.Kind, t.Metric = of.tool, of.kind, m
				tools = append(tools, t)
			}
		}
	}
	slices.SortFunc(tools, func(a, b Tool) int {
		return cmp.Or(cmp.Compare(unknownLast(a.Bytes), unknownLast(b.Bytes)), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(slices.Index(metrics, a.Metric), slices.Index(metrics, b.Metric)))
	})
	if at := referenceOf(tools, metrics, reference); at >= 0 {
		tools[at].Reference = true
		deviate(tools, tools[at])
	}
	return tools
}

// toolOf is what the runs of one tool come to.
func toolOf(results []*measure.Result, m measure.Metric) (t Tool) {
	var figures, seconds, bytes []float64
	for _, r := range results {
		v, has := r.Get(m)
		if !has {
			if r.Status == measure.StatusFailed {
				t.Failed++
			}
			continue
		}
		figures, seconds = append(figures, v), append(seconds, r.DurationSeconds)
		if n, told := Moved(r); told {
			bytes = append(bytes, n)
		}
	}
	if t.Runs = len(figures); t.Runs == 0 {
		return t
	}
	for _, all := range [][]float64{figures, seconds, bytes} {
		slices.Sort(all)
	}
	t.Median, t.Low, t.High = finite(stat.Median(figures)), finite(stat.Quantile(figures, 0.25)), finite(stat.Quantile(figures, 0.75))
	t.Seconds = finite(stat.Median(seconds))
	if t.Median > 0 {
		t.Spread = finite((t.High - t.Low) / t.Median)
	}
	if len(bytes) > 0 {
		median := finite(stat.Median(bytes))
		t.Bytes = &median
	}
	return t
}

// referenceOf is where the reference is; -1: there is none.
func referenceOf(tools []Tool, metrics []measure.Metric, name string) int {
	at := -1
	for i, t := range tools {
		switch {
		case name == "" && t.Metric != metrics[0], name != "" && t.Tool != name:
		case at < 0, name == "" && t.Runs > tools[at].Runs, name != "" && slices.Index(metrics, t.Metric) < slices.Index(metrics, tools[at].Metric):
			at = i
		}
	}
	return at
}

func deviate(tools []Tool, from Tool) {
	if from.Median <= 0 {
		return
	}
	for i, t := range tools {
		if t.Metric.Unit() == from.Metric.Unit() {
			by := finite(t.Median/from.Median - 1)
			tools[i].Deviation = &by
		}
	}
}

// finite is a number as near as one that JSON can hold: a Result of who wants harm has figures that no test brings.
func finite(v float64) float64 { return max(-math.MaxFloat64, min(v, math.MaxFloat64)) }

func unknownLast(bytes *float64) float64 {
	const most = 1e300
	if bytes == nil {
		return most
	}
	return *bytes
}

const (
	// trainPayload is the payload of packets of trains in bytes where a Result does not say, and trainHeaders what IP and UDP add.
	trainPayload, trainHeaders = 1452, 28
)

// Moved is how many bytes a Result's test moved over both ways, as far as it tells: payload of transfers, with what TCP sent again; packets of trains and streams. It is
// false where it does not tell.
func Moved(r *measure.Result) (bytes float64, told bool) {
	for _, of := range [][2]measure.Metric{{measure.SentBytes, measure.ReceivedBytes}, {measure.ReverseSentBytes, measure.ReverseReceivedBytes}} {
		sent, known := r.Get(of[0])
		received, came := r.Get(of[1])
		bytes, told = finite(bytes+max(sent, received)), told || known || came
	}
	bytes = finite(bytes + r.Metrics[measure.RetransmittedBytes])
	payload, given := r.Parameters["length"].(float64)
	if r.Kind != "capacity" || !given {
		payload = trainPayload
	}
	for _, t := range r.Samples.Trains {
		bytes, told = finite(bytes+finite(float64(t.SentPackets)*(payload+trainHeaders))), true
	}
	if c := r.Samples.Capacity; c != nil {
		for _, s := range c.Streams {
			bytes, told = finite(bytes+finite(s.BitsPerSecond*s.Seconds/8)), true
		}
	}
	return bytes, told
}
