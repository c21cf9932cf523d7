package web

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/measure"
)

// matrixDoc is one metric between all hosts of the mesh. Its lists of numbers are of n x n, row by row: the row is the source, the
// column the target, as in hosts; null stands where nothing was measured.
type matrixDoc struct {
	Metric   measure.Metric `json:"metric"`
	Unit     string         `json:"unit"`
	Better   measure.Better `json:"better" doc:"low, high, or empty where neither is to be wished for"`
	From     time.Time      `json:"from" doc:"Where the span really begins: of many hosts, at a full hour"`
	To       time.Time      `json:"to" doc:"Where it really ends"`
	Hosts    []matrixHost   `json:"hosts" doc:"By site and name"`
	Values   numbers        `json:"values" doc:"Of the span: the median; of a quantile of samples, such as rtt_p95_seconds, that of the samples of all runs; of a ratio of counts, such as loss, the sum of the one by the sum of the other; of another ratio the mean; of outages how many in all; of what is the longest or largest of a run, the most"`
	Counts   []uint64       `json:"counts" doc:"How many values that is of"`
	Baseline *baselineDoc   `json:"baseline,omitempty" doc:"None of what a longer span has more of, such as outages"`
}

type matrixHost struct {
	Name string `json:"name"`
	Site string `json:"site,omitempty"`
}

// baselineDoc is what each pair's own past was like.
type baselineDoc struct {
	From   time.Time `json:"from" doc:"Where it really begins: of many hosts, at midnight UTC"`
	To     time.Time `json:"to"`
	Low    numbers   `json:"low" doc:"The 5th percentile of runs; no more than median"`
	Median numbers   `json:"median" doc:"Or what stands for it, as in values"`
	High   numbers   `json:"high" doc:"The 95th percentile of runs; no less than median"`
}

type matrixInput struct {
	Metric   string `query:"metric" required:"true" minLength:"1" example:"rtt_median_seconds"`
	At       moment `query:"at" doc:"The end of the span; now, where none is given"`
	Within   length `query:"span" doc:"How long the span is; 1h, where none is given"`
	Baseline length `query:"baseline" doc:"How much of the past before the span to compare with; none, where none is given"`
	Test     string `query:"test" doc:"Names of tests, as a pattern"`
	Tool     string `query:"tool" doc:"Names of tools, as a pattern"`
	PlannedRole
	OfSubject
}

const (
	// manyHosts have so many pairs that what they measured is read from rollups of hours and days alone, and what was on past
	// days is not worked out anew all day.
	manyHosts = 40
	// matrixGrain is where spans begin otherwise.
	matrixGrain = 5 * time.Minute
	// matrixAge is how old an answer about now may be, so that many viewers cost no more than one.
	matrixAge = 15 * time.Second
)

func (s *Server) matrix(ctx context.Context, in *matrixInput) (*huma.StreamResponse, error) {
	within := cmp.Or(in.Within.Duration, time.Hour)
	soon := time.Now().Truncate(matrixAge).Add(matrixAge) // the same for all who ask about now, or about so long ago
	to := in.At.At(soon)
	if in.At.IsZero() {
		to = soon
	}
	name := fmt.Sprintf("%q %s %v %v %q %q %q %q", in.Metric, to.UTC().Format(time.RFC3339Nano), within, in.Baseline, in.Test, in.Tool,
		in.Role, in.Subject)
	one, err := s.matrices.get(ctx, name, time.Now(), func(ctx context.Context) (*drawing, error) {
		doc, err := s.matrixOf(ctx, in, to, within)
		if err != nil {
			return nil, err
		}
		return draw(doc)
	})
	if err != nil {
		return nil, fault(err)
	}
	return one.answer(), nil
}

