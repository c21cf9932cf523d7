package respond

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/arrived"
	"github.com/pathwise-net/pathwise/proto/reach"
	"github.com/pathwise-net/pathwise/proto/retrace"
	"github.com/pathwise-net/pathwise/sock"
)

// The port of ndt7 serves fresh ports and routes back, to everybody, unless its owner has switched that off, and tells each what arrived.
func TestLines(t *testing.T) {
	for _, off := range []bool{false, true} {
		kind := ndt7Kind()
		o := served(t, kind, nil, func(ctx context.Context, log *slog.Logger) (*Opened, error) {
			return kind.Open(ctx, "127.0.0.1:0", Limits{NoConnectBack: off, TraceBack: func(_ context.Context, to netip.Addr, _ retrace.Ask) (retrace.Route, error) {
				return retrace.Route{Hops: []measure.Hop{{TTL: 1, Addresses: []string{to.String()}}}}, nil
			}}, log)
		})
		over := func(ask func(net.Conn) error) error {
			conn, err := net.Dial("tcp", o.Addr.String())
			if err != nil {
				return err
			}
			defer conn.Close()
			return ask(conn)
		}
		var back retrace.Back
		for what, err := range map[string]error{
			"fresh ports": over(func(conn net.Conn) error { _, err := reach.Ask(t.Context(), conn); return err }),
			"route back": over(func(conn net.Conn) (err error) {
				back, err = retrace.Request(t.Context(), conn, retrace.Ask{Protocol: retrace.UDP, MaxTTL: 30, Queries: 1, Timeout: time.Second, Interval: time.Millisecond})
				return err
			}),
		} {
			if off != (err != nil && strings.Contains(err.Error(), "its owner has switched that off")) {
				t.Errorf("%s, off: %v: %v", what, off, err)
			}
		}
		if err := over(func(conn net.Conn) error {
			if _, err := conn.Write(arrived.Request("")); err != nil {
				return err
			}
			line, err := bufio.NewReader(conn).ReadBytes('\n')
			if err != nil {
				return err
			}
			headers, err := arrived.Read(line)
			if err != nil {
				return err
			}
			if syn, err := sock.ParseSYN(headers); err != nil || syn.Source.Addr() != loopback {
				t.Errorf("%+v, %v", syn, err)
			}
			return nil
		}); err != nil {
			t.Errorf("what arrived: %v", err)
		}
		if !off && (len(back.Hops) != 1 || back.Hops[0].Addresses[0] != loopback.String()) {
			t.Errorf("%+v", back)
		}
	}
}

// A port that is open for one run tells what arrived, and traces back, to who shows its secret, once; fresh ports it tries for nobody. A trace that failed may be tried
// again, and what it sent is counted.
func TestLinesForRun(t *testing.T) {
	var refused atomic.Bool
	traced := func(_ context.Context, to netip.Addr, _ retrace.Ask) (retrace.Route, error) {
		if !refused.CompareAndSwap(false, true) {
			return retrace.Route{Hops: []measure.Hop{{TTL: 1, Addresses: []string{to.String()}}}, Whole: measure.RouteSample{SentBytes: 60}}, nil
		}
		return retrace.Route{Whole: measure.RouteSample{SentBytes: 30}}, errors.New("the network is down")
	}
	o := forRun(t, ndt7Kind(), Run{Tests: 2, TraceBack: traced})
	over := func(ask func(net.Conn) error) error {
		conn, err := net.Dial("tcp", o.Addr.String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return ask(conn)
	}
	back := func(secret string) error {
		return over(func(conn net.Conn) error {
			_, err := retrace.Request(t.Context(), conn, retrace.Ask{Protocol: retrace.UDP, MaxTTL: 30, Queries: 1, Timeout: time.Second, Interval: time.Millisecond, Secret: secret})
			return err
		})
	}
	told := func(secret string) error {
		return over(func(conn net.Conn) error {
			if _, err := conn.Write(arrived.Request(secret)); err != nil {
				return err
			}
			line, err := bufio.NewReader(conn).ReadBytes('\n')
			if err != nil {
				return err
			}
			_, err = arrived.Read(line)
			return err
		})
	}
	ports := func() error {
		return over(func(conn net.Conn) error { _, err := reach.Ask(t.Context(), conn); return err })
	}
	for what, err := range map[string]error{"route back": back(otherSecret), "no secret": back(""), "what arrived": told(otherSecret), "fresh ports": ports()} {
		if err == nil {
			t.Errorf("%s for nobody of the run", what)
		}
	}
	if err := back(secret); err == nil || !strings.Contains(err.Error(), "the network is down") {
		t.Errorf("a failed trace: %v", err)
	}
	for what, err := range map[string]error{"route back": back(secret), "what arrived": told(secret)} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	o.closes(t)        // after both, and not before
	var bytes [2]int64 // of tests that went to their end, and of those that did not
	for range 3 {
		one := <-o.tests
		if one.Err == nil {
			bytes[0] += one.Bytes
		} else {
			bytes[1] += one.Bytes
		}
	}
	if bytes != [2]int64{60, 30} {
		t.Errorf("%v bytes", bytes)
	}
}

// A reflector that is open for a run tells over TCP where packets vanish on the way back, to who shows the run's secret, whether its packets are authenticated or not, and stays open.
func TestReflectorTracesBack(t *testing.T) {
	var asked retrace.Ask
	found := measure.Narrowing{TTL: 2, Before: 3, Bytes: 1300}
	traced := func(_ context.Context, _ netip.Addr, ask retrace.Ask) (retrace.Route, error) {
		asked = ask
		return retrace.Route{Whole: measure.RouteSample{SentBytes: 60, Narrowings: []measure.Narrowing{found}}}, nil
	}
	for _, sealed := range []bool{true, false} {
		o := forRun(t, stampKind(), Run{Peer: loopback, Sealed: sealed, TraceBack: traced})
		seek := func(secret string) (retrace.Back, error) {
			conn, err := net.Dial("tcp", o.Addr.String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			return retrace.Request(t.Context(), conn, retrace.Ask{Protocol: retrace.ICMP, MaxTTL: 30, Queries: 1, Timeout: time.Second, Interval: time.Millisecond, Size: 1300, Secret: secret})
		}
		if _, err := seek(otherSecret); err == nil {
			t.Error("told to who does not show the secret")
		}
		for range 2 {
			back, err := seek(secret)
			if err != nil || len(back.Whole.Narrowings) != 1 || back.Whole.Narrowings[0] != found || asked.Size != 1300 {
				t.Errorf("sealed %t: %+v, %v", sealed, back, err)
			}
			if one := <-o.tests; one.Bytes != 60 || one.Err != nil {
				t.Errorf("sealed %t: %+v", sealed, one)
			}
		}
	}
}
