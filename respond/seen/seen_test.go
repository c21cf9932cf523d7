package seen

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/sock"
)

// What arrived is told with what it means: a Linux host behind a translator and six routers, and one from which a box took all that it could.
func TestText(t *testing.T) {
	whole := sock.SYN{Source: netip.MustParseAddrPort("198.51.100.7:40000"), Target: netip.MustParseAddrPort("192.0.2.1:4443"), TTL: 58, Window: 64240,
		Options: []int{2, 4, 8, 3}, MSS: 1460, WindowScale: 7, SACK: true, Timestamps: true}
	poor := sock.SYN{Source: netip.MustParseAddrPort("[2001:db8::7]:40000"), Target: netip.MustParseAddrPort("[2001:db8::1]:4443"), TTL: 127, DSCP: 46, Window: 65535,
		ECNAsked: true, Options: []int{2}, MSS: 1380, WindowScale: -1}
	for want, syn := range map[string]sock.SYN{
		`address  198.51.100.7, port 40000: if your computer has another address, addresses are translated on the way (NAT)
hops     TTL 58 on arrival: 6 routers on the way, if it left with 64
MSS      1460 bytes, of an MTU of 1500, which is Ethernet's
window   64240 bytes at first, and scale 7: up to 8.39 MB later
options  MSS, window scale, SACK, time stamps
marks    DSCP 0, which is the usual class; it asks for no ECN
`: whole,
		`address  2001:db8::7, port 40000: if your computer has another address, addresses are translated on the way (NAT)
hops     TTL 127 on arrival: 1 router on the way, if it left with 128
MSS      1380 bytes, of an MTU of 1440: less than Ethernet's 1500, as behind a tunnel or DSL, or a box on the way lowers it
window   65535 bytes, without a scale: no more than 65535 will ever be on the way, which is 5.24 Mbit/s at a round trip of 100 ms
options  MSS; not there: window scale, SACK, time stamps. If it was sent, a box on the way takes it out
marks    DSCP 46; it asks for ECN
`: poor,
	} {
		if diff := cmp.Diff(want, Of(syn).Text()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	for _, c := range []struct {
		syn  sock.SYN
		want string
	}{{sock.SYN{Source: whole.Source, MSS: 8960}, "jumbo frames"}, {sock.SYN{Source: whole.Source}, "none: this end may send no more than 536"},
		{sock.SYN{Source: whole.Source, TTL: 255}, "0 routers on the way, if it left with 255"}} {
		if text := Of(c.syn).Text(); !strings.Contains(text, c.want) {
			t.Errorf("%q is not in:\n%s", c.want, text)
		}
	}
}