// matrixOf makes the document of a matrix whose span ends at a time.
func (s *Server) matrixOf(ctx context.Context, in *matrixInput, to time.Time, within time.Duration) (*matrixDoc, error) {
	m := newMatrix(s.Control.Mesh())
	from, to := matrixSpan(to, within, len(m.hosts))
	metric := measure.Metric(in.Metric)
	doc := matrixDoc{Metric: metric, Unit: metric.Unit(), Better: metric.Better(), From: from, To: to, Hosts: m.hosts}
	query := archive.MatrixQuery{Match: archive.Match{Test: in.Test, Tool: in.Tool, Role: in.Role, Subject: in.Subject, Metric: in.Metric},
		From: from, To: to}
	cells, err := s.Archive.Matrix(ctx, query)
	if err != nil {
		return nil, err
	}
	doc.Values, doc.Counts = m.values(cells), m.counts(cells)
	if in.Baseline.Duration > 0 && !metric.Merge().Grows() {
		query.From, query.To = pastSpan(from, in.Baseline.Duration, len(m.hosts))
		query.Quantiles = []float64{0.05, 0.95}
		if cells, err = s.Archive.Matrix(ctx, query); err != nil {
			return nil, err
		}
		doc.Baseline = &baselineDoc{query.From, query.To, m.edge(cells, 0, math.Min), m.values(cells), m.edge(cells, 1, math.Max)}
	}
	return &doc, nil
}

// matrixSpan is the span that is drawn where one that ends at a time is asked for: between many hosts, all hours that it
// touches.
func matrixSpan(to time.Time, within time.Duration, hosts int) (from, end time.Time) {
	from, to = to.Add(-within).UTC(), to.UTC()
	if hosts < manyHosts || within < time.Hour {
		return from.Truncate(matrixGrain), to
	}
	return from.Truncate(time.Hour), to.Add(time.Hour - 1).Truncate(time.Hour)
}

// pastSpan is what a span that begins at a time is compared with: between many hosts, days that are over.
func pastSpan(to time.Time, within time.Duration, hosts int) (from, end time.Time) {
	const day = 24 * time.Hour
	if hosts < manyHosts || within < day {
		return to.Add(-within).Truncate(matrixGrain), to
	}
	to = to.Truncate(day)
	return to.Add(-within).Truncate(day), to
}

// matrixOf are the hosts of a matrix, and where each stands in it.
type matrixOf struct {
	hosts []matrixHost
	at    map[string]int
}

func newMatrix(mesh *config.Mesh) *matrixOf {
	m := &matrixOf{hosts: make([]matrixHost, 0, len(mesh.Hosts)), at: map[string]int{}}
	for _, h := range mesh.Hosts {
		m.hosts = append(m.hosts, matrixHost{h.Name, h.Site})
	}
	slices.SortStableFunc(m.hosts, func(a, b matrixHost) int {
		return slices.Compare([]string{a.Site, a.Name}, []string{b.Site, b.Name})
	})
	for i, h := range m.hosts {
		m.at[h.Name] = i
	}
	return m
}

// index returns where a pair stands; -1: one of its ends is not of the mesh any more.
func (m *matrixOf) index(p archive.Pair) int {
	source, one := m.at[p.Source]
	target, two := m.at[p.Target]
	if !one || !two {
		return -1
	}
	return source*len(m.hosts) + target
}

func (m *matrixOf) values(cells []archive.Cell) numbers {
	return m.numbers(cells, func(c *archive.Cell) float64 { return c.Value })
}

// edge is a quantile of runs, but not beyond what stands for them all: the most that any packet took is above what runs mostly had
// for their most.
func (m *matrixOf) edge(cells []archive.Cell, of int, beyond func(a, b float64) float64) numbers {
	return m.numbers(cells, func(c *archive.Cell) float64 {
		if c.Samples > 0 {
			return beyond(c.Quantiles[of], c.Value)
		}
		return c.Quantiles[of]
	})
}

func (m *matrixOf) numbers(cells []archive.Cell, of func(*archive.Cell) float64) numbers {
	all := make(numbers, len(m.hosts)*len(m.hosts))
	for i := range all {
		all[i] = math.NaN()
	}
	for i := range cells {
		if at := m.index(cells[i].Pair); at >= 0 {
			all[at] = of(&cells[i])
		}
	}
	return all
}

func (m *matrixOf) counts(cells []archive.Cell) []uint64 {
	all := make([]uint64, len(m.hosts)*len(m.hosts))
	for i := range cells {
		if at := m.index(cells[i].Pair); at >= 0 {
			all[at] = cells[i].Count
		}
	}
	return all
}
