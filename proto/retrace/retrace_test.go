package retrace

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
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

var usual = Ask{Protocol: UDP, MaxTTL: 30, Queries: 3, Timeout: time.Second, Interval: time.Millisecond, DSCP: 46}

// found is what the route of these tests is.
var found = Route{NetworkBits: 24, Whole: measure.RouteSample{Reached: true, LastForwards: 1, Answers: "raw sockets", SentPackets: 9, SentBytes: 540},
	Hops: []measure.Hop{
		{TTL: 1, Addresses: []string{"192.0.2.1"}, RTTSeconds: []*float64{new(0.001), nil, new(0.0015)}, MPLS: []measure.MPLSLabel{{Label: 16, TTL: 1}},
			Interfaces: []measure.HopPort{{Role: "arrived by", Name: "eth0", Address: "192.0.2.1"}}},
		{TTL: 2, Addresses: []string{}, RTTSeconds: []*float64{nil, nil, nil}},
	}}

// serving serves at an address of this host until stop is called.
func serving(t *testing.T, address string, r *Responder) (at netip.AddrPort, stop func()) {
	t.Helper()
	l, err := endpoint.Listen(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	door := endpoint.Door{Protocol: "retrace", Greet: func(ctx context.Context, conn net.Conn, _ netip.Addr, _ func()) { _, _ = r.Serve(ctx, conn) }}
	ended := make(chan error, 1)
	go func() { ended <- door.Serve(ctx, l) }()
	return endpoint.AddrPort(l.Addr()), func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func requested(ctx context.Context, at netip.AddrPort, ask Ask) (Back, error) {
	conn, err := net.Dial("tcp", at.String())
	if err != nil {
		return Back{}, err
	}
	defer conn.Close()
	return Request(ctx, conn, ask)
}

// The route that is asked for goes to who asks, by what was asked for, within the limits.
func TestRequest(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		type traced struct {
			To  string
			Ask Ask
		}
		var got traced
		at, stop := serving(t, net.JoinHostPort(host, "0"), NewResponder(func(_ context.Context, to netip.Addr, ask Ask) (Route, error) {
			got = traced{to.String(), ask}
			return found, nil
		}, false, nil))
		much := usual
		much.MaxTTL, much.Queries, much.Timeout, much.Interval, much.Size = 255, 10, time.Minute, time.Microsecond, 1300
		back, err := requested(t.Context(), at, much)
		if err != nil {
			t.Fatal(err)
		}
		stop()
		want := traced{host, Ask{Protocol: UDP, MaxTTL: MostTTL, Queries: MostQueries, Timeout: MostTimeout, Interval: LeastInterval, DSCP: 46, Size: 1300}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: traced (-want +got):\n%s", host, diff)
		}
		if diff := cmp.Diff(found, back.Route); diff != "" || back.Seen != back.Local || back.Far.String() != host {
			t.Errorf("%s: %+v (-want +got):\n%s", host, back, diff)
		}
	}
}

// Who is switched off, has too many tests, fails or is no responder says so.
func TestRequestRefused(t *testing.T) {
	quick := func(context.Context, netip.Addr, Ask) (Route, error) { return found, nil }
	busy := NewResponder(quick, false, nil)
	busy.places = admission.NewCount(admission.Limits{})
	for want, r := range map[string]*Responder{
		"switched that off": NewResponder(quick, true, nil), "opened without that": NewResponder(nil, false, nil), "busy with other routes": busy,
		"no route to host": NewResponder(func(context.Context, netip.Addr, Ask) (Route, error) { return Route{}, errors.New("no route to host") }, false, nil),
	} {
		at, stop := serving(t, "127.0.0.1:0", r)
		if _, err := requested(t.Context(), at, usual); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
		stop()
	}
	for _, says := range []string{"", "SSH-2.0-OpenSSH\r\n", `{"error":"schema \"pathwise.retrace/1\": want pathwise.reach/1"}` + "\n"} {
		conn, other := socktest.Connected(t, "127.0.0.1")
		_, _ = io.WriteString(other, says)
		other.Close()
		if _, err := Request(t.Context(), conn, usual); !errors.Is(err, ErrNotHere) {
			t.Errorf("who says %q: %v", says, err)
		}
	}
}

// Nothing is sent to who has not shown that it heard the cookie, nor for who asks for too much, or for TCP.
func TestTracesForNobodyElse(t *testing.T) {
	var traced atomic.Int32
	at, stop := serving(t, "127.0.0.1:0", NewResponder(func(context.Context, netip.Addr, Ask) (Route, error) {
		traced.Add(1)
		return found, nil
	}, false, nil))
	defer stop()
	first, err := json.Marshal(usual.hello())
	if err != nil {
		t.Fatal(err)
	}
	for name, said := range map[string]string{
		"another cookie": string(first) + "\n" + `{"cookie":"00112233445566778899aabbccddeeff"}` + "\n",
		"nothing more":   string(first) + "\n",
		"TCP":            strings.Replace(string(first), `"udp"`, `"tcp"`, 1) + "\n{}\n",
		"many packets":   strings.Replace(string(first), `"queries":3`, `"queries":4`, 1) + "\n{}\n",
		"huge packets":   strings.Replace(string(first), `"dscp":46`, `"dscp":46,"size_bytes":9216`, 1) + "\n{}\n",
		"tiny packets":   strings.Replace(string(first), `"dscp":46`, `"dscp":46,"size_bytes":-1`, 1) + "\n{}\n",
		"a flood":        strings.Replace(string(first), `"interval_seconds":0.001`, `"interval_seconds":0.0001`, 1) + "\n{}\n",
	} {
		conn, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, said)
		_ = conn.(*net.TCPConn).CloseWrite() // of a connection that is open
		_, _ = io.ReadAll(conn)              // until it is done with this caller
		conn.Close()
		if traced.Load() > 0 {
			t.Fatalf("%s: traced", name)
		}
	}
}

