package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// A name's addresses without a route are left out; where there is none with one, the first says why.
func TestWaysToSkipWhatHasNoRoute(t *testing.T) {
	inNamespace(t, func() { // it has loopback only
		for _, test := range []struct {
			addresses string
			family    sock.Family
			want      string
			fails     error
		}{
			{"2001:db8::1 127.0.0.1", "", "127.0.0.1", nil},
			{"192.0.2.1 ::1", "", "::1", nil},
			{"::1 127.0.0.1", "", "::1 127.0.0.1", nil},
			{"::1 127.0.0.1", sock.IPv4, "127.0.0.1", nil},
			{"2001:db8::1 127.0.0.1", sock.IPv6, "", unix.ENETUNREACH},
			{"2001:db8::1 192.0.2.1", "", "", unix.ENETUNREACH},
		} {
			find := func(context.Context, string, string) (all []netip.Addr, err error) {
				for text := range strings.FieldsSeq(test.addresses) {
					all = append(all, netip.MustParseAddr(text))
				}
				return all, nil
			}
			ways, err := waysTo(context.Background(), find, "name", test.family)
			var got []string
			for _, w := range ways {
				got = append(got, w.to.String())
			}
			if diff := cmp.Diff(strings.Fields(test.want), append([]string{}, got...)); diff != "" || !errors.Is(err, test.fails) {
				t.Errorf("%s %s: %v (-want +got):\n%s", test.addresses, test.family, err, diff)
			}
		}
	})
}

// The next way is tried where one ends before the target; the Result says so and has the addresses of the one that was measured.
func TestTryWays(t *testing.T) {
	six, four := way{to: netip.MustParseAddr("2001:db8::1")}, way{to: netip.MustParseAddr("192.0.2.1")}
	six.from, four.from = netip.MustParseAddr("2001:db8::9"), netip.MustParseAddr("192.0.2.9")
	r := measure.NewResult("ping", time.Unix(0, 0))
	err := tryWays(r, []way{six, four}, func(w way, last bool) error {
		if !last {
			return fmt.Errorf("ping: %w", &unreachableError{"network unreachable, said 2001:db8::2"})
		}
		return nil
	})
	want := []string{"2001:db8::1: network unreachable, said 2001:db8::2; measured to 192.0.2.1 instead"}
	if diff := cmp.Diff(want, r.Notes); diff != "" || err != nil || r.Target.Address != "192.0.2.1" || r.Source.Address != "192.0.2.9" {
		t.Errorf("%v, from %s to %s; notes (-want +got):\n%s", err, r.Source.Address, r.Target.Address, diff)
	}
}

// An ICMP error that says that there is no way ends a ping to one address of several, before anything was answered.
func TestPingTurnedAway(t *testing.T) {
	target := netip.MustParseAddr("2001:db8::1")
	quoted := echo{ident: 7, sequence: 1, payload: make([]byte, tokenSize)}.marshal(true)
	for _, test := range []struct {
		name  string
		code  uint8 // of "destination unreachable" (RFC 4443, 3.1)
		last  bool
		heard bool
		want  string
	}{
		{"no route", 0, false, false, "network unreachable, said 2001:db8::2"},
		{"prohibited", 1, false, false, "administratively prohibited, said 2001:db8::2"},
		{"address unreachable", 3, false, false, "host unreachable, said 2001:db8::2"},
		{"the host is there", 4, false, false, ""},
		{"the last address", 0, true, false, ""},
		{"a reply came before", 0, false, true, ""},
	} {
		sender := &packetSender{target: target, packets: &echoPackets{ipv6: true}, sent: make([]sock.Stamp, 1)}
		r := &pingRun{sender: sender, last: test.last, echoes: make([]pingEcho, 1)}
		if test.heard {
			r.arrivals = []uint64{2}
		}
		refusal := sock.ICMPError{IPv6: true, Type: 1, Code: test.code, Offender: netip.MustParseAddr("2001:db8::2"), Quoted: quoted}
		r.handle(sender.heard(refusal))
		if r.noWay != test.want || r.echoes[0].done != (test.want == "") {
			t.Errorf("%s: %q, echo settled: %v; want %q", test.name, r.noWay, r.echoes[0].done, test.want)
		}
	}
}

// A route that ends before one address of several is no route to the target; so is one on which nothing can be sent.
func TestTraceTurnedAway(t *testing.T) {
	ended := func(reply string, reached bool) *tracePlan {
		return &tracePlan{end: 2, probes: []traceProbe{{ttl: 30}, {ttl: 1}, {ttl: 2, answer: &traceAnswer{reply: reply, reached: reached}}}}
	}
	for _, test := range []struct {
		name string
		plan *tracePlan
		err  error
		want string
	}{
		{"reached", ended("host unreachable", true), nil, ""},
		{"a port nobody listens on", ended("port unreachable", false), nil, ""},
		{"silence", &tracePlan{probes: make([]traceProbe, 3)}, nil, ""},
		{"no route", ended("network unreachable", false), nil, "network unreachable at hop 2"},
		{"nothing can be sent", &tracePlan{}, unix.EHOSTUNREACH, "no route to host"},
		{"something was sent", &tracePlan{probes: make([]traceProbe, 1)}, unix.EHOSTUNREACH, ""},
	} {
		if got := (&traceRun{plan: test.plan}).noWay(test.err); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
