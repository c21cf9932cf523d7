package iperf3

import (
	"context"
	"errors"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"
)

// The first class that fits a client and the hour counts; what it does not say is the policy's.
func TestClasses(t *testing.T) {
	p := Policy{MaxDuration: time.Minute, MaxStreams: 8, MaxRate: 1000, Classes: []Class{
		{Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Hours: []Hours{{22 * time.Hour, 6 * time.Hour}, {12 * time.Hour, 13 * time.Hour}},
			MaxDuration: time.Hour, MaxRate: 5000},
		{Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}, MaxStreams: 2},
		{Refuse: true},
	}}
	type limits struct {
		in       bool
		duration time.Duration
		streams  int
		rate     int64
	}
	night, day, refused := limits{true, time.Hour, 8, 5000}, limits{true, time.Minute, 2, 1000}, limits{false, time.Minute, 8, 1000}
	for _, c := range []struct {
		from, at string
		want     limits
	}{
		{"10.1.2.3", "22:00", night}, {"10.1.2.3", "23:59", night}, {"::ffff:10.1.2.3", "00:00", night}, {"10.1.2.3", "05:59", night},
		{"10.1.2.3", "06:00", day}, {"10.1.2.3", "12:30", night}, {"10.1.2.3", "13:00", day}, {"10.1.2.3", "21:59", day},
		{"2001:db8::1", "23:00", day}, {"192.0.2.1", "23:00", refused},
	} {
		now, err := time.ParseInLocation("15:04", c.at, time.Local)
		if err != nil {
			t.Fatal(err)
		}
		own, in := p.of(netip.MustParseAddr(c.from), now)
		if got := (limits{in, own.MaxDuration, own.MaxStreams, own.MaxRate}); got != c.want {
			t.Errorf("%s at %s: %+v, want %+v", c.from, c.at, got, c.want)
		}
	}
	if _, in := (Policy{}).of(netip.MustParseAddr("10.1.2.3"), time.Now()); !in {
		t.Error("without classes somebody is refused")
	}
}

// A server holds clients to their class.
func TestServerHoldsToClasses(t *testing.T) {
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	for want, class := range map[int32]Class{
		codeUnauthorized: {Networks: loopback, Refuse: true},
		codeDuration:     {Networks: loopback, MaxDuration: time.Second},
		codeStreams:      {Hours: []Hours{{0, 0}}, MaxStreams: 1},
	} {
		addr := serve(t, Policy{MaxDuration: time.Minute, Classes: []Class{class}})
		_, err := (&Client{Addr: addr, Config: Config{Duration: 2 * time.Second, Rate: 1000, Parallel: 2}}).Run(context.Background())
		var e *PeerError
		if !errors.As(err, &e) || e.Code != want {
			t.Errorf("%+v: %v, want %q", class, err, errorText(want))
		}
	}
}

// Hours that end while a client connects do not end its test: the class is that of its first connection. The next client is refused.
func TestHoursEndWhileClientConnects(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ln, err := Listen(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	last := time.Date(2026, 1, 1, 5, 59, 59, 0, time.Local)
	server := &Server{Policy: Policy{Classes: []Class{{Hours: []Hours{{0, 6 * time.Hour}}, MaxStreams: 2}, {Refuse: true}}}, Now: func() time.Time {
		if asked.Add(1) == 1 {
			return last
		}
		return last.Add(time.Second)
	}}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, ln) }()
	client := &Client{Addr: ln.Addr().String(), Config: Config{Bytes: 100_000, Parallel: 2}}
	if r, err := client.Run(t.Context()); err != nil || r.Total(Forward).ReceivedBytes != 100_000 {
		t.Errorf("the test that began within the hours: %v, %+v", err, r.Total(Forward))
	}
	var refused *PeerError
	if _, err := client.Run(t.Context()); !errors.As(err, &refused) || refused.Code != codeUnauthorized {
		t.Errorf("the test after them: %v", err)
	}
	stop()
	<-ended
}
