package model

import (
	"math"
	"time"
)

// CUBIC's constants (RFC 9438 sections 4.1 and 4.6): how fast its curve rises, in packets per second cubed, and the share of the window
// that a loss leaves.
const (
	cubicC    = 0.4
	cubicBeta = 0.7
)

// RenoAfterLoss returns the window in packets that Reno has so long after a loss at a window of that many packets: half, and one more
// each round trip.
//
// Source: RFC 5681 section 3.1.
func RenoAfterLoss(full float64, since, rtt time.Duration) float64 {
	return full/2 + since.Seconds()/rtt.Seconds()
}

// CubicAfterLoss returns the window in packets that CUBIC has so long after a loss at a window of that many packets: seven tenths, then a cubic curve of
// time that is flat at the old window, or what a Reno with the same share of losses would have, if that is more.
//
// Source: RFC 9438 sections 4.2 and 4.3.
func CubicAfterLoss(full float64, since, rtt time.Duration) float64 {
	t, flat := since.Seconds(), math.Cbrt(full*(1-cubicBeta)/cubicC)
	friendly := full*cubicBeta + 3*(1-cubicBeta)/(1+cubicBeta)*t/rtt.Seconds()
	return max(cubicC*math.Pow(t-flat, 3)+full, friendly)
}

// LossesOpen returns how many of the packets that were lost from one window are still missing so many whole round trips after the loss
// was noticed. With selective acknowledgements the sender mends as many each round trip as half of the window holds; without them, one.
//
// Source: RFC 6582 section 3.2, RFC 6675 section 5.
func LossesOpen(lost, window float64, rounds int, selective bool) float64 {
	each := 1.0
	if selective {
		each = max(1, math.Floor(window/2))
	}
	return max(0, lost-each*float64(rounds))
}

// HeldRequestTime returns how long a request of two small writes takes with its answer where Nagle's algorithm holds the second back
// until the receiver acknowledges the first, which it delays by that time since it has nothing to answer yet.
//
// Source: RFC 1122 sections 4.2.3.2 and 4.2.3.4; Network Application Performance (2012), "Bypassing Nagle".
func HeldRequestTime(rtt, delayedACK time.Duration) time.Duration { return 2*rtt + delayedACK }
