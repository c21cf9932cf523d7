package diagnose

import (
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// Paced is a probe that fills only a small part of the path: what it loses is lost at random.
type Paced struct {
	BitsPerSecond float64 // of UDP payload
	PacketBytes   int     // of UDP payload
	Duration      time.Duration
}

// The paced probe takes a tenth of the capacity, or of what TCP got where the capacity is not known; but at least
// 200 packets a second, since on slow paths it would count for too long, and at most a third of the path. It lasts
// until it should lose pacedLosses packets at the ratio that TCP saw, within bounds.
const (
	pacedPart     = 0.1
	pacedMost     = 1.0 / 3
	pacedLeast    = 200 // packets a second
	pacedShortest = 4 * time.Second
	pacedLongest  = 12 * time.Second
	pacedLosses   = 6    // then the chance to see none by accident is 1 in 400
	pacedBytes    = 1400 // UDP payload; fits any path that carries 1500 bytes and most tunnels
)

// PacedProbe says whether telling the causes of loss apart needs a paced probe in a direction, and which: it does
// where TCP sent packets again on a path that is not full.
func PacedProbe(results []*measure.Result, reverse bool) (Paced, bool) {
	direction := measure.Forward
	if reverse {
		direction = measure.Reverse
	}
	v := newView(results, direction)
	if v == nil || v.resent == 0 || v.sentSegments == 0 || v.full() {
		return Paced{}, false
	}
	whole := max(v.capacity, v.steady)
	rate := min(max(pacedPart*whole, pacedLeast*pacedBytes*8), pacedMost*whole)
	packets := pacedLosses * v.sentSegments / v.resent
	lasts := seconds(packets * pacedBytes * 8 / rate)
	return Paced{BitsPerSecond: rate, PacketBytes: pacedBytes, Duration: min(max(lasts, pacedShortest), pacedLongest)}, true
}
