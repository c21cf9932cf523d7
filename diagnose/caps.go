package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

// limit names what can hold a transfer back.
type limit string

const (
	byCapacity      limit = "capacity"
	byReceiveWindow limit = "receive window"
	bySendBuffer    limit = "send buffer"
	byLoss          limit = "loss"
)

// speedCap is the speed that one limit allows: goodput in bit/s once the transfer runs.
type speedCap struct {
	by            limit
	bitsPerSecond float64
	basis         string
}

// caps lists the limits that are known, whether they bind now or not.
func (v *view) caps() []speedCap {
	var out []speedCap
	if v.carries > 0 {
		out = append(out, speedCap{byCapacity, v.carries, fmt.Sprintf("a capacity of %s, of which %.1f %% is payload",
			quantity.FormatRate(v.capacity), 100*v.payloadShare(v.mss))})
	}
	if w := v.windowLimit(); w > 0 && v.baseRTT > 0 {
		out = append(out, speedCap{byReceiveWindow, model.WindowLimit(w, seconds(v.baseRTT)),
			fmt.Sprintf("a receive window of %s each round trip of %s", quantity.FormatSize(int64(w)), quantity.FormatSeconds(v.baseRTT))})
	}
	if b := v.sendLimit(); b > 0 && v.baseRTT > 0 {
		out = append(out, speedCap{bySendBuffer, model.WindowLimit(b, seconds(v.baseRTT)),
			fmt.Sprintf("a send buffer that holds %s each round trip of %s", quantity.FormatSize(int64(b)), quantity.FormatSeconds(v.baseRTT))})
	}
	// What TCP alone sent again may be its own doing, at the end of slow start; what a paced probe lost is not.
	if p := v.lossRatio(); v.pacedLost() && v.mss > 0 && !lossBlind(v.congestion) {
		out = append(out, speedCap{byLoss, model.Mathis(v.mss, seconds(v.baseRTT), p, model.CIndependent),
			fmt.Sprintf("a loss of %s", quantity.FormatRatio(p))})
	}
	return out
}

// next is the speed after the given limits are gone: the least of the others, as the mean of a test as long as this
// one was. It is nil where no other limit is known.
func (v *view) next(gone ...limit) *measure.Predicted {
	var least *speedCap
	for _, c := range v.caps() {
		if !slices.Contains(gone, c.by) && (least == nil || c.bitsPerSecond < least.bitsPerSecond) {
			least = &c
		}
	}
	if least == nil {
		return nil
	}
	mean, ramp := v.meanOver(least.bitsPerSecond)
	basis := "the next limit: " + least.basis
	if ramp > 0 {
		basis += fmt.Sprintf("; less %s of slow start in a test of %s", quantity.FormatSeconds(ramp), quantity.FormatSeconds(v.duration))
	}
	return &measure.Predicted{BitsPerSecond: mean, Basis: basis}
}

// meanOver turns a steady rate into the mean of a test of this one's length: slow start delivers less than the rate.
// ramp is the time that costs.
func (v *view) meanOver(rate float64) (mean, ramp float64) {
	if v.duration <= 0 || v.mss <= 0 || v.baseRTT <= 0 {
		return rate, 0
	}
	rounds, sent := model.SlowStart{MSS: v.mss}.ToWindow(model.BandwidthDelay(rate, seconds(v.baseRTT)))
	ramp = float64(rounds)*v.baseRTT - sent*8/rate
	if ramp <= 0 || ramp >= v.duration {
		return rate, 0
	}
	return rate * (1 - ramp/v.duration), ramp
}

// windowLimit is the largest window that the receiver can come to offer, in bytes. The kernel offers a share of the
// buffer that depends on how packets lie in memory; the share that it offered in this very test is taken.
func (v *view) windowLimit() float64 {
	if v.to == nil || v.to.ReceiveBufferBytes == 0 || v.window == 0 {
		return 0
	}
	most := float64(v.to.ReceiveBufferBytes)
	if r := rmem(v.to); r != nil && !v.to.BuffersFixed {
		most = max(most, float64(r[2]))
	}
	limit := most * min(1, v.window/float64(v.to.ReceiveBufferBytes))
	if v.windowScaling != nil && !*v.windowScaling {
		limit = min(limit, unscaledWindow)
	}
	return limit
}

// unscaledWindow is the largest window that 16 bits express (RFC 9293 section 3.1; RFC 7323 section 2 scales it).
const unscaledWindow = 65535

// sendLimit is how much the sender's buffer can keep in flight, in bytes.
func (v *view) sendLimit() float64 {
	if v.from == nil || v.from.SendBufferBytes == 0 {
		return 0
	}
	most := float64(v.from.SendBufferBytes)
	if w := wmem(v.from); w != nil && !v.from.BuffersFixed {
		most = max(most, float64(w[2]))
	}
	return most * sendShare
}

// sendShare is what of the send buffer is payload in flight; the rest is the kernel's own. Measured with 64 kB to
// 512 kB on Linux 6.18: 0.57 to 0.72.
const sendShare = 0.6

// lossRatio is the share of packets that get lost whatever the sender does: what the paced probe lost if it lost
// enough to tell, else what TCP sent again.
func (v *view) lossRatio() float64 {
	if v.pacedLost() {
		return v.paced.lost / v.paced.sent
	}
	if v.sentSegments > 0 && v.resent >= enoughLosses {
		return v.resent / v.sentSegments
	}
	return 0
}

// pacedLost reports whether the paced probe lost enough to tell a ratio.
func (v *view) pacedLost() bool { return v.paced != nil && v.paced.lost >= enoughLosses }

// enoughLosses is how many losses a ratio needs to mean something: with 4, the 95 % interval spans 1 to 10.
const enoughLosses = 4

// lossBlind reports whether a congestion control does not slow down for loss as such, so that Mathis says nothing.
func lossBlind(congestion string) bool { return strings.HasPrefix(congestion, "bbr") }