// A trace ends when who asked for it is gone.
func TestEndsWithCaller(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan struct{})
	at, stop := serving(t, "127.0.0.1:0", NewResponder(func(ctx context.Context, _ netip.Addr, _ Ask) (Route, error) {
		close(begun)
		<-ctx.Done()
		close(ended)
		return Route{}, context.Cause(ctx)
	}, false, nil))
	defer stop()
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() { _, err := requested(ctx, at, usual); failed <- err }()
	<-begun
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-ended
}

// Whatever another end says is taken or refused; what is taken is within limits, and has texts that a terminal does not obey.
func FuzzRead(f *testing.F) {
	for _, message := range []any{usual.hello(), report{Hops: found.Hops, Route: found.Whole, NetworkBits: 24},
		offer{Cookie: strings.Repeat("0a", 16), Seen: "192.0.2.7:51000", Local: "198.51.100.1"}} {
		text, err := json.Marshal(message)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if a, err := readHello(line); err == nil && (a != a.Within() || a.MaxTTL < 1 || a.Queries < 1 || a.Timeout <= 0 || a.Size > MostSize) {
			t.Errorf("%+v", a)
		}
		if o, err := readOffer(line); err == nil {
			if _, err := netip.ParseAddrPort(o.Seen); err != nil || len(o.Cookie) != jsonlines.CookieDigits {
				t.Errorf("%+v", o)
			}
		}
		r, err := readReport(line)
		if err != nil {
			return
		}
		if len(r.Whole.Remarks) > mostRemarks {
			t.Errorf("%+v", r.Whole)
		}
		for i, h := range r.Hops {
			if h.TTL != i+1 || len(h.RTTSeconds) > MostQueries {
				t.Errorf("%+v", h)
			}
		}
		if text := obeyed(reflect.ValueOf(r)); text != "" {
			t.Errorf("%q is in %+v", text, r)
		}
	})
}

