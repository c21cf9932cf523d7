package twin

import (
	"math"
	"strings"

	"github.com/pathwise-net/pathwise/stat"
)

// What tells a transfer that filled a link from one that losses held, both of which see their round trip rise. Measured
// in the lab: 48 transfers of one stream and of four, with cubic, at 0.6 to 20 Mbit/s.
//
//	                              packets that wait,   rate meanwhile,   C of Mathis's
//	                              for each stream      of its fastest    formula
//	filled a link alone           15 ...               0.93 ...          1.3 ...
//	shared it with cross traffic  55 ...               0.60 ... 0.75     8.3 ...
//	held by random loss              ... 2.8                ... 0.60     0.7 ... 1.4
const (
	// leastRise is in seconds; below, hosts that are busy look the same.
	leastRise = 0.005
	// longEnough is for how many intervals, of 50 ms, the round trip must be long: a stall of a host is shorter.
	longEnough = 5
	// leastQueue is in packets of each stream. A receiver may hold back its acknowledgement for a second packet, or 40 ms;
	// with so few packets under way as losses leave that makes round trips long, but then two packets wait, not more.
	leastQueue = 3
	// atCeiling is how near to the fastest that was delivered a link delivers while packets wait in front of it.
	atCeiling = 0.85
	// mathisMost is above the constant of Mathis's formula that losses at random lead to.
	mathisMost = 2
)

// filled reports whether the flow filled a link, and what it delivered meanwhile (bit/s of payload): what the link
// carries, also where losses kept the flow from filling it for most of the time.
//
// Packets waited in front of a link if the round trip rose for a while by more than it varies anyway, and more than
// acknowledgements held back explain. What they waited for was the link if it delivered at a ceiling meanwhile. On a link
// shared with others there is no ceiling; but there, too, losses do not explain the rate.
func (v transferView) filled(usual float64) (rate float64, ok bool) {
	rise := v.most - v.least - usual
	if v.least == 0 || v.held >= 0.5 || rise <= max(leastRise, v.least/4) {
		return 0, false
	}
	long := v.long(usual)
	segments, seconds := 0.0, 0.0
	var meanwhile []float64
	for i, b := range v.moments {
		if i == 0 || b.rtt <= long || v.moments[i-1].rtt <= long {
			continue
		}
		segments += b.delivered - v.moments[i-1].delivered
		seconds += b.at - v.moments[i-1].at
		meanwhile = append(meanwhile, b.rate)
	}
	if len(meanwhile) < longEnough || seconds <= 0 || segments <= 0 {
		return 0, false
	}
	ceiling := stat.Summarize(meanwhile).Median >= atCeiling*v.fastest()
	if segments/seconds*rise < leastQueue*v.streams || !ceiling && v.lossLimited() {
		return 0, false
	}
	return segments * v.mss * 8 / seconds, true
}

// long is the round trip above which the queue was more full than empty.
func (v transferView) long(usual float64) float64 { return (v.least + usual + v.most) / 2 }

// lossLimited reports whether losses by themselves explain the window, which then is C/sqrt(p) segments with C near 1
// (Mathis et al., 1997). A queue that overflows drops many at once, for which TCP slows down once: C comes out larger.
func (v transferView) lossLimited() bool {
	p := v.lossRatio()
	return p > 0 && !v.lossBlind() && v.window()*math.Sqrt(p) <= mathisMost
}

// lossBlind reports whether the congestion control does not slow down for loss as such.
func (v transferView) lossBlind() bool { return strings.HasPrefix(v.congestion, "bbr") }

// fillsLink is how near to a link's rate a transfer comes that fills it all the time.
const fillsLink = 0.95

// keptFull reports whether the flow kept a link of a line rate (bit/s) full, apart from slow start.
func (v transferView) keptFull(line float64) bool {
	return line > 0 && v.goodput*(v.mtu+ethernetOverhead)/v.mss >= fillsLink*line
}

// bears is the largest share that can have been lost at random to a flow that kept a link full, with so many losses in a
// row: what was repeated, or what Mathis's formula gives for the window that it had all the same.
func (v transferView) bears(burst float64) float64 {
	most := v.lossRatio()
	if w := v.window(); w > 0 && !v.lossBlind() {
		most = min(most, burst/(w*w))
	}
	return most
}

// episodes counts the times that something was lost while the round trip was no longer than that, and the segments of
// these times. Losses within a round trip of each other count once: TCP slows down for them once, and they may have
// overflowed a queue too fast for the smoothed round trip to show it.
func (v transferView) episodes(long float64) (times, segments float64) {
	last := math.Inf(-1)
	for i := 1; i < len(v.moments); i++ {
		a, b := v.moments[i-1], v.moments[i]
		if max(a.rtt, b.rtt) > long {
			continue
		}
		segments += b.delivered - a.delivered
		if b.repeated > a.repeated {
			if b.at-last > b.rtt {
				times++
			}
			last = b.at
		}
	}
	return times, segments
}
