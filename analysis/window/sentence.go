package window

import (
	"fmt"

	"github.com/pathwise-net/pathwise/quantity"
)

// Sentence says what the shape means.
func (r Reading) Sentence() string {
	rate, bursts := quantity.FormatRate(r.BitsPerSecond), quantity.FormatRate(r.BurstBits)
	queue := quantity.FormatCount(r.Queue, "packet") + " waited at most, and none was lost"
	if r.Full {
		queue = fmt.Sprintf("a queue of about %s overflows beyond", quantity.FormatCount(r.Queue, "packet"))
	}
	switch r.Shape {
	case Normal:
		return fmt.Sprintf("normal: %d packets in flight fill the path with %s; %s", r.Knee, rate, queue)
	case NoQueue:
		return fmt.Sprintf("no queue: the narrowest link %shas room for %s: what comes faster is lost instead of waiting", known("brings about %s and ", r), quantity.FormatCount(r.Queue, "packet"))
	case Shaper:
		return fmt.Sprintf("shaper: bursts pass at %s, and then %s does; %s", bursts, rate, queue)
	case Policer:
		return fmt.Sprintf("policer: bursts pass at %s, and then what is above a rate %sis dropped, and nothing waits", bursts, known("of %s ", r))
	case Lossy:
		return fmt.Sprintf("constant loss: about %s is lost however few packets are in flight, so that it is no queue that overflows", quantity.FormatRatio(r.LossRatio))
	case Duplex:
		return fmt.Sprintf("duplex fault: one way alone passes bursts at %s, and when both ways are busy %s is lost: one end of a link probably is half duplex", bursts,
			quantity.FormatRatio(r.LossRatio))
	case Rising:
		return "no limit reached: the rate grows with the packets in flight to the end; ask for a larger window"
	case SlowEnd:
		return "slow end: the rate stops to grow, yet packets neither wait on the path nor are lost: one of the hosts takes no more"
	case Busy:
		return "busy host: this host did not keep the packets in flight, so that the path cannot be told from it; ask for fewer, or repeat the test when it has less to do"
	case TooFew:
		return fmt.Sprintf("too few windows: fewer than %d show no shape; ask for a larger window", fewestWindows)
	case Local:
		return "no path: these packets do not leave this host, so that there is no link and no queue to find: the rate is what its processors do"
	}
	return "unknown: rate, loss and delay fit no shape, as where others use the path meanwhile; repeat the test"
}

// known is the capacity within a text, or nothing where it is not known.
func known(format string, r Reading) string {
	if r.BitsPerSecond == 0 {
		return ""
	}
	return fmt.Sprintf(format, quantity.FormatRate(r.BitsPerSecond))
}

// Finding is the ID of the finding that a diagnosis would prove or refute; "": the shape is no fault, or of no one finding.
func (r Reading) Finding() string {
	return map[Shape]string{NoQueue: "shallow-buffer", Policer: "policer", Lossy: "random-loss", Duplex: "duplex-mismatch"}[r.Shape]
}
