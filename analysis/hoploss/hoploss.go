// Package hoploss tells what a path loses from routers that merely answer seldom, by how many of the packets that were to expire at each hop
// were answered. It is pure: it knows of no packets and of no time.
//
// A router that limits its ICMP answers loses none of what it forwards. A link that loses packets loses those of every hop behind it:
//
//	hop             1    2    3    4    5    6 (the target)
//	lost            0    0   60 %  0    0    0        hop 3 limits its answers
//	lost            0    0   60 %  9 % 11 % 10 %      the path loses 10 % between hops 2 and 4; hop 3 limits its answers beside
//
// So what a hop loses is the path's at most as far as the end loses it, too. Counts are taken as those of independent packets.
package hoploss

import (
	"math"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// Count is what came of the packets that were to expire at one hop, of which it is known.
type Count struct{ TTL, Sent, Lost int }

func (c Count) ratio() float64 { return float64(c.Lost) / float64(max(1, c.Sent)) }

func (c Count) answers() bool { return c.Lost < c.Sent }

const (
	// background is a loss that nobody would look for: paths across networks lose as much now and then.
	background = 0.001
	// doubt is how likely chance may explain what is called significant.
	doubt = 0.01
)

// Locate says what the path to the last of counts loses, and from which hop on. Counts are in order of TTL; reached says that the last is the
// target's. Hops that answered nothing are passed over. The Verdict of what is returned is left empty.
//
//	limiting   loses significantly more than a hop behind it: what it loses says nothing of the path
//	clean      loses significantly less than the end: the loss begins behind it (After is the last such hop)
//	losing     neither, and loses more than background explains
//	open       none of these: there were too few packets
//
// By is the first hop from which on all are losing, but for those that limit. If no hop between After and By is open, By is to blame.
func Locate(counts []Count, reached bool) measure.PathLoss {
	var hops []Count
	for _, c := range counts {
		if c.answers() {
			hops = append(hops, c)
		}
	}
	if len(hops) == 0 {
		return measure.PathLoss{High: 1}
	}
	end := hops[len(hops)-1]
	low, high := stat.Wilson(end.Lost, end.Sent)
	v := measure.PathLoss{End: end.TTL, Reached: reached && end.TTL == counts[len(counts)-1].TTL, LossRatio: end.ratio(), Low: low, High: high,
		Limiting: limiting(hops)}
	if v.Lossy = chance(end) <= doubt; v.Lossy {
		begin(&v, hops)
	}
	return v
}

// LocateWays is Locate of each of several flows, which may go several ways, and of all of them together. apart says that some lose significantly more than
// others, or from another hop on. Of all together After, Hop and By are set only where they are not apart, and as long as each other.
func LocateWays(ways [][]Count, reached []bool) (whole measure.PathLoss, each []measure.PathLoss, apart bool) {
	var all []Count
	ends := make([]Count, len(ways)) // of each way, the last hop that answers
	alike := true
	for i, counts := range ways {
		each = append(each, Locate(counts, reached[i]))
		alike = alike && len(counts) == len(ways[0]) && reached[i] == reached[0]
		for k, c := range counts {
			if k == len(all) {
				all = append(all, Count{TTL: c.TTL})
			}
			all[k].Sent, all[k].Lost = all[k].Sent+c.Sent, all[k].Lost+c.Lost
			if c.answers() {
				ends[i] = c
			}
		}
	}
	if !alike && len(all) > 0 { // the end is at several hops
		all = []Count{{TTL: all[len(all)-1].TTL}}
		for _, end := range ends {
			all[0].Sent, all[0].Lost = all[0].Sent+end.Sent, all[0].Lost+end.Lost
		}
	}
	apart = waysApart(each, ends)
	whole = Locate(all, !slices.Contains(reached, false))
	if apart || !alike {
		whole.After, whole.Hop, whole.By, whole.Confidence = 0, 0, 0, 0
	}
	return whole, each, apart
}

// waysApart says that some ways lose significantly more than others by what their ends lose, or from another hop on. Each of all pairs may be so by chance.
func waysApart(each []measure.PathLoss, ends []Count) bool {
	n := float64(len(each))
	for i, more := range each {
		if !more.Lossy {
			continue
		}
		for j, other := range each {
			if i == j {
				continue
			}
			if fewer(ends[j], ends[i]) <= doubt/(n*(n-1)) {
				return true
			}
			known := more.Hop > 0 && other.Hop > 0 && min(more.Confidence, other.Confidence) >= 1-doubt/n
			if known && more.After >= other.Hop { // a later Hop alone may be since one before it is taken for limiting
				return true
			}
		}
	}
	return false
}

// begin says where the loss of the last of hops begins.
func begin(v *measure.PathLoss, hops []Count) {
	last := len(hops) - 1
	after, byChance := -1, 0.0 // the chances that what is said is wrong
	for i, c := range hops[:last] {
		if likely := fewer(c, hops[last]); likely <= doubt/float64(len(hops)) {
			after, v.After = i, c.TTL
			byChance = likely
		}
	}
	i, worst := last, 0.0
	for ; i > after; i-- {
		if slices.Contains(v.Limiting, hops[i].TTL) {
			continue
		}
		likely := chance(hops[i])
		if likely > doubt {
			break
		}
		v.By, worst = hops[i].TTL, max(worst, likely)
	}
	v.Confidence = 1 - min(1, byChance+worst)
	if i == after {
		v.Hop = v.By
	}
}

// limiting are the hops that lose significantly more than one behind them does, whose packets they forward.
func limiting(hops []Count) (ttls []int) {
	if len(hops) == 0 {
		return nil
	}
	least := hops[len(hops)-1] // of those behind
	for i := len(hops) - 2; i >= 0; i-- {
		if c := hops[i]; fewer(least, c) <= doubt/float64(len(hops)) {
			ttls = append([]int{c.TTL}, ttls...)
		} else if c.ratio() < least.ratio() {
			least = c
		}
	}
	return ttls
}

// chance is how likely a path without faults loses as many of the packets to a hop.
func chance(c Count) float64 { return stat.BinomialTail(c.Lost, c.Sent, background) }

// manyLosses is from when on the test of two samples is by the normal distribution, which is right then, and quicker.
const manyLosses = 400

// fewer is how likely chance alone explains that the first of two hops loses a smaller share; 1 where it does not.
func fewer(a, b Count) float64 {
	if a.ratio() >= b.ratio() {
		return 1
	}
	n, m := float64(a.Sent), float64(b.Sent)
	if a.Lost+b.Lost < manyLosses {
		return stat.Fisher(float64(a.Lost), n, float64(b.Lost), m)
	}
	both := float64(a.Lost+b.Lost) / (n + m)
	spread := math.Sqrt(both * (1 - both) * (1/n + 1/m))
	return math.Erfc((b.ratio() - a.ratio()) / spread / math.Sqrt2)
}
