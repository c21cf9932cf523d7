package iperf3

import (
	"net"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// connFrom is a control connection of which nothing but its host is known.
type connFrom struct {
	net.Conn
	host string
}

func (f connFrom) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(f.host), 40000))
}

// Two tests of trains of one client share a place if they go different ways, until both are over. All others take turns.
func TestPlaces(t *testing.T) {
	trains, back := Params{Pathwise: &ParamsExtra{Train: &Train{}}}, Params{Reverse: true, Pathwise: &ParamsExtra{Train: &Train{}}}
	one := map[string]*serverTest{}
	for name, c := range map[string]struct {
		host   string
		params Params
	}{
		"trains":        {"10.0.0.1", trains},
		"more":          {"10.0.0.1", trains},
		"trains back":   {"10.0.0.1", back},
		"of another":    {"10.0.0.2", back},
		"transfer":      {"10.0.0.1", Params{}},
		"transfer back": {"10.0.0.1", Params{Reverse: true}},
	} {
		one[name] = &serverTest{ctl: &control{conn: connFrom{host: c.host}}, params: c.params}
	}
	synctest.Test(t, func(t *testing.T) {
		s := &Server{}
		s.reset()
		got := map[string]bool{}
		for _, name := range []string{"trains", "more", "of another", "transfer", "trains back", "transfer back"} {
			got[name] = s.takePlace(t.Context(), one[name])
		}
		want := map[string]bool{"trains": true, "more": false, "of another": false, "transfer": false, "trains back": true, "transfer back": false}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		client := one["trains"].client()
		s.leavePlace(one["trains"])
		if s.takePlace(t.Context(), one["transfer"]) || !s.mayStart(t.Context(), client) {
			t.Error("the place of a pair is free while one of it runs, or nobody may join it")
		}
		if !s.takePlace(t.Context(), one["more"]) { // the client's next trains, as of one measurement
			t.Error("the place of a pair is not joined again")
		}
		s.leavePlace(one["more"])
		time.Sleep(pairFor) // in the time of this test
		if s.takePlace(t.Context(), one["more"]) || s.mayStart(t.Context(), client) {
			t.Error("a pair is joined for ever")
		}
		s.leavePlace(one["trains back"])
		if !s.takePlace(t.Context(), one["transfer"]) || s.mayStart(t.Context(), client) {
			t.Error("the place is not free once a pair is over, or a transfer shares it")
		}
	})
}

// Trains go both ways at once on a server of one test at a time.
func TestTrainsBothWays(t *testing.T) {
	addr := serve(t, Policy{})
	var both sync.WaitGroup
	for _, reverse := range []bool{false, true} {
		both.Go(func() {
			r, err := (&Client{Addr: addr, Config: Config{Proto: UDP, Reverse: reverse, Train: &Train{Packets: 5, Size: 200, Trains: 8, Gap: 0.2}}}).Run(t.Context())
			if err != nil || len(r.Arrivals) != 40 {
				t.Errorf("reverse %v: %d arrivals, %v", reverse, len(r.Arrivals), err)
			}
		})
	}
	both.Wait()
}
