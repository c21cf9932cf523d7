package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

// limit names what can hold a transfer back, whether it does so now or not.
type limit string

const (
	byCapacity      limit = "capacity"
	byReceiveWindow limit = "receive window"
	bySendBuffer    limit = "send buffer"
	byLoss          limit = "loss"
	byHost          limit = "host" // at either end, as a reference of it tells
	byPath          limit = "path" // whatever holds a transfer of this diagnosis
)

// speedCap is the speed that one limit allows: goodput in bit/s once the transfer runs.
type speedCap struct {
	by            limit
	bitsPerSecond float64
	basis         string
}

// caps lists the limits of a way that are known.
func caps(s *Subject) []speedCap {
	var out []speedCap
	trip := s.Value(EmptyRoundTrip)
	if s.Known(PayloadCapacity) {
		carries, doubt := promised(s)
		basis := fmt.Sprintf("a capacity of %s, of which %.1f %% is payload", quantity.FormatRate(s.Value(Capacity)), 100*s.payloadShare(s.Value(MSS)))
		if doubt != "" {
			basis = "the least that the path may carry: " + doubt
		}
		out = append(out, speedCap{byCapacity, carries, basis})
	}
	if own := s.Value(OwnGoodput); own > 0 && own+s.Value(Steady) < fullShare*s.Value(PayloadCapacity) {
		out = append(out, speedCap{byPath, own, fmt.Sprintf("what a transfer of this diagnosis reached the same way, %s", quantity.FormatRate(own))})
	}
	if most := s.Value(Ceiling); most > 0 && s.Value(Steady) <= ceilingPassed*most {
		out = append(out, speedCap{byHost, most, fmt.Sprintf("what this host moved to or from a near one, %s", quantity.FormatRate(most))})
	}
	if w := windowLimit(s); w > 0 && trip > 0 {
		out = append(out, speedCap{byReceiveWindow, model.WindowLimit(w, seconds(trip)),
			fmt.Sprintf("a receive window of %s each round trip of %s", quantity.FormatSize(int64(w)), quantity.FormatSeconds(trip))})
	}
	if b := sendLimit(s); b > 0 && trip > 0 {
		out = append(out, speedCap{bySendBuffer, model.WindowLimit(b, seconds(trip)),
			fmt.Sprintf("a send buffer that holds %s each round trip of %s", quantity.FormatSize(int64(b)), quantity.FormatSeconds(trip))})
	}
	// What TCP alone sent again may be its own doing, at the end of slow start; what a paced probe lost is not.
	if pacedLost(s) && s.Value(MSS) > 0 && trip > 0 && !lossBlind(s.congestion) {
		out = append(out, speedCap{byLoss, model.Mathis(s.Value(MSS), seconds(trip), s.Value(PacedLoss), model.CIndependent),
			fmt.Sprintf("a loss of %s", quantity.FormatRatio(s.Value(PacedLoss)))})
	}
	return out
}

// next is the speed of a way after the given limits are gone: the least of the others, as the mean of a test as long as this
// one was. It is nil where nothing says how much the path can carry, since that may be the next limit: it was not measured, or the transfer was
// faster than the trains could tell.
func next(s *Subject, gone ...limit) *measure.Predicted {
	if !s.Known(PayloadCapacity) {
		return nil
	}
	var least *speedCap
	for _, c := range caps(s) {
		if !slices.Contains(gone, c.by) && (least == nil || c.bitsPerSecond < least.bitsPerSecond) {
			least = &c
		}
	}
	if least == nil {
		return nil
	}
	mean, ramp := meanOver(s, least.bitsPerSecond)
	basis := "the next limit: " + least.basis
	if ramp > 0 {
		basis += fmt.Sprintf("; less %s of slow start in a test of %s", quantity.FormatSeconds(ramp), quantity.FormatSeconds(s.Value(Duration)))
	}
	return &measure.Predicted{BitsPerSecond: mean, Basis: basis}
}

// meanOver turns a steady rate into the mean of a test of this one's length: slow start delivers less than the rate.
// ramp is the time that costs.
func meanOver(s *Subject, rate float64) (mean, ramp float64) {
	duration, mss, trip := s.Value(Duration), s.Value(MSS), s.Value(EmptyRoundTrip)
	if duration <= 0 || mss <= 0 || trip <= 0 {
		return rate, 0
	}
	rounds, sent := model.SlowStart{MSS: mss}.ToWindow(model.BandwidthDelay(rate, seconds(trip)))
	ramp = float64(rounds)*trip - sent*8/rate
	if ramp <= 0 || ramp >= duration {
		return rate, 0
	}
	return rate * (1 - ramp/duration), ramp
}

// windowLimit is the largest window that the receiver can come to offer, in bytes. The kernel offers a share of the
// buffer that depends on how packets lie in memory; the share that it offered in this very test is taken.
func windowLimit(s *Subject) float64 {
	buffer, window := s.Value(ReceiveBuffer), s.Value(ReceiveWindow)
	if buffer == 0 || window == 0 {
		return 0
	}
	most := buffer
	if !s.Is(ReceiveBufferFixed) {
		most = max(most, s.Value(ReceiveBufferMax))
	}
	limit := most * min(1, window/buffer)
	if s.Known(WindowScaling) && !s.Is(WindowScaling) {
		limit = min(limit, unscaledWindow)
	}
	return limit
}

// unscaledWindow is the largest window that 16 bits express (RFC 9293 section 3.1; RFC 7323 section 2 scales it).
const unscaledWindow = 65535

// sendLimit is how much the sender's buffer can keep in flight, in bytes.
func sendLimit(s *Subject) float64 {
	buffer := s.Value(SendBuffer)
	if buffer == 0 {
		return 0
	}
	if !s.Is(SendBufferFixed) {
		buffer = max(buffer, s.Value(SendBufferMax))
	}
	return buffer * sendShare
}

// sendShare is what of the send buffer is payload in flight; the rest is the kernel's own. Measured with 64 kB to
// 512 kB on Linux 6.18: 0.57 to 0.72.
const sendShare = 0.6

// pacedLost reports whether the paced probe lost enough to tell a ratio.
func pacedLost(s *Subject) bool { return s.Known(PacedLoss) && s.Value(PacedLost) >= enoughLosses }

// enoughLosses is how many losses a ratio needs to mean something: with 4, the 95 % interval spans 1 to 10.
const enoughLosses = 4

// lossBlind reports whether a congestion control does not slow down for loss as such, so that Mathis says nothing.
func lossBlind(congestion string) bool { return strings.HasPrefix(congestion, "bbr") }

// windowRate is the goodput that so many bytes each round trip come to. Round trips are those under load.
func windowRate(s *Subject, bytes float64) float64 {
	if s.Value(RoundTrip) == 0 || bytes == 0 {
		return math.Inf(1)
	}
	return model.WindowLimit(bytes, seconds(s.Value(RoundTrip)))
}
