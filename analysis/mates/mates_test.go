package mates

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOf(t *testing.T) {
	for address, want := range map[string][]string{
		"10.0.1.0": {"10.0.1.1"}, "10.0.1.1": {"10.0.1.2", "10.0.1.0"}, "10.0.1.2": {"10.0.1.1", "10.0.1.3"}, "10.0.1.3": {"10.0.1.2"}, "10.0.1.255": {"10.0.1.254"},
		"fd70::1": {"fd70::2", "fd70::"}, "fd70::2": {"fd70::1", "fd70::3"}, "fd70::ff": {"fd70::fe"},
	} {
		var got []string
		for _, mate := range Of(netip.MustParseAddr(address)) {
			got = append(got, mate.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", address, diff)
		}
	}
	if got := Of(netip.Addr{}); got != nil {
		t.Errorf("of no address: %v", got)
	}
}

// Two addresses are mates whichever is asked about first, and of one family.
func TestAre(t *testing.T) {
	for i := range 8 {
		for k := range 8 {
			a, b := netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), netip.AddrFrom4([4]byte{10, 0, 0, byte(k)})
			four := i/4 == k/4 && i%4+k%4 == 3 && i%4 != 0 && k%4 != 0
			two := i/2 == k/2 && i != k
			if Are(a, b) != (four || two) || Are(a, b) != Are(b, a) {
				t.Errorf("%v and %v: %v", a, b, Are(a, b))
			}
		}
	}
	if Are(netip.MustParseAddr("::1"), netip.MustParseAddr("0.0.0.2")) {
		t.Error("addresses of two families are mates")
	}
}
