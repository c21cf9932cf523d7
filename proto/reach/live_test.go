package reach

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/admission"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/drilltest"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/proto/jsonlines"
	"github.com/pathwise-net/pathwise/sock/socktest"
)

// serving serves at an address of this host until stop is called.
func serving(t *testing.T, address string, r *Responder) (at netip.AddrPort, stop func()) {
	t.Helper()
	l, err := endpoint.Listen(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	door := endpoint.Door{Protocol: "reach", Greet: func(ctx context.Context, conn net.Conn, _ netip.Addr, _ func()) { _ = r.Serve(ctx, conn) }}
	ended := make(chan error, 1)
	go func() { ended <- door.Serve(ctx, l) }()
	return addrPort(l.Addr()), func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func asked(ctx context.Context, at netip.AddrPort) (measure.Reach, error) {
	conn, err := net.Dial("tcp", at.String())
	if err != nil {
		return measure.Reach{}, err
	}
	defer conn.Close()
	return Ask(ctx, conn)
}

// Over loopback all fresh ports are reached, over IPv4 and IPv6.
func TestAsk(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		at, stop := serving(t, net.JoinHostPort(host, "0"), NewResponder(false, nil))
		got, err := asked(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		findings := map[string]string{}
		for _, way := range got.Ways {
			findings[way.Protocol+" "+way.To] = way.Finding
			if from, err := netip.ParseAddrPort(way.Came.From); err != nil || from.Addr().String() != host || way.Port < leastPort {
				t.Errorf("%+v", way)
			}
		}
		want := map[string]string{"tcp here": Reachable, "udp here": Reachable, "tcp there": Reachable, "udp there": Reachable}
		if diff := cmp.Diff(want, findings); diff != "" || got.Local != got.Seen {
			t.Errorf("%s: %+v (-want +got):\n%s", host, got, diff)
		}
		stop()
	}
}

// Who is switched off, has too many tests, or is no responder says so.
func TestAskRefused(t *testing.T) {
	busy := NewResponder(false, slog.New(slog.DiscardHandler))
	busy.places = admission.NewCount(admission.Limits{})
	for want, r := range map[string]*Responder{"switched that off": NewResponder(true, nil), "busy with other tests": busy} {
		at, stop := serving(t, "127.0.0.1:0", r)
		if _, err := asked(t.Context(), at); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
		stop()
	}
	for _, says := range []string{"", "SSH-2.0-OpenSSH\r\n"} {
		conn, other := socktest.Connected(t, "127.0.0.1")
		_, _ = io.WriteString(other, says)
		other.Close()
		if _, err := Ask(t.Context(), conn); !errors.Is(err, ErrNotHere) {
			t.Errorf("who says %q: %v", says, err)
		}
	}
}

// A responder connects to nobody who has not shown that it heard the cookie: it sends nothing to a fresh port before.
func TestSendsNothingBeforeTheCookie(t *testing.T) {
	at, stop := serving(t, "127.0.0.1:0", NewResponder(false, nil))
	defer stop()
	for name, second := range map[string]string{"another cookie": `{"cookie":"` + someCookie + `"}`, "nothing": "", "done at once": `{"done":true}`} {
		own, err := openFresh(measure.ReachHere, at.Addr())
		if err != nil {
			t.Fatal(err)
		}
		own.answer(someCookie, at.Addr())
		conn, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		here := own.ports()
		fmt.Fprintf(conn, `{"schema":%q,"tcp":%d,"udp":%d}`+"\n", Schema, here.tcp, here.udp)
		line := make([]byte, mostLine)
		n, err := conn.Read(line)
		var o offer
		if err != nil || json.Unmarshal(line[:n], &o) != nil || jsonlines.CheckCookie(o.Cookie) != nil {
			t.Fatalf("%s: %q, %v", name, line[:n], err)
		}
		if second != "" {
			fmt.Fprintln(conn, second)
		}
		_ = conn.(*net.TCPConn).CloseWrite()
		rest, _ := io.ReadAll(conn) // until it gives up
		if came := own.close(); came != (tryCame{}) || !strings.Contains(string(rest), `"error"`) {
			t.Errorf("%s: %+v came, and it says %q", name, came, rest)
		}
		conn.Close()
	}
}

// A fresh port tells words that it does not know from its own, and answers datagrams of nobody but the peer.
func TestFreshPort(t *testing.T) {
	loopback, other := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")
	own, err := openFresh(measure.ReachThere, loopback)
	if err != nil {
		t.Fatal(err)
	}
	own.answer(someCookie, loopback)
	wrong := strings.Repeat("f", jsonlines.CookieDigits)
	right := try(t.Context(), someCookie, measure.ReachThere, loopback, loopback, own.ports())
	strange := try(t.Context(), wrong, measure.ReachThere, loopback, loopback, own.ports())
	elsewhere := tryUDP(t.Context(), someCookie, measure.ReachThere, other, netip.AddrPortFrom(loopback, uint16(own.ports().udp)))
	came := own.close()
	gone := try(t.Context(), someCookie, measure.ReachThere, loopback, loopback, own.ports())
	want := []any{
		trySent{TCP: measure.ReachSent{Outcome: "open", Answered: true}, UDP: measure.ReachSent{Outcome: "open", Answered: true}},
		trySent{TCP: measure.ReachSent{Outcome: "open"}, UDP: measure.ReachSent{Outcome: "silent"}},
		measure.ReachSent{Outcome: "silent"},
		trySent{TCP: measure.ReachSent{Outcome: "refused"}, UDP: measure.ReachSent{Outcome: "refused", Reason: "port unreachable", By: "127.0.0.1"}},
	}
	if diff := cmp.Diff(want, []any{right, strange, elsewhere, gone}); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	came.TCP.From, came.UDP.From = "", "" // ports that the kernel chose
	if diff := cmp.Diff(tryCame{TCP: measure.ReachCame{Right: 1, Wrong: 1}, UDP: measure.ReachCame{Right: 1 + datagrams, Wrong: datagrams}}, came); diff != "" {
		t.Errorf("came (-want +got):\n%s", diff)
	}
}

// Who opens connections to a fresh port and says nothing keeps the peer from nothing, and takes few places.
func TestFreshPortIsScanned(t *testing.T) {
	loopback, other := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")
	own, err := openFresh(measure.ReachThere, loopback)
	if err != nil {
		t.Fatal(err)
	}
	own.answer(someCookie, loopback)
	at := netip.AddrPortFrom(loopback, uint16(own.ports().tcp))
	translated := tryTCP(t.Context(), someCookie, measure.ReachThere, other, at)
	scanner := net.Dialer{LocalAddr: &net.TCPAddr{IP: other.AsSlice()}}
	for range 2 * mostVisitors {
		silent, err := scanner.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
	}
	peer := tryTCP(t.Context(), someCookie, measure.ReachThere, loopback, at)
	came := own.close()
	if !peer.Answered || !translated.Answered || came.TCP.Right != 2 || came.TCP.Wrong > mostVisitors {
		t.Errorf("the peer %+v, from a translated address %+v; came %+v", peer, translated, came.TCP)
	}
}

func TestDrill(t *testing.T) {
	const short = time.Second // far more than a test takes that nothing cuts; half of the drills wait for it
	drilltest.Run(t, drilltest.Subject{
		Limit: short + jsonlines.LastTimeout, Varies: true,
		Serve: func(t *testing.T) (netip.AddrPort, func()) {
			r := NewResponder(false, nil)
			r.longest, r.places = short, admission.NewCount(admission.Limits{Each: 200, All: 200})
			return serving(t, "127.0.0.1:0", r)
		},
		Tests: map[string]func(context.Context, netip.AddrPort) error{"reach": func(ctx context.Context, at netip.AddrPort) error {
			conn, err := net.Dial("tcp", at.String())
			if err != nil {
				return err
			}
			defer conn.Close()
			_, err = askWithin(ctx, conn, short)
			return err
		}},
		Wrong: [][]byte{[]byte("{}\n"), []byte(`{"schema":"pathwise.reach/1","tcp":22,"udp":40000}` + "\n"), []byte(strings.Repeat("{", 3*mostLine))},
	})
}
