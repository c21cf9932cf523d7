package iperf3

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/input"
)

func TestMayBeGroup(t *testing.T) {
	for text, want := range map[string]string{
		"239.255.86.4": "", "224.0.2.1": "", "233.252.0.1": "", "ff15::5864": "", "ff12::1": "", "ff1e::1": "",
		"10.0.0.1": "no multicast", "2001:db8::1": "no multicast", "ff12::1%lo": "no multicast", "::ffff:239.1.2.3": "no multicast",
		"232.1.2.3": "source-specific", "ff35::8000:1": "source-specific", "224.0.0.1": "assigned", "224.0.1.1": "assigned", "224.0.1.129": "assigned", "ff02::1": "assigned", "ff11::1": "assigned",
	} {
		if err := mayBeGroup(netip.MustParseAddr(text)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestGroupConfig(t *testing.T) {
	const group = "239.255.86.4"
	for _, c := range []Config{{Group: group}, {Proto: UDP, Group: group, Reverse: true}, {Proto: UDP, Group: group, Bidir: true}, {Proto: UDP, Group: group, Parallel: 2},
		{Proto: UDP, Group: group, Search: true}, {Proto: UDP, Group: group, Hops: 256}, {Proto: UDP, Group: "carol"}, {Proto: UDP, Hops: 2}, {Proto: UDP, Group: "224.0.0.1"}} {
		if err := c.Validate(); !input.Bad(err) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for name, change := range map[string]func(*Params){"": func(*Params) {}, "port of the system's": func(p *Params) { p.Pathwise.Group.Port = 53 },
		"no group": func(p *Params) { p.Pathwise.Group.Address = "10.0.0.1" }, "no address": func(p *Params) { p.Pathwise.Group.Address = "x" },
		"the server sends": func(p *Params) { p.Reverse = true }, "both send": func(p *Params) { p.Bidir = true }, "tcp": func(p *Params) { p.UDP, p.TCP = false, true },
		"streams": func(p *Params) { p.Parallel = 2 }} {
		p := Config{Proto: UDP, Length: 1000}.withDefaults().params()
		p.Pathwise.Group = &GroupExtra{Address: "239.255.86.4", Port: 5201}
		change(&p)
		if got := p.check(); (got != 0) != (name != "") {
			t.Errorf("%q: code %d", name, got)
		}
	}
}

// listenOn is Listen at an address of loopback.
func listenOn(address string) func(context.Context, string) (net.Listener, error) {
	return func(ctx context.Context, _ string) (net.Listener, error) {
		return Listen(ctx, net.JoinHostPort(address, "0"))
	}
}

// private are the groups that a respond lets in unless told otherwise.
func private(t *testing.T) []netip.Prefix {
	t.Helper()
	all, err := ParseGroups(PrivateGroups)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestParseGroups(t *testing.T) {
	if all := private(t); len(all) != 2 || !all[0].Contains(netip.MustParseAddr("239.1.2.3")) || !all[1].Contains(netip.MustParseAddr("ff1e::1")) {
		t.Errorf("private groups %v", all)
	}
	for _, bad := range []string{"", "x", "239.1.2.3", "239.1.2.3/8", "10.0.0.0/8", "224.0.0.0/3", "fe00::/7", "ff00::/7", "239.0.0.0/8,", "::ffff:239.0.0.0/104"} {
		if got, err := ParseGroups(bad); err == nil || !strings.Contains(err.Error(), strconv.Quote(bad)) {
			t.Errorf("%q: %v, %v", bad, got, err)
		}
	}
}

// Every receiver that joined counts every datagram once, also of two tests that send to one group and port at the same time.
func TestGroup(t *testing.T) {
	for address, group := range map[string]string{"127.0.0.1": "239.255.86.4", "::1": "ff15::5864"} {
		t.Run(group, func(t *testing.T) {
			t.Parallel()
			if ln, err := net.Listen("tcp", net.JoinHostPort(address, "0")); err != nil {
				t.Skipf("this machine cannot listen at %s: %v", address, err)
			} else {
				ln.Close()
			}
			policy := Policy{Groups: private(t), MaxTests: 2}
			addrs := []string{serveOn(t, policy, listenOn(address)), serveOn(t, policy, listenOn(address))}
			config := Config{Proto: UDP, Group: group, Duration: 500 * time.Millisecond, Rate: 4_000_000, Length: 1000}
			type outcome struct {
				all []Received
				err error
			}
			other := make(chan outcome, 1)
			go func() {
				all, err := (&GroupClient{Addrs: addrs[:1], Config: config}).Run(t.Context())
				other <- outcome{all, err}
			}()
			all, err := (&GroupClient{Addrs: addrs, Config: config}).Run(t.Context())
			first := <-other
			if errors.Is(err, syscall.ENETUNREACH) {
				t.Skipf("loopback has no route to the group %s: %v", group, err)
			}
			if err != nil || first.err != nil {
				t.Fatal(err, first.err)
			}
			if len(all) != 2 || len(first.all) != 1 {
				t.Fatalf("%d and %d receivers", len(all), len(first.all))
			}
			for _, one := range append(all, first.all...) {
				total := one.Report.Total(Forward)
				came := total.Packets - total.Lost // of two tests at once, a busy host may drop some
				if one.Err != nil || came < 1 || total.ReceivedBytes != came*1000 || total.SentBytes != total.Packets*1000 || total.Duplicates+total.Reordered > 0 ||
					one.Report.Peer.Group.Interface != "lo" {
					t.Errorf("%s: %v, %+v", one.Addr, one.Err, total)
				}
			}
		})
	}
}

// A server that was not told to let multicast in joins nothing, and says so.
func TestGroupRefused(t *testing.T) {
	config := Config{Proto: UDP, Group: "239.255.86.5", Duration: time.Second}
	_, err := (&GroupClient{Addrs: []string{serve(t, Policy{})}, Config: config}).Run(t.Context())
	if !input.Bad(err) || !strings.Contains(err.Error(), "respond --multicast") {
		t.Errorf("error %v", err)
	}
	narrow := Policy{Groups: []netip.Prefix{netip.MustParsePrefix("239.1.0.0/16"), netip.MustParsePrefix("ff15::/16")}}
	_, err = (&GroupClient{Addrs: []string{serve(t, narrow)}, Config: config}).Run(t.Context())
	if !input.Bad(err) || !strings.Contains(err.Error(), "other groups alone") {
		t.Errorf("a group that the server was not told: %v", err)
	}
	twice := serve(t, Policy{Groups: private(t)})
	_, port, _ := net.SplitHostPort(twice)
	_, err = (&GroupClient{Addrs: []string{twice, net.JoinHostPort("localhost", port)}, Config: config}).Run(t.Context())
	if !input.Bad(err) || !strings.Contains(err.Error(), "localhost") || !strings.Contains(err.Error(), "once") {
		t.Errorf("a receiver by two names: %v", err)
	}
	for _, c := range []GroupClient{{Config: config}, {Addrs: []string{"127.0.0.1"}, Config: Config{Proto: UDP}}} {
		if _, err := c.Run(t.Context()); !input.Bad(err) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := (&Client{Addr: "127.0.0.1", Config: config}).Run(t.Context()); !input.Bad(err) {
		t.Errorf("a client of one server: %v", err)
	}
}

// A receiver that goes away is told of, and the others are measured on.
func TestGroupLosesReceiver(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	ln, err := Listen(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- (&Server{Policy: Policy{Groups: private(t)}}).Serve(ctx, ln) }()
	addrs := []string{serve(t, Policy{Groups: private(t)}), ln.Addr().String()}
	config := Config{Proto: UDP, Group: "239.255.86.6", Duration: time.Second, Interval: 100 * time.Millisecond, Rate: 1_000_000, Length: 1000,
		OnInterval: func(IntervalReport) { stop() }}
	all, err := (&GroupClient{Addrs: addrs, Config: config}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	<-ended
	if all[0].Err != nil || !errors.Is(all[1].Err, ErrPeerTerminated) {
		t.Errorf("receivers: %v, %v", all[0].Err, all[1].Err)
	}
	if got := all[0].Report.Total(Forward); got.ReceivedBytes != (got.Packets-got.Lost)*1000 || got.ReceivedBytes == 0 || got.SentSeconds < 0.9 {
		t.Errorf("the first got %+v", got)
	}
}
