package diagnose

import (
	"fmt"
	"math"

	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

// tuned is a socket's buffer that is too small for the distance.
type tuned struct {
	bytes   float64 // its size when the test ended; 0: not known
	setting *[3]int // of the kernel; nil: not known, or the program set its own
	flight  float64 // what it let be under way, in bytes
}

// advice says how to come to a larger buffer by the kernel's setting.
func (b tuned) advice(s *Subject) (keys []string, words map[string]string) {
	if b.setting == nil {
		return []string{"unseen"}, b.words(s)
	}
	return []string{"kernel"}, b.words(s)
}

// words are the size that is needed, and the kernel's setting with it.
func (b tuned) words(s *Subject) map[string]string {
	need := b.needed(s)
	words := map[string]string{"need": quantity.FormatSize(need), "much": b.much(s, need)}
	if b.setting != nil {
		words["setting"] = fmt.Sprintf("%d %d %d", b.setting[0], b.setting[1], need)
	}
	return words
}

// much says how large a buffer may become by the advice, and why that is more than what is to be under way.
func (b tuned) much(s *Subject, need int64) string {
	if b.bytes == 0 || b.flight == 0 || !s.Known(Capacity) || s.Value(EmptyRoundTrip) == 0 {
		return "up to " + quantity.FormatSize(need)
	}
	product := int64(model.BandwidthDelay(s.Value(Capacity), seconds(s.Value(EmptyRoundTrip))))
	return fmt.Sprintf("up to %s, of which the kernel has about %.0f %% for data: %d bandwidth-delay products of %s", quantity.FormatSize(need),
		100*b.flight/b.bytes, ample, quantity.FormatSize(product))
}

// needed is the buffer that lets ample bandwidth-delay products be in flight: as much larger than the present one as
// that is more than the present flight. Without a known capacity it is ample times the present buffer. It is never
// less than the kernel may tune to now, since that would be advice to make things worse. Whole steps of 64 KiB.
func (b tuned) needed(s *Subject) int64 {
	buffer := b.bytes
	if buffer == 0 {
		buffer = 2 * b.flight // the kernel's own provision for its bookkeeping (socket(7))
	}
	need, trip := ample*buffer, s.Value(EmptyRoundTrip)
	if s.Known(Capacity) && trip > 0 && b.flight > 0 {
		need = ample * model.BandwidthDelay(s.Value(Capacity), seconds(trip)) * buffer / b.flight
	}
	if b.setting != nil {
		need = max(need, float64(b.setting[2]))
	}
	const step = 64 << 10
	return int64(math.Ceil(need/step)) * step
}

// ample is how many bandwidth-delay products a buffer should hold: one in flight, one in the path's queue, and two
// while losses are repaired. With two in all, the usual least, 20 Mbit/s over 200 ms reached 8 % less in the lab.
const ample = 4

// confidence is a share of the time as how sure a finding is.
func confidence(share float64) float64 { return min(0.99, max(0, share)) }
