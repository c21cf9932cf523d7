package sock

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Of an emulator's file only the counts of this host's interface are taken, and none of one that cannot be read.
func TestReadEmulated(t *testing.T) {
	const text = `{"a": {"eth0": {"collisions": 3, "pauses_received": 12, "pauses_sent": 1}}, "b": {"eth0": {"pauses_received": 7}}}`
	for name, c := range map[string]struct {
		text, host, iface string
		want              Counts
	}{
		"counted":              {text, "a", "eth0", Counts{"link.rx_pause": 12, "link.tx_pause": 1}},
		"another host's":       {text, "b", "eth0", Counts{"link.rx_pause": 7, "link.tx_pause": 0}},
		"another interface":    {text, "a", "eth1", Counts{}},
		"no such host":         {text, "c", "eth0", Counts{}},
		"while it was written": {text[:len(text)-9], "a", "eth0", Counts{}},
		"no pauses":            {"{}", "a", "eth0", Counts{}},
	} {
		got := Counts{}
		got.readEmulated([]byte(c.text), c.host, c.iface)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
