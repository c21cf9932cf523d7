// Package window says what the figures of a windowed ping mean: the rate, the loss and the delay of a path while more and more packets are kept in
// flight. It is pure: echoes or samples in, a shape and its sentence out. Package probe sends the packets.
//
//	figures.go   the echoes of one window to its figures
//	window.go    the figures of all windows to a shape
//	sentence.go  what a shape says, for people
//
// The shapes are those that Mathis's mping draws of paths in the tutorial on high performance data transfer (2006).
package window

import (
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// Shape is what the rate, the loss and the delay of growing windows look like.
type Shape string

const (
	Rising  Shape = "no limit reached" // the rate grows with the window to its end
	Normal  Shape = "normal"           // the rate stops to grow, and the delay begins to
	NoQueue Shape = "no queue"         // the rate stops to grow, and packets are lost at once
	Shaper  Shape = "shaper"           // as normal, after a burst at a higher rate
	Policer Shape = "policer"          // as no queue, after a burst at a higher rate
	Lossy   Shape = "constant loss"    // some are lost, however few are in flight
	Duplex  Shape = "duplex fault"     // many are lost when both ways are busy, and the rate falls
	Unknown Shape = "unknown"
)

// Reading is what a shape says.
type Reading struct {
	Shape         Shape
	BitsPerSecond float64 // capacity at the IP layer; 0: not known
	Knee          int     // packets in flight that fill the path
	Queue         int     // packets that waited, at most
	Full          bool    // the queue was: packets were lost at its end
}

// What tells the shapes apart. Each is a share.
const (
	flat       = 0.85 // of the most that came back: a window which reaches it fills the path
	losing     = 0.01 // from here on a window loses packets
	heavy      = 0.2  // from here on it loses so many that a rate which falls falls by them
	fall       = 0.6  // a rate that falls to this share of the highest collapses: a queue that overflows still serves its link
	burstRatio = 1.35 // times as fast at first as later is a bucket of tokens
	grows      = 0.4  // of the delay that the packets beyond the knee would add in a queue is seen where there is one
)

// Read says what the shape of a path's windows means. They are in the order of their numbers; bits is the size of a packet at the IP layer.
func Read(steps []measure.WindowSample, bits float64) Reading {
	r := Reading{Shape: Unknown}
	if len(steps) < 3 {
		return r
	}
	peak, least := 0., 0.
	for _, s := range steps {
		peak = max(peak, s.BitsPerSecond)
		if s.RTTMinSeconds > 0 && (least == 0 || s.RTTMinSeconds < least) {
			least = s.RTTMinSeconds
		}
	}
	at := slices.IndexFunc(steps, func(s measure.WindowSample) bool { return s.BitsPerSecond >= flat*peak })
	light, beyond := steps[:max(1, at/2)], steps[min(at+1, len(steps)-1):]
	r.Knee = steps[at].InFlight
	lightLoss, heavyLoss := pooledLoss(light), pooledLoss(beyond)
	last := steps[len(steps)-1]
	switch {
	case peak == 0:
		return r
	case lightLoss < heavy/4 && heavyLoss > heavy/2 && last.BitsPerSecond < fall*peak:
		r.Shape = Duplex
		return r
	case lightLoss > losing && heavyLoss < 3*lightLoss:
		r.Shape = Lossy
		return r
	case float64(last.InFlight) < 1.3*float64(r.Knee):
		r.Shape = Rising
		return r
	}
	var rates, bursts []float64
	for _, s := range beyond {
		rates, bursts = append(rates, s.BitsPerSecond), append(bursts, s.EarlyBits/max(1, s.BitsPerSecond))
	}
	slices.Sort(rates)
	slices.Sort(bursts)
	r.BitsPerSecond = stat.Median(rates)
	wait := 0.
	for _, s := range steps {
		wait = max(wait, s.RTTMedianSeconds-least)
	}
	r.Queue, r.Full = int(wait*r.BitsPerSecond/bits+0.5), heavyLoss > losing
	pipe := r.BitsPerSecond * least / bits // packets that the empty path holds
	queues := float64(r.Queue) >= grows*(float64(last.InFlight)-pipe) || float64(r.Queue) > pipe && r.Queue > 4
	burst := stat.Median(bursts) > burstRatio
	switch {
	case queues && burst:
		r.Shape = Shaper
	case queues:
		r.Shape = Normal
	case burst && r.Full:
		r.Shape = Policer
	case r.Full:
		r.Shape = NoQueue
	default: // neither waits nor is lost what should be too much: an end is slow, and not the path
		r.Shape, r.BitsPerSecond = Rising, 0
	}
	return r
}

// pooledLoss is the share that windows lost together.
func pooledLoss(steps []measure.WindowSample) float64 {
	sent, lost := 0, 0
	for _, s := range steps {
		sent, lost = sent+s.Sent, lost+s.Lost
	}
	return float64(lost) / float64(max(1, sent))
}
