package probe

import (
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/sock"
)

// fetchWatch is what the kernel said of a connection while a file came over it.
type fetchWatch struct {
	samples   []iperf3.Sample
	intervals []measure.Interval
	end       measure.TCPEnd
}

const (
	fetchSample   = 50 * time.Millisecond // between readings, as throughput has them
	fetchInterval = time.Second           // of the lines that people see
	mostFetched   = 2000                  // readings that are kept of a long run: some 2 MB of JSON
)

// watch reads TCP_INFO until the function that it returns is called, which reads once more and returns when nothing runs any more. enough
// is called once the goodput is known narrowly enough, where that was asked.
func (f *fetching) watch(enough func()) (end func()) {
	known := func([]iperf3.Sample) bool { return false }
	if f.Narrow > 0 {
		known = narrowly(f.Narrow)
	}
	w := &f.watched
	settings := sock.ReadTCPSettings()
	w.end = measure.TCPEnd{End: measure.Receiver, Direction: measure.Reverse, Stream: 1, Settings: settingsOf(&settings)}
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		sample, interval := time.NewTicker(max(fetchSample, f.Duration/mostFetched)), time.NewTicker(fetchInterval)
		defer sample.Stop()
		defer interval.Stop()
		w.read(f)
		for {
			select {
			case <-sample.C:
				w.read(f)
				if known(w.samples) {
					enough()
				}
			case <-interval.C:
				w.report(f)
			case <-stop:
				return
			}
		}
	})
	return func() {
		close(stop)
		running.Wait()
		w.read(f)
		w.report(f)
		if name, err := sock.Congestion(f.raw); err == nil {
			w.end.CongestionControl = name
		}
	}
}

// read takes one reading.
func (w *fetchWatch) read(f *fetching) {
	values, err := sock.ReadTCPValues(f.raw)
	if err != nil {
		return
	}
	w.end.ReceiveBufferBytes, w.end.SendBufferBytes = int(values["receive_buffer_bytes"]), int(values["send_buffer_bytes"])
	w.end.MSSBytes = int(values["rcv_mss_bytes"])
	s := iperf3.Sample{Stream: 1, Elapsed: time.Since(f.began).Seconds(), Values: values}
	w.samples = append(w.samples, s)
	if f.OnReading != nil {
		f.OnReading(fetchReading(s))
	}
}

// report closes the interval that runs. A rest that is shorter than a tenth says nothing of the rate.
func (w *fetchWatch) report(f *fetching) {
	i := measure.Interval{Stream: 1, Direction: measure.Reverse, End: measure.Receiver, EndSeconds: time.Since(f.began).Seconds(), Bytes: f.received.Load()}
	for _, before := range w.intervals {
		i.StartSeconds = before.EndSeconds
		i.Bytes -= before.Bytes
	}
	long := i.EndSeconds - i.StartSeconds
	if long < fetchInterval.Seconds()/10 {
		return
	}
	i.BitsPerSecond = float64(i.Bytes) * 8 / long
	w.intervals = append(w.intervals, i)
	if f.OnInterval != nil {
		f.OnInterval(i)
	}
}

func (w *fetchWatch) fill(r *measure.Result) {
	if len(w.samples) == 0 {
		return
	}
	for _, s := range w.samples {
		r.Samples.TCPInfo = append(r.Samples.TCPInfo, fetchReading(s))
	}
	r.Samples.Intervals = w.intervals
	w.end.Host = r.Source.Name
	r.Samples.Ends = append(r.Samples.Ends, w.end)
}

// fetchReading is a reading of the end that receives.
func fetchReading(s iperf3.Sample) measure.TCPSample {
	return measure.TCPSample{End: measure.Receiver, Direction: measure.Reverse, Stream: s.Stream, ElapsedSeconds: s.Elapsed, Values: s.Values}
}
