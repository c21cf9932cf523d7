package export

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/pathwise-net/pathwise/measure"
)

// What a Collector shows beside the metrics of Results.
var (
	streamLabels = []string{"role", "source", "target", "test", "tool", "way"}

	descResults = prometheus.NewDesc(prefix+"results_total",
		"Results that were filed since the controller started, by status.", []string{"status", "tool"}, nil)
	descMissed = prometheus.NewDesc(prefix+"runs_missed_total",
		"Planned runs that did not take place, since the controller started.", []string{"tool"}, nil)
	descLeftOut = prometheus.NewDesc(prefix+"results_left_out_total",
		"Results that are not shown here because there are too many series.", nil, nil)
)

// Handler answers scrapes: with what c shows, the Go runtime and the process, and what others show, such as a
// RemoteWriter.
func (c *Collector) Handler(others ...prometheus.Collector) (http.Handler, error) {
	registry := prometheus.NewRegistry()
	all := append([]prometheus.Collector{
		c, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	}, others...)
	for _, one := range all {
		if err := registry.Register(one); err != nil {
			return nil, fmt.Errorf("register collector: %w", err)
		}
	}
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog:      slog.NewLogLogger(c.opts.Log.Handler(), slog.LevelError),
		ErrorHandling: promhttp.ContinueOnError, // one series that cannot be shown must not hide all
	}), nil
}

// Describe tells nothing: which metrics there are is known when they are measured.
func (c *Collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends what there is to show now.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	streams, counted := c.snapshot()
	plain, ofSubjects := streamDescs{labels: streamLabels}, streamDescs{labels: append(slices.Clip(streamLabels), "subject")}
	for s, l := range streams {
		descs, labels := &plain, []string{s.role, s.source, s.target, s.test, s.tool, string(l.way)}
		if s.subject != "" {
			descs, labels = &ofSubjects, append(labels, s.subject)
		}
		show := func(name, help string, v float64) { gauge(out, descs.of(name, help), v, labels...) }
		show("result_timestamp_seconds", "When the last measurement began, in Unix time.", float64(l.at.UnixNano())/1e9)
		if l.status != "" {
			show(resultOK, "Whether the last measurement came out whole: 1, or 0 if it was partial or failed.", okValue(l.status))
		}
		for _, v := range l.values {
			show(string(v.metric), help(v.metric), v.value)
		}
	}
	counted.collect(out)
	if c.opts.State != nil {
		c.opts.State().collect(out)
	}
	collectBuild(out, c.opts.Version)
}

// streamDescs are what metrics of streams with the same labels are called, each made once.
type streamDescs struct {
	labels []string
	known  map[string]*prometheus.Desc
}

func (d *streamDescs) of(name, help string) *prometheus.Desc {
	desc := d.known[name]
	if desc == nil {
		if d.known == nil {
			d.known = map[string]*prometheus.Desc{}
		}
		desc = prometheus.NewDesc(prefix+name, help, d.labels, nil)
		d.known[name] = desc
	}
	return desc
}

func okValue(s measure.Status) float64 {
	if s == measure.StatusOK {
		return 1
	}
	return 0
}

// collect shows each status of a tool from its first Result on, so that a first failure is an increase from 0.
func (n counts) collect(out chan<- prometheus.Metric) {
	tools := map[string]bool{}
	for o := range n.results {
		tools[o.tool] = true
	}
	for tool := range tools {
		for _, status := range []measure.Status{measure.StatusOK, measure.StatusPartial, measure.StatusFailed} {
			counter(out, descResults, float64(n.results[outcome{tool, status}]), string(status), tool)
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(n.missed)) {
		counter(out, descMissed, float64(n.missed[tool]), tool)
	}
	counter(out, descLeftOut, float64(n.leftOut))
}

func (n counts) clone() counts {
	return counts{maps.Clone(n.results), maps.Clone(n.missed), n.leftOut}
}

func gauge(out chan<- prometheus.Metric, desc *prometheus.Desc, v float64, labels ...string) {
	out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, v, labels...)
}

func counter(out chan<- prometheus.Metric, desc *prometheus.Desc, v float64, labels ...string) {
	out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, v, labels...)
}
