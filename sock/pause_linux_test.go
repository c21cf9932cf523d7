package sock

import (
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// The counts of an answer are read; of a driver that counts none there are none, and an answer that is cut off says nothing more.
func TestReadPauses(t *testing.T) {
	number := func(n uint64) []byte { return binary.NativeEndian.AppendUint64(nil, n) }
	counted := nl.NewRtAttr(pauseCounts|unix.NLA_F_NESTED, nil)
	counted.AddRtAttr(pausesSent, number(3))
	counted.AddRtAttr(pausesCame, number(1<<33))
	none := nl.NewRtAttr(2, []byte{1})
	for name, c := range map[string]struct {
		answer []byte
		want   Counts
	}{
		"counted":     {append(none.Serialize(), counted.Serialize()...), Counts{"link.tx_pause": 3, "link.rx_pause": 1 << 33}},
		"not counted": {none.Serialize(), Counts{}},
		"cut off":     {counted.Serialize()[:9], Counts{}},
		"nothing":     {nil, Counts{}},
	} {
		got := Counts{}
		got.readPauses(c.answer)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
