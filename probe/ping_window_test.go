package probe

import (
	"net"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadWindow(t *testing.T) {
	for text, want := range map[string][2]int{"32": {1, 32}, "8..64": {8, 64}, "1": {1, 1}, "4096": {1, 4096},
		"": {}, "0": {}, "9..8": {}, "4097": {}, "1..": {}, "1...3": {}, "-1..3": {}} {
		from, to, err := readWindow(text)
		if (err != nil) != (want == [2]int{}) || err == nil && want != [2]int{from, to} {
			t.Errorf("%q: %d to %d, %v; want %v", text, from, to, err, want)
		}
	}
}

// However wide their range, windows are few, rise, and include both ends.
func TestWindowPlan(t *testing.T) {
	if diff := cmp.Diff([]int{1, 2, 3, 4, 5}, windowPlan(1, 5)); diff != "" {
		t.Errorf("1 to 5 (-want +got):\n%s", diff)
	}
	for _, ends := range [][2]int{{1, 1}, {1, 64}, {8, 1000}, {1, 4096}} {
		plan := windowPlan(ends[0], ends[1])
		last := len(plan) - 1
		for i := range last {
			if plan[i] >= plan[i+1] {
				t.Errorf("%v: %v", ends, plan)
			}
		}
		if plan[0] != ends[0] || plan[last] != ends[1] || last > windowSteps {
			t.Errorf("%v: %v", ends, plan)
		}
	}
}

// Packets to an address of this host do not leave it; those to another, or to none, do or fail.
func TestOfThisHost(t *testing.T) {
	for address, want := range map[string]bool{"127.0.0.1": true, "127.1.2.3": true, "::1": true, "192.0.2.77": false, "fe80::77%lo": false} {
		if got := ofThisHost(netip.MustParseAddr(address)); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
	if ofThisHost(netip.Addr{}) {
		t.Error("no address is of this host")
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range own {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil || !ofThisHost(prefix.Addr()) {
			t.Errorf("%v is not of this host: %v", a, err)
		}
	}
}
