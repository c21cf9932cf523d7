package iperf3

import (
	"time"

	"github.com/pathwise-net/pathwise/analysis/loadrate"
)

// meter counts what the receiver of a search reports, and its sub-intervals. The stream's mutex guards it.
type meter struct {
	headers int           // bytes of IP and UDP before each datagram
	least   time.Duration // of all transits, by clocks that may be apart
	errors  [3]int64      // that the tracker had counted: lost, reordered, duplicates
	now     part          // since the latest report
	parts   []part        // of loadrate.SubInterval each, since the start of the data
	last    time.Duration // when the latest datagram came
}

// part is what came in some time.
type part struct {
	bytes, packets int64
	errors         [3]int64
	least, most    time.Duration // transits
	sum            time.Duration
}

func (p *part) add(bytes, packets int64, errors [3]int64, transit time.Duration) {
	if p.packets == 0 || transit < p.least {
		p.least = transit
	}
	if p.packets == 0 || transit > p.most {
		p.most = transit
	}
	p.bytes, p.packets = p.bytes+bytes, p.packets+packets
	p.sum += transit * time.Duration(packets)
	for i, n := range errors {
		p.errors[i] += n
	}
}

// mean is the mean transit, of one packet at the least.
func (p *part) mean() time.Duration { return p.sum / time.Duration(max(1, p.packets)) }

// take counts datagrams that came at a time of the test, after the tracker has.
func (m *meter) take(at time.Duration, bytes, packets int, transit time.Duration, track *Tracker) {
	counted := [3]int64{track.Lost, track.Reordered, track.Duplicates}
	var more [3]int64
	for i := range counted {
		more[i] = counted[i] - m.errors[i]
	}
	m.errors = counted
	if len(m.parts) == 0 || transit < m.least {
		m.least = transit
	}
	m.last = max(m.last, at)
	whole := int64(bytes + packets*m.headers)
	m.now.add(whole, int64(packets), more, transit)
	i := int(max(0, at) / loadrate.SubInterval)
	if i > int(longestSearch/loadrate.SubInterval) {
		return
	}
	for len(m.parts) <= i {
		m.parts = append(m.parts, part{})
	}
	m.parts[i].add(whole, int64(packets), more, transit)
}

// report is what came since the latest one. A datagram that came late takes back a loss that an earlier report may have told.
func (m *meter) report() loadrate.Report {
	p := m.now
	m.now = part{}
	r := loadrate.Report{Packets: p.packets, Errors: max(0, p.errors[0]+p.errors[1]+p.errors[2])}
	if p.packets > 0 {
		r.Delay = p.mean() - m.least
	}
	return r
}

// wholeWithin is by how much of a sub-interval the latest datagram may have come before its end: it is taken as whole then.
const wholeWithin = loadrate.SubInterval / 100

// subIntervals are those that were over when the latest datagram came.
func (m *meter) subIntervals() (all []SubInterval) {
	for i := range min(len(m.parts), int((m.last+wholeWithin)/loadrate.SubInterval)) {
		p := &m.parts[i]
		one := SubInterval{Bytes: p.bytes, Packets: p.packets, Lost: max(0, p.errors[0]), Reordered: p.errors[1], Duplicates: p.errors[2]}
		if p.packets > 0 {
			one.LeastSeconds, one.MeanSeconds, one.MostSeconds = (p.least - m.least).Seconds(), (p.mean() - m.least).Seconds(), (p.most - m.least).Seconds()
		}
		all = append(all, one)
	}
	return all
}

// sendReports begins to report to the sender of a search, from the first datagram on; the returned function ends that.
func (t *transfer) sendReports(s *stream) (end func()) {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(loadrate.FeedbackTime)
		defer ticker.Stop()
		b := make([]byte, 0, reportSize)
		for number := uint32(1); ; {
			select {
			case <-stop:
				return
			case <-ticker.C:
			}
			s.mu.Lock()
			began, silent := s.meter.last > 0, t.elapsed()-s.meter.last > loadrate.SilenceTime
			if !began || silent {
				s.mu.Unlock()
				continue
			}
			report := s.meter.report()
			s.mu.Unlock()
			_, _ = s.conn.Write(putReport(b, t.params.search().Key, number, report)) // lost as any datagram may be
			number++
		}
	}()
	return func() { close(stop); <-done }
}
