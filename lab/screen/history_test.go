package screen

import (
	"testing"

	"github.com/pathwise-net/pathwise/lab/link"
)

func TestHistory(t *testing.T) {
	var h history
	for i := range 40 {
		h = h.with(truthAt(float64(i)/2, uint64(1000*i), 0))
	}
	if first := h[0].Seconds; first != 14.5 || h.before(lossSpan).Seconds != 14.5 || h.before(rateSpan).Seconds != 18.5 {
		t.Errorf("remembers from %v, %v before and %v before", first, h.before(lossSpan).Seconds, h.before(rateSpan).Seconds)
	}
	if h = h.with(truthAt(1, 5, 0)); len(h) != 1 { // another lab of that name
		t.Errorf("remembers %d truths of a lab that is gone", len(h))
	}
	if p := h.now(0, link.Shape{}); p.packets != 0 {
		t.Errorf("%v packets/s out of one truth", p.packets)
	}
}
