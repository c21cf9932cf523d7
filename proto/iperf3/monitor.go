package iperf3

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/sock"
)

// IntervalReport is what one stream, or all of a direction together (Stream 0), moved in one interval. Streams have
// reports of their own only if a direction has several. Seconds count from the start of the data, with the omitted part.
type IntervalReport struct {
	Stream        int
	Direction     string // Forward or Reverse
	Sender        bool   // counted by the sender, as bytes acknowledged; else by the receiver, as bytes read
	StartSeconds  float64
	EndSeconds    float64
	Bytes         int64
	BitsPerSecond float64
	Retransmits   *int64 // nil: not known
	Packets, Lost int64  // UDP receivers
	Jitter        float64
	Omitted       bool
}

// Directions of data.
const (
	Forward = "forward" // from the client to the server
	Reverse = "reverse"
)

func direction(forward bool) string {
	if forward {
		return Forward
	}
	return Reverse
}

// CPU is how much of one core this process used, as a ratio; with several tests in one process, all together.
type CPU struct{ Total, User, System float64 }

// maxSamples bounds the TCP_INFO samples kept at one end: 4096 of some 50 values are 10 MB. When they are full every
// second tick is dropped, and from then on only every second one is taken.
const maxSamples = 4096

// monitor looks at the streams of a transfer while it runs: TCP_INFO samples, intervals, the end of the omitted part.
type monitor struct {
	interval, every, omit time.Duration // not positive: none
	onInterval            func(IntervalReport)
	enough                func([]Sample) bool // nil: never
	satisfied             chan struct{}       // closed when enough was said; nil: it never is

	samples   []Sample
	intervals []IntervalReport
	cpu       CPU
	counted   func() sock.Counts // what the kernel counted of trouble since the data began
	trouble   sock.Counts        // that, once the monitor ended

	t        *transfer
	tick     int // of sampling
	step     int // every how many ticks a sample is taken
	ticks    []int
	previous []reading
	since    time.Duration
	omitting bool
	usage    unix.Rusage
	stop     chan struct{}
	done     chan struct{}
}

func (m *monitor) begin(t *transfer) {
	m.t, m.step, m.omitting = t, 1, m.omit > 0
	m.stop, m.done = make(chan struct{}), make(chan struct{})
	m.previous = make([]reading, len(t.streams))
	_ = unix.Getrusage(unix.RUSAGE_SELF, &m.usage) // cannot fail with these arguments
	m.counted = countTrouble(t.streams[0])
	go m.run()
}

func (m *monitor) run() {
	defer close(m.done)
	defer func() { m.trouble = m.counted() }()
	var sample, interval, omit <-chan time.Time
	if m.every > 0 && m.t.streams[0].tcp != nil {
		ticker := time.NewTicker(m.every)
		defer ticker.Stop()
		sample = ticker.C
		m.sample()
	}
	if m.interval > 0 {
		ticker := time.NewTicker(m.interval)
		defer ticker.Stop()
		interval = ticker.C
	}
	if m.omitting {
		timer := time.NewTimer(m.omit)
		defer timer.Stop()
		omit = timer.C
	}
	for {
		select {
		case <-sample:
			m.sample()
			if m.enough != nil && m.enough(m.samples) {
				m.enough = nil
				close(m.satisfied)
			}
		case <-interval:
			m.report()
		case <-omit:
			m.report()
			m.omitting = false
			m.t.endOmit()
		case <-m.stop:
			return
		}
	}
}

// end takes the last sample and interval and returns when nothing runs any more. It may be called again.
func (m *monitor) end() {
	select {
	case <-m.stop:
		return
	default:
	}
	close(m.stop)
	<-m.done
	if m.every > 0 && m.t.streams[0].tcp != nil {
		m.tick = 0 // taken whatever the step is
		m.sample()
	}
	if m.interval > 0 && m.t.elapsed()-m.since > m.interval/10 { // a shorter rest says nothing of the rate
		m.report()
	}
	var now unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &now)
	wall := m.t.elapsed().Seconds()
	m.cpu.User = float64(now.Utime.Nano()-m.usage.Utime.Nano()) / 1e9 / wall
	m.cpu.System = float64(now.Stime.Nano()-m.usage.Stime.Nano()) / 1e9 / wall
	m.cpu.Total = m.cpu.User + m.cpu.System
}

// sample reads TCP_INFO of each stream.
func (m *monitor) sample() {
	defer func() { m.tick++ }()
	if m.tick%m.step != 0 {
		return
	}
	now := m.t.elapsed().Seconds()
	for _, s := range m.t.streams {
		if values, err := sock.ReadTCPValues(s.raw); err == nil {
			m.samples = append(m.samples, Sample{Stream: s.index + 1, Sender: s.sender, Elapsed: now, Values: values})
			m.ticks = append(m.ticks, m.tick)
		}
	}
	if len(m.samples) > maxSamples {
		m.thin()
	}
}

// thin drops every second of the ticks that were sampled.
func (m *monitor) thin() {
	m.step *= 2
	kept := 0
	for i, tick := range m.ticks {
		if tick%m.step == 0 {
			m.samples[kept], m.ticks[kept] = m.samples[i], tick
			kept++
		}
	}
	m.samples, m.ticks = slices.Delete(m.samples, kept, len(m.samples)), m.ticks[:kept]
}

// report closes the interval that runs.
func (m *monitor) report() {
	now := m.t.elapsed()
	sums := map[bool]*IntervalReport{}
	for i, s := range m.t.streams {
		r, err := s.read()
		if err != nil {
			continue
		}
		one := m.one(s, m.previous[i], r, now)
		m.previous[i] = r
		if m.t.params.Parallel > 1 {
			m.emit(one)
		}
		one.Stream = 0
		if sum := sums[s.forward]; sum != nil {
			sum.add(one)
		} else {
			sums[s.forward] = &one
		}
	}
	for _, forward := range []bool{true, false} {
		if sum := sums[forward]; sum != nil {
			m.emit(*sum)
		}
	}
	m.since = now
}

func (m *monitor) one(s *stream, before, after reading, now time.Duration) IntervalReport {
	r := IntervalReport{
		Stream: s.index + 1, Direction: direction(s.forward), Sender: s.sender,
		StartSeconds: m.since.Seconds(), EndSeconds: now.Seconds(), Bytes: after.bytes - before.bytes,
		Packets: after.packets - before.packets, Lost: after.lost - before.lost, Jitter: after.jitter.Seconds(),
		Omitted: m.omitting,
	}
	if after.retransmits >= 0 {
		more := after.retransmits - max(0, before.retransmits)
		r.Retransmits = &more
	}
	r.BitsPerSecond = float64(r.Bytes) * 8 / (r.EndSeconds - r.StartSeconds)
	return r
}

// add joins another stream's report of the same interval and direction.
func (r *IntervalReport) add(o IntervalReport) {
	r.Bytes += o.Bytes
	r.BitsPerSecond += o.BitsPerSecond
	r.Packets += o.Packets
	r.Lost += o.Lost
	r.Jitter = max(r.Jitter, o.Jitter)
	if r.Retransmits != nil && o.Retransmits != nil {
		sum := *r.Retransmits + *o.Retransmits
		r.Retransmits = &sum
	}
}

func (m *monitor) emit(r IntervalReport) {
	m.intervals = append(m.intervals, r)
	if m.onInterval != nil {
		m.onInterval(r)
	}
}
