package probe

import (
	"math"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/analysis/passage"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/owamp"
	"github.com/pathwise-net/pathwise/stat"
)

// By OWAMP (RFC 4656) each way has packets of its own, which nobody reflects: there is no round trip. The far end keeps the records of those that it
// received, and sends others by the same schedule.

// oneWayPacket is a packet that went one way. Times are by the clocks of its ends.
type oneWayPacket struct {
	seq      int
	sent     time.Time
	received time.Time // the zero value: lost
	ttl      int       // on arrival; 0: not known
	copies   int       // arrivals after the first
}

func (p *oneWayPacket) delay() float64 {
	if p.received.IsZero() {
		return stat.Lost
	}
	return p.received.Sub(p.sent).Seconds()
}

// echo is the packet as a sample of a Result that began at a time.
func (p *oneWayPacket) echo(way string, began time.Time) measure.Echo {
	e := measure.Echo{Seq: p.seq, Way: way, SentSeconds: p.sent.Sub(began).Seconds(), Duplicates: p.copies}
	if p.received.IsZero() {
		return e
	}
	delay := p.delay()
	if e.TTL = p.ttl; way == measure.Forward {
		e.ForwardSeconds = &delay
	} else {
		e.ReverseSeconds = &delay
	}
	return e
}

// oneWaySession is what came of the packets of one way.
type oneWaySession struct {
	packets []oneWayPacket // that were sent, in that order
	order   []uint64       // numbers of those that came, in the order of arrival
	known   bool           // the session came to its end: of others, what was sent after the last that came is not in it
}

// recordPacket is a record as a packet. left are when this host's kernel says that packets left, by number.
func recordPacket(r owamp.Record, left []control.Timestamp) oneWayPacket {
	p := oneWayPacket{seq: int(r.Sequence), sent: moment(r.Sent, r.SentError)}
	if p.seq < len(left) && left[p.seq] != 0 {
		p.sent = left[p.seq].Time()
	}
	if !r.Lost() {
		p.received = moment(r.Received, r.ReceivedError)
		if r.TTL != noTTL {
			p.ttl = int(r.TTL)
		}
	}
	return p
}

// sessionOf reads a session; nil is one that nothing is known of.
func sessionOf(s *owamp.Session, left []control.Timestamp) oneWaySession {
	if s == nil {
		return oneWaySession{}
	}
	found := map[int]oneWayPacket{}
	w := oneWaySession{known: s.Finished}
	next := 0
	for _, r := range s.Records {
		p := recordPacket(r, left)
		first, again := found[p.seq]
		switch came := !p.received.IsZero(); {
		case came:
			w.order = append(w.order, uint64(p.seq))
			next = max(next, p.seq+1)
			if again && !first.received.IsZero() {
				first.copies++
				p = first
			}
			found[p.seq] = p
		case !again:
			found[p.seq] = p
		}
	}
	if s.Finished {
		next = int(s.Next)
	}
	for seq := range next {
		skipped := slices.ContainsFunc(s.Skipped, func(k owamp.Skip) bool { return int(k.First) <= seq && seq <= int(k.Last) })
		if p, known := found[seq]; known && !skipped {
			w.packets = append(w.packets, p)
		}
	}
	return w
}

// lost are the packets that were lost.
func (w *oneWaySession) lost() []bool {
	lost := make([]bool, len(w.packets))
	for i := range w.packets {
		lost[i] = w.packets[i].received.IsZero()
	}
	return lost
}

// passages are tries of connectivity.
func (w *oneWaySession) passages(began time.Time) (all []stat.Passage) {
	for i := range w.packets {
		p := stat.Passage{Sent: w.packets[i].sent.Sub(began).Seconds(), Arrived: w.packets[i].delay()}
		p.Arrived += p.Sent // of a lost one it stays Lost
		all = append(all, p)
	}
	return all
}

// reduceOneWay turns both ways into figures, as reduceOWD does with what was reflected. Counts that are of no way are of both together.
func reduceOneWay(there, back *oneWaySession, began time.Time, claim float64) owdFigures {
	f := owdFigures{metrics: map[measure.Metric]float64{}}
	f.ways = passage.Ways{Forward: there.lost(), Reverse: back.lost(), There: there.order, Back: back.order, Counted: true}
	if len(f.ways.Forward)+len(f.ways.Reverse) == 0 {
		return f
	}
	f.metrics = fatesOf(slices.Concat(f.ways.Forward, f.ways.Reverse)).metrics()
	for _, m := range []measure.Metric{measure.LossBurstMax, measure.LossPeriodMean} { // of packets one after another, as these are not
		delete(f.metrics, m)
	}
	f.addWayLosses()
	for total, of := range map[measure.Metric]func(string) measure.Metric{measure.DuplicatePackets: measure.DuplicateOn, measure.ReorderedPackets: measure.ReorderedOn} {
		f.metrics[total] = f.metrics[of(measure.Forward)] + f.metrics[of(measure.Reverse)]
	}
	if exchanges := pairUp(there, back, began); len(exchanges) > 0 {
		f.addClocks(exchanges, claim)
	}
	least := 0. // half of the shortest round trip that two packets make, which no clock makes wrong
	for _, w := range []*oneWaySession{there, back} {
		least += leastDelay(w) / 2
	}
	f.halfTrip = least
	for way, w := range map[string]*oneWaySession{measure.Forward: there, measure.Reverse: back} {
		delays := make([]float64, len(w.packets))
		for i := range w.packets {
			delays[i] = w.packets[i].delay()
		}
		if len(w.order) > 0 {
			f.addWay(way, delays, w.lost())
		}
		addAvailability(f.metrics, way, w.passages(began), f.interval(w))
	}
	return f
}

// interval is how far apart packets left, as a rule.
func (f *owdFigures) interval(w *oneWaySession) time.Duration {
	if n := len(w.packets) - 1; n > 0 {
		return w.packets[n].sent.Sub(w.packets[0].sent) / time.Duration(n)
	}
	return 0
}

func leastDelay(w *oneWaySession) float64 {
	least := math.Inf(1)
	for i := range w.packets {
		if d := w.packets[i].delay(); !math.IsNaN(d) {
			least = min(least, d)
		}
	}
	return least
}

// pairUp makes exchanges of packets there and back which came, in turn: what they tell of the clocks needs no answer to be to a packet.
func pairUp(there, back *oneWaySession, began time.Time) (all []stat.Exchange) {
	since := func(t time.Time) float64 { return t.Sub(began).Seconds() }
	next := 0
	for i := range there.packets {
		p := &there.packets[i]
		for next < len(back.packets) && back.packets[next].received.IsZero() {
			next++
		}
		if p.received.IsZero() || next == len(back.packets) {
			continue
		}
		q := &back.packets[next]
		all = append(all, stat.Exchange{Sent: since(p.sent), Arrived: since(p.received), Answered: since(q.sent), Received: since(q.received)})
		next++
	}
	return all
}
