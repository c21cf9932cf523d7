package model

import "math"

// The parameters of HighSpeed TCP (RFC 3649 section 5): up to a window of lowWindow packets, which Reno holds at a loss of lowLoss, it
// is Reno; at a loss of highLoss its window is highWindow packets, of which it gives up highDecrease at a loss.
const (
	lowWindow    = 38
	lowLoss      = 1e-3
	highWindow   = 83000 // 10 Gbit/s over 100 ms in packets of 1,500 bytes
	highLoss     = 1e-7
	highDecrease = 0.1
)

// renoConstant is Reno's window in packets, times the square root of the loss ratio (RFC 3649 section 5).
const renoConstant = 1.2

// RenoWindow returns the window in packets that Reno holds at a loss ratio.
//
// Source: RFC 3649 section 5; GridNM (2002), equation 1 of "HighSpeed TCP".
func RenoWindow(loss float64) float64 { return renoConstant / math.Sqrt(loss) }

// HighSpeedWindow returns the window in packets that HighSpeed TCP holds at a loss ratio: a straight line through (lowLoss, lowWindow)
// and (highLoss, highWindow) where both axes have factors, and Reno's where that is less than lowWindow.
//
// Source: RFC 3649 section 5.
func HighSpeedWindow(loss float64) float64 {
	if loss >= lowLoss {
		return RenoWindow(loss)
	}
	slope := math.Log(float64(highWindow)/lowWindow) / math.Log(highLoss/lowLoss)
	return math.Pow(loss/lowLoss, slope) * lowWindow
}

// HighSpeedSteps returns by how many packets a window of that many packets grows in a round trip without loss, and the share of it that
// a loss takes: 1 and a half up to lowWindow, as in Reno.
//
// Source: RFC 3649 section 5.
func HighSpeedSteps(window float64) (increase, decrease float64) {
	if window <= lowWindow {
		return 1, 0.5
	}
	far := math.Log(window/lowWindow) / math.Log(float64(highWindow)/lowWindow)
	decrease = max(highDecrease, 0.5+(highDecrease-0.5)*far) // beyond highWindow it stays
	loss := lowLoss * math.Exp(far*math.Log(highLoss/lowLoss))
	return max(1, window*window*loss*2*decrease/(2-decrease)), decrease
}
