package agent

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/agent/policy"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/retrace"
)

// What an agent sends to trace back counts for the day of who asked, and is within its rate and what the day has left.
func TestTraceBackWithinPolicy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		class   policy.Class
		size    int    // of packets that are known to come
		refused string // why; "": it is not
	}{
		"no limits":           {},
		"a low rate":          {class: policy.Class{Rate: 20e3}},
		"too low a rate":      {class: policy.Class{Rate: 1e3}, refused: "rate: at most 1.00 kbit/s"},
		"large packets":       {class: policy.Class{Rate: 20e3}, size: 1300, refused: "rate: at most 20.0 kbit/s"},
		"no bytes of the day": {class: policy.Class{Daily: 1000}, refused: "daily_bytes: 1.00 kB a day"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := policy.Default()
			owner.Classes["default"] = c.class
			a := run(t, Config{Dir: t.TempDir(), Listen: "127.0.0.1", Policy: owner})
			o := opening(1, freePort(t))
			o.Responder.Kind, o.Responder.Tests = measure.ResponderNDT7, 1
			if err := a.Order(t.Context(), fleet.Order{Open: &o}); err != nil {
				t.Fatal(err)
			}
			conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Responder.Port)))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			back, err := retrace.Request(t.Context(), conn, retrace.Ask{Protocol: retrace.UDP, MaxTTL: 30, Queries: 1, Timeout: 100 * time.Millisecond,
				Interval: time.Millisecond, Size: c.size, Secret: secret})
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("%v; want %q", err, c.refused)
				}
				return
			}
			if err != nil || !back.Whole.Reached {
				t.Fatalf("%+v, %v", back, err)
			}
			eventually(t, "closed after the test", func() bool { return len(a.status().Open) == 0 })
			if got, want := a.dailyBytes.Used(bytesOfDay)["default"], float64(back.Whole.SentBytes); got != want || want == 0 {
				t.Errorf("%v bytes of the day, want %v", got, want)
			}
		})
	}
}

// Routes back for one run are traced one after the other, so that its rate is that of all.
func TestTracesBackOneAtATime(t *testing.T) {
	t.Parallel()
	a := run(t, Config{Dir: t.TempDir(), Listen: "127.0.0.1"})
	begun, release := make(chan struct{}), make(chan struct{})
	trace := a.traceBack(opening(1, 5201), 0, func(context.Context, netip.Addr, retrace.Ask) (retrace.Route, error) {
		begun <- struct{}{}
		<-release
		return retrace.Route{NetworkBits: 24}, nil
	})
	to, ask := netip.MustParseAddr("127.0.0.1"), retrace.Ask{Protocol: retrace.UDP, MaxTTL: 1, Queries: 1, Timeout: time.Second, Interval: time.Millisecond}
	for range 2 { // the second is another one, once the first is over
		ended := make(chan retrace.Route)
		go func() {
			found, _ := trace(t.Context(), to, ask)
			ended <- found
		}()
		<-begun
		if _, err := trace(t.Context(), to, ask); !errors.Is(err, errTracing) {
			t.Errorf("beside another: %v", err)
		}
		release <- struct{}{}
		if found := <-ended; found.NetworkBits != 24 {
			t.Errorf("%+v", found)
		}
	}
}
