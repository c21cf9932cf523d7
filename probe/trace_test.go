package probe

import (
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

func TestTraceValidate(t *testing.T) {
	tests := []struct {
		trace Trace
		want  string
	}{
		{Trace{Target: "a"}, ""},
		{Trace{Target: "a", Protocol: "udp", MaxTTL: 255, Queries: 10, Port: 1}, ""},
		{Trace{Target: "a", Protocol: "tcp", Port: 65535, DSCP: 46, Interval: 100 * time.Microsecond}, ""},
		{Trace{Target: "a", Protocol: "icmp"}, ""},
		{Trace{}, `target "": give a host name or an address`},
		{Trace{Target: "a", Protocol: "sctp"}, `protocol "sctp": give udp, icmp or tcp`},
		{Trace{Target: "a", Protocol: "icmp", Port: 80}, `port "80": leave it away: ICMP has no ports`},
		{Trace{Target: "a", MaxTTL: 256}, `max TTL "256": give a number from 0 to 255`},
		{Trace{Target: "a", Queries: 11}, `queries "11": give a number from 0 to 10`},
		{Trace{Target: "a", Timeout: -1}, `timeout "-1ns": give a time from 1ms to 1m0s`},
		{Trace{Target: "a", DSCP: 64}, `DSCP "64": give a number from 0 to 63`},
		{Trace{Target: "a", Interval: time.Microsecond}, `interval "1µs": give a time from 100µs to 1m0s`},
		{Trace{Target: "a", Both: true, ResponderPort: 4443, Protocol: "icmp"}, ""},
		{Trace{Target: "a", Both: true, Protocol: "tcp"}, `protocol "tcp": give udp or icmp with both: a responder tries no TCP ports of who asks it`},
		{Trace{Target: "a", Both: true, Multipath: true}, `both "true": leave away multipath, which finds ways there alone`},
		{Trace{Target: "a", Middlebox: true, Protocol: "tcp"}, ""},
		{Trace{Target: "a", Middlebox: true, Protocol: "udp"}, `protocol "udp": give tcp with middlebox, or leave it away`},
		{Trace{Target: "a", Middlebox: true, Both: true}, `middlebox "true": give it without multipath, both and mtu`},
		{Trace{Target: "a", ResponderPort: 4443}, `responder port "4443": give it with both`},
		{Trace{Target: "a", Both: true, ResponderPort: 65536}, `responder port "65536": give a number from 0 to 65535`},
	}
	for _, test := range tests {
		err := test.trace.Validate()
		if got := text(err); got != test.want || err != nil && !blamesCaller(err) {
			t.Errorf("%+v: %q, want %q", test.trace, got, test.want)
		}
	}
}

// A task that names a port is answered there, and asks for nothing else to be opened.
func TestNamedPortIsKept(t *testing.T) {
	for _, c := range []struct {
		p    interface{ demand() measure.Demand }
		want string
	}{
		{&Trace{Target: "192.0.2.1", Both: true}, measure.ResponderNDT7},
		{&Trace{Target: "192.0.2.1", Both: true, ResponderPort: 443}, ""},
		{&Trace{Target: "192.0.2.1", Middlebox: true}, measure.ResponderNDT7},
		{&Trace{Target: "192.0.2.1", Middlebox: true, Port: 443}, ""},
		{&MTU{Target: "192.0.2.1", Proto: protoSTAMP}, measure.ResponderSTAMP},
		{&MTU{Target: "192.0.2.1", Proto: protoSTAMP, Port: 8620}, ""},
	} {
		if got := c.p.demand().Responder; got != c.want {
			t.Errorf("%+v asks for %q, want %q", c.p, got, c.want)
		}
	}
}
