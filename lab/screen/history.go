package screen

import (
	"time"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/link"
)

// Over what the screen averages: rates over a second, long enough for a number that can be read; losses, which are rarer,
// over as long as people remember pressing a key; flows over what still counts as now.
const (
	rateSpan = 1 * time.Second
	lossSpan = 5 * time.Second
	flowSpan = 2 * time.Second
)

// history is the truths of the last seconds, the oldest first.
type history []*lab.Truth

// with adds a truth and forgets those that are older than anything is averaged over. A truth of another lab of the same
// name begins anew.
func (h history) with(t *lab.Truth) history {
	if n := len(h); n > 0 && (h[n-1].Seconds > t.Seconds || len(h[n-1].Links) != len(t.Links)) {
		h = nil
	}
	for len(h) > 1 && h[1].Seconds <= t.Seconds-lossSpan.Seconds() {
		h = h[1:]
	}
	return append(h[:len(h):len(h)], t)
}

// last returns the newest truth; nil if there is none.
func (h history) last() *lab.Truth {
	if len(h) == 0 {
		return nil
	}
	return h[len(h)-1]
}

// before returns the newest truth that is at least a span older than the last, or the oldest.
func (h history) before(span time.Duration) *lab.Truth {
	for i := len(h) - 1; i > 0; i-- {
		if h[i].Seconds <= h.last().Seconds-span.Seconds() {
			return h[i]
		}
	}
	return h[0]
}

// passing is what a direction of a link does now.
type passing struct {
	bits, packets float64 // a second; bits of IP
	load          float64 // share of the rate, with the link layer's overhead; 0 without a rate
	lossNow       float64 // share of what came to it that was dropped, lately
	lossAll       float64 // since the lab came up
}

// now works out what a direction does, given the whole shape that it has.
func (h history) now(direction int, shape link.Shape) passing {
	last, before := &h.last().Links[direction], &h.before(rateSpan).Links[direction]
	p := passing{lossAll: lossShare(last, &lab.LinkTruth{}), lossNow: lossShare(last, &h.before(lossSpan).Links[direction])}
	seconds := h.last().Seconds - h.before(rateSpan).Seconds
	if seconds <= 0 {
		return p
	}
	packets, bytes := float64(last.Delivered-before.Delivered), float64(last.Bytes-before.Bytes)
	p.packets, p.bits = packets/seconds, bytes*8/seconds
	if shape.Rate != nil && packets > 0 {
		frame := overheadOf(shape).Frame(int64(bytes / packets))
		p.load = p.packets * float64(frame) * 8 / float64(*shape.Rate)
	}
	return p
}

func overheadOf(shape link.Shape) link.Overhead {
	if shape.Overhead != nil {
		return *shape.Overhead
	}
	return link.Overhead{Link: link.Ethernet}
}

// lossShare is what was dropped between two truths of a direction, of all that was dropped or delivered.
func lossShare(last, before *lab.LinkTruth) float64 {
	lost := float64(last.DroppedInAll()) - float64(before.DroppedInAll())
	if all := lost + float64(last.Delivered) - float64(before.Delivered); all > 0 {
		return lost / all
	}
	return 0
}
