package sock

import (
	"testing"
	"time"

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

// A clock that hosts of a lab share is kept as well as the lab says, and outside of one the kernel is asked.
func TestSharedClock(t *testing.T) {
	for text, want := range map[string]ClockState{
		"100µs": {Synchronized: true, Bound: 100 * time.Microsecond, Estimated: 100 * time.Microsecond, Source: "emulator"},
		"":      {}, "-1ms": {}, "soon": {},
	} {
		t.Setenv(ClockVariable, text)
		if got, ok := sharedClock(); got != want || ok != want.Synchronized {
			t.Errorf("%q: %+v, %v; want %+v", text, got, ok, want)
		}
		if got := ReadClockState(); (got.Source == "emulator") != want.Synchronized {
			t.Errorf("%q: read of %s", text, got.Source)
		}
		if got := AskClockState(); (got.Source == "emulator") != want.Synchronized {
			t.Errorf("%q: asked of %s", text, got.Source)
		}
	}
}