// obeyed is a text in a value that a terminal would obey, "" if there is none.
func obeyed(v reflect.Value) string {
	var parts []reflect.Value
	switch v.Kind() {
	case reflect.String:
		if strings.ContainsFunc(v.String(), func(r rune) bool { return r < ' ' || r > '~' }) {
			return v.String()
		}
	case reflect.Pointer:
		if !v.IsNil() {
			parts = append(parts, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			parts = append(parts, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			parts = append(parts, v.Field(i))
		}
	}
	for _, part := range parts {
		if text := obeyed(part); text != "" {
			return text
		}
	}
	return ""
}

// Every text of a report comes out printable, or has the report refused, wherever it stands.
func TestReadObeyed(t *testing.T) {
	const bad = `fe80::1%\u001b[2J`
	for _, line := range []string{
		`{"hops":[{"ttl":1,"addresses":["` + bad + `"]}]}`,
		`{"hops":[{"ttl":1,"interfaces":[{"role":"` + bad + `","name":"` + bad + `"}]}]}`,
		`{"hops":[{"ttl":1,"interfaces":[{"address":"` + bad + `"}]}]}`,
		`{"hops":[{"ttl":1,"reply":"` + bad + `","annotation":"` + bad + `","translated":"` + bad + `","fault":"` + bad + `"}]}`,
		`{"route":{"why":"` + bad + `","answers":"` + bad + `"}}`,
		`{"route":{"remarks":[{"kind":"` + bad + `","ttls":[1],"addresses":["` + bad + `"]}]}}`,
		`{"route":{"narrowings":[{"ttl":1,"before":2,"address":"` + bad + `"}]}}`,
		`{"error":"` + bad + `"}`,
	} {
		r, err := readReport([]byte(line))
		if text := obeyed(reflect.ValueOf(r)); err == nil && text != "" {
			t.Errorf("%s: %q", line, text)
		}
		if err != nil && obeyed(reflect.ValueOf(err.Error())) != "" {
			t.Errorf("%s: %q", line, err)
		}
	}
}

// Hops beyond any route are refused, wherever they stand.
func TestReadTTLs(t *testing.T) {
	for _, line := range []string{`{"first_silent":65}`, `{"dscp_changed_at":-1}`, `{"remarks":[{"kind":"loop","ttls":[9223372036854775807]}]}`, `{"narrowings":[{"ttl":1,"before":66}]}`} {
		if _, err := readReport([]byte(`{"route":` + line + `}`)); err == nil || !strings.Contains(err.Error(), "want 0 to 64") {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// A route without hops is an empty list of them, which it is in a Result, too.
func TestReadWithoutHops(t *testing.T) {
	for _, line := range []string{`{}`, `{"hops":null}`, `{"hops":[]}`} {
		r, err := readReport([]byte(line))
		if diff := cmp.Diff(Route{Hops: []measure.Hop{}}, r); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", line, err, diff)
		}
	}
}

// A narrowing is at an address, if at any, and to a size that a caller may ask about.
func TestReadNarrowings(t *testing.T) {
	for line, right := range map[string]bool{
		`{"ttl":2,"before":3,"mtu_bytes":1300,"address":"192.0.2.1"}`:         true,
		`{"ttl":2,"before":3,"mtu_bytes":1300,"address":"fe80::1%eth0"}`:      true,
		`{"before":1,"mtu_bytes":9215}`:                                       true,
		`{"ttl":2,"before":3,"mtu_bytes":1300,"address":"call 555 for help"}`: false,
		`{"ttl":2,"before":3,"mtu_bytes":-1}`:                                 false,
		`{"ttl":2,"before":3,"mtu_bytes":9216}`:                               false,
	} {
		if _, err := readReport([]byte(`{"route":{"narrowings":[` + line + `]}}`)); (err == nil) != right {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// A hop that tells more than a caller takes is told as far as it is taken.
func TestReportOf(t *testing.T) {
	much := Route{Hops: []measure.Hop{{TTL: 1, Addresses: slices.Repeat([]string{"192.0.2.1"}, mostAddresses+1), Interfaces: make([]measure.HopPort, mostAddresses+1),
		MPLS: make([]measure.MPLSLabel, mostLabels+1), RTTSeconds: make([]*float64, MostQueries+1)}}}
	line, err := json.Marshal(reportOf(much))
	if err != nil {
		t.Fatal(err)
	}
	got, err := readReport(line)
	if err != nil {
		t.Fatal(err)
	}
	want := Route{Hops: []measure.Hop{{TTL: 1, Addresses: much.Hops[0].Addresses[1:], Interfaces: much.Hops[0].Interfaces[1:], MPLS: much.Hops[0].MPLS[1:],
		RTTSeconds: much.Hops[0].RTTSeconds[1:]}}}
	if diff := cmp.Diff(want, got); diff != "" || len(much.Hops[0].MPLS) != mostLabels+1 {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Who has not shown that it heard the cookie takes nobody's place.
func TestIdleTakesNoPlace(t *testing.T) {
	at, stop := serving(t, "127.0.0.1:0", NewResponder(func(context.Context, netip.Addr, Ask) (Route, error) { return found, nil }, false, nil))
	defer stop()
	first, err := json.Marshal(usual.hello())
	if err != nil {
		t.Fatal(err)
	}
	for range testsEach {
		conn, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = conn.Write(append(first, '\n'))
		if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "cookie") {
			t.Fatalf("%q, %v", line, err)
		}
	}
	if _, err := requested(t.Context(), at, usual); err != nil {
		t.Error(err)
	}
}

func TestDrill(t *testing.T) {
	const short = time.Second // far more than a test takes that nothing cuts; half of the drills wait for it
	drilltest.Run(t, drilltest.Subject{
		Limit: short + jsonlines.LastTimeout, Varies: true,
		Serve: func(t *testing.T) (netip.AddrPort, func()) {
			r := NewResponder(func(context.Context, netip.Addr, Ask) (Route, error) { return found, nil }, false, nil)
			r.longest, r.places = short, admission.NewCount(admission.Limits{Each: 200, All: 200})
			return serving(t, "127.0.0.1:0", r)
		},
		Tests: map[string]func(context.Context, netip.AddrPort) error{"retrace": func(ctx context.Context, at netip.AddrPort) error {
			conn, err := net.Dial("tcp", at.String())
			if err != nil {
				return err
			}
			defer conn.Close()
			_, err = requestWithin(ctx, conn, usual, short)
			return err
		}},
		Wrong: [][]byte{[]byte("{}\n"), []byte(`{"schema":"pathwise.retrace/1","protocol":"tcp"}` + "\n"), []byte(strings.Repeat("{", 3*mostLine))},
	})
}
