package probe

import (
	"encoding/binary"
	"net/netip"
	"testing"
)

// What a translator adds to a checksum is one number for all packets of a flow, though sums wrap.
func TestTraceShift(t *testing.T) {
	f := traceFlows()[0]
	other := *f
	other.from = netip.MustParseAddrPort("203.0.113.77:61234")
	seen := map[uint16]bool{}
	for id := range 500 {
		q := f.quote(id, 0, f.to.Port())
		binary.BigEndian.PutUint16(q.Transport[6:], other.checksum(id, f.to.Port())) // all but the checksum was changed back
		seen[f.shift(q, id)] = true
	}
	if len(seen) != 1 || seen[0] {
		t.Errorf("shifts %v, want one", seen)
	}
}
