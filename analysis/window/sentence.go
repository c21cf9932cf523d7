package window

import (
	"fmt"

	"github.com/pathwise-net/pathwise/quantity"
)

// Sentence says what the shape means.
func (r Reading) Sentence() string {
	rate := quantity.FormatRate(r.BitsPerSecond)
	queue := fmt.Sprintf("%d packets waited at most, and none was lost", r.Queue)
	if r.Full {
		queue = fmt.Sprintf("a queue of about %d packets overflows beyond", r.Queue)
	}
	switch r.Shape {
	case Normal:
		return fmt.Sprintf("normal: %d packets in flight fill the path with %s; %s", r.Knee, rate, queue)
	case NoQueue:
		return fmt.Sprintf("no queue: %d packets in flight fill the path with %s, and more are lost instead of waiting", r.Knee, rate)
	case Shaper:
		return fmt.Sprintf("shaper: a burst passes faster, then %s; %s", rate, queue)
	case Policer:
		return fmt.Sprintf("policer: a burst passes faster, then all above %s is dropped", rate)
	case Lossy:
		return "constant loss: packets are lost however few are in flight, so that it is no queue that overflows"
	case Duplex:
		return "duplex fault: alone packets pass, and when both ways are busy so many are lost that the rate falls: one end of a link probably is half duplex"
	case Rising:
		return "no limit reached: the rate grows with the packets in flight to the end; ask for a larger window"
	}
	return "the shape is none of those that are known"
}
