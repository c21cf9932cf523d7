package export

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// RemoteStats say what a RemoteWriter has done since it was made, and what it has to do.
type RemoteStats struct {
	Sent    uint64        // samples that the receiver accepted
	Refused uint64        // samples that it will never accept, such as ones too old for it
	Failed  uint64        // requests that were or will be repeated
	Queued  int           // samples in memory
	Unsent  time.Duration // age of the oldest time of which something is not sent; 0: all is sent
}

// Stats says how it goes.
func (w *RemoteWriter) Stats() RemoteStats {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.counts
	s.Queued = w.queued
	if unsent := w.unsent(); len(unsent) > 0 {
		s.Unsent = max(0, w.o.Now().Sub(unsent[0].from.start()))
	}
	return s
}

func (w *RemoteWriter) count(change func(*RemoteStats)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.counts)
}

// remoteDescs are what a scrape shows of a RemoteWriter.
type remoteDescs struct {
	sent, refused, failed, queued, unsent *prometheus.Desc
}

func (w *RemoteWriter) describe() remoteDescs {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(prefix+"remote_write_"+name, help, nil, prometheus.Labels{"receiver": label(w.o.Name)})
	}
	return remoteDescs{
		sent:    desc("sent_samples_total", "Samples that the receiver accepted."),
		refused: desc("refused_samples_total", "Samples that the receiver will never accept, such as ones too old for it."),
		failed:  desc("failed_requests_total", "Requests that were or will be repeated."),
		queued:  desc("queued_samples", "Samples that wait in memory; what does not fit waits in the archive."),
		unsent:  desc("unsent_age_seconds", "Age of the oldest time of which something is not sent; 0 if all is."),
	}
}

// Describe tells which metrics Collect sends.
func (w *RemoteWriter) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(w, out) }

// Collect makes a RemoteWriter a prometheus.Collector, for Collector.Handler.
func (w *RemoteWriter) Collect(out chan<- prometheus.Metric) {
	s := w.Stats()
	counter(out, w.desc.sent, float64(s.Sent))
	counter(out, w.desc.refused, float64(s.Refused))
	counter(out, w.desc.failed, float64(s.Failed))
	gauge(out, w.desc.queued, float64(s.Queued))
	gauge(out, w.desc.unsent, s.Unsent.Seconds())
}
