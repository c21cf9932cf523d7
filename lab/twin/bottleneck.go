package twin

import (
	"cmp"
	"fmt"
	"time"

	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/lab/queue"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// bottleneck is what is known of the narrowest link, each way.
type bottleneck struct{ forward, reverse narrowest }

// narrowest is one way of it. A rate of 0 is not known.
type narrowest struct {
	rate  float64 // of the line, Ethernet's overhead counted
	queue int64   // bytes of IP; 0: not known
	notes []string
}

// ethernetOverhead is what link.Ethernet adds to a full packet: the overhead that a link has unless it says otherwise.
const (
	ethernetOverhead = 38
	ordinaryMTU      = 1500
)

// Bounds of what a lab takes: below, nothing would ever arrive; above, no queue has so much.
const (
	slowest   = 1       // bit/s
	mostQueue = 1 << 40 // bytes
)

func (e *evidence) bottleneck() bottleneck {
	b := bottleneck{e.narrowest(false), e.narrowest(true)}
	switch {
	case b.forward.rate == 0 && b.reverse.rate > 0:
		b.forward.rate, b.forward.notes = b.reverse.rate, []string{"rate forward: assumed, as in reverse; not measured"}
	case b.reverse.rate == 0 && b.forward.rate > 0:
		b.reverse.rate, b.reverse.notes = b.forward.rate, []string{"rate in reverse: assumed, as forward; not measured"}
	}
	return b
}

// apply gives a link the rates and queues: on the link itself where both ways have the same.
func (b bottleneck) apply(l *Link) {
	l.Notes = append(l.Notes, b.forward.notes...)
	l.Notes = append(l.Notes, b.reverse.notes...)
	l.Forward, l.Reverse = b.forward.shape(), b.reverse.shape()
	if b.forward.rate == b.reverse.rate {
		l.Shape.Rate, l.Forward.Rate, l.Reverse.Rate = l.Forward.Rate, nil, nil
	}
}

func (n narrowest) shape() (s link.Shape) {
	if n.rate >= slowest {
		rate := notation.Rate(min(n.rate, fastest))
		s.Rate = &rate
	}
	if n.queue > 0 {
		s.Queue = &queue.Config{Discipline: queue.Discipline{Limit: queue.Amount{Bytes: n.queue}}}
	}
	return s
}

// narrowest works out one way from packet trains and transfers.
func (e *evidence) narrowest(reverse bool) narrowest {
	var n narrowest
	way := "forward"
	if reverse {
		way = "in reverse"
	}
	for _, r := range e.trains {
		capacity, ok := r.Get(measure.Capacity)
		if reversed(r) != reverse || !ok {
			continue
		}
		size, _ := r.Number("size")
		size = cmp.Or(size, ordinaryMTU)
		if line := capacity * (size + ethernetOverhead) / size; line > n.rate {
			n.rate = round(line, 4)
			n.notes = []string{fmt.Sprintf("rate %s: %s of IP (%s) and Ethernet's overhead", way, quantity.FormatRate(capacity),
				cite(r, measure.Capacity, capacity))}
		}
	}
	e.narrowByTransfers(&n, reverse, way)
	e.findShortQueue(&n, reverse, way)
	if n.rate == 0 && len(e.trains)+len(e.transfers) > 0 {
		n.notes = append(n.notes, "rate "+way+": no limit; no transfer filled a link, and no trains measured one")
	}
	return n
}

func (e *evidence) narrowByTransfers(n *narrowest, reverse bool, way string) {
	for _, r := range e.transfers {
		if reversed(r) != reverse || bidirectional(r) {
			continue
		}
		v := view(r)
		busy, filled := v.filled(e.usualExtra())
		payload, what := v.goodput, "which filled the link"
		if payload < fillsLink*busy {
			payload, what = busy, "while its round trip was long"
		}
		line := payload * (v.mtu + ethernetOverhead) / v.mss
		if n.rate == 0 && !filled || line < fillsLink*n.rate || payload == 0 {
			continue
		}
		n.rate = round(line, 4)
		n.notes = []string{fmt.Sprintf("rate %s: %s of payload in %.0f-byte segments (throughput %s, %s)", way,
			quantity.FormatRate(payload), v.mss, r.ID, what)}
		e.addQueue(n, v, r, way)
	}
}

// findShortQueue is for transfers that overflowed a queue without filling its link. Without the link's rate their round
// trips do not tell how much it holds.
func (e *evidence) findShortQueue(n *narrowest, reverse bool, way string) {
	for _, r := range e.transfers {
		v := view(r)
		if reversed(r) != reverse || bidirectional(r) || n.rate == 0 || n.queue > 0 || v.keptFull(n.rate) {
			continue
		}
		if _, filled := v.filled(e.usualExtra()); !filled && e.overflowed(v, reverse) {
			e.addQueue(n, v, r, way)
		}
	}
}

// addQueue takes what a flow found in front of the link: its longest smoothed round trip less the
// shortest, and less what round trips vary without load, times the rate.
func (e *evidence) addQueue(n *narrowest, v transferView, r *measure.Result, way string) {
	inflation := v.most - v.least - e.usualExtra()
	if v.least == 0 || inflation <= 0 {
		return
	}
	bytes := int64(round(inflation*n.rate/8*v.mtu/(v.mtu+ethernetOverhead), 3))
	what := fmt.Sprintf("queue %s: %s, the smoothed round trip's rise from %s to %s under load (throughput %s)", way,
		quantity.FormatSize(bytes), quantity.FormatSeconds(v.least), quantity.FormatSeconds(v.most), r.ID)
	if v.repeated == 0 {
		// Nothing was dropped, so there was room for more: the lab's own default, 100 ms, or what was seen.
		if inflation < (100 * time.Millisecond).Seconds() {
			return
		}
		what += ", at least: nothing was dropped"
	}
	n.queue = min(mostQueue, max(bytes, int64(2*v.mtu)))
	n.notes = append(n.notes, what)
}

// unhurried reports whether datagrams came slower than the narrowest link can carry, so that what they lost was not
// lost in front of it.
func (e *evidence) unhurried(r *measure.Result) bool {
	const share = 0.8
	limit := 0.0
	for _, c := range e.trains {
		if v, ok := c.Get(measure.Capacity); ok && reversed(c) == reversed(r) {
			limit = max(limit, v)
		}
	}
	for _, t := range e.transfers {
		if v, ok := t.Get(measure.Throughput); ok && reversed(t) == reversed(r) {
			limit = max(limit, v)
		}
	}
	sent, ok := r.Get(measure.SentRate)
	return ok && limit > 0 && sent <= share*limit
}
