package flows

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/traffic"
)

// serving serves on loopback until the test ends, and then finds that nothing is left.
func serving(t *testing.T, s *Server) netip.AddrPort {
	t.Helper()
	before := runtime.NumGoroutine()
	to, stop := served(t, s)
	t.Cleanup(func() {
		stop()
		for deadline := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				stacks := make([]byte, 1<<16)
				t.Fatalf("goroutines are left:\n%s", stacks[:runtime.Stack(stacks, true)])
			}
		}
	})
	return to
}

func parsed(t *testing.T, text string) (*traffic.Script, Terms) {
	t.Helper()
	script, err := traffic.Parse(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	terms, err := TermsOf(script, text, false, time.Second, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return script, terms
}

// Flows of several patterns arrive as they were sent, one way and the other, and are told apart; so are their intervals.
func TestFlowsOnLoopback(t *testing.T) {
	to := serving(t, &Server{Policy: Policy{Secret: strings.Repeat("s", SecretBytes)}})
	script, terms := parsed(t, `seed 5
flow a end 300ms constant rate 100/s size 200 dscp ef
flow b end 300ms frames frame 5000 every 100ms size 1200
flow c start 100ms end 300ms poisson rate 200/s size 64..1400
flow d reverse end 300ms constant rate 100/s size 300 dscp af41
flow e reverse start 100ms end 300ms frames frame 3000 every 100ms size 1000
at 200ms d dscp be
at 150ms a dscp be`)
	test, err := Client{Terms: terms, Secret: strings.Repeat("s", SecretBytes)}.Begin(t.Context(), []netip.AddrPort{to})
	if err != nil {
		t.Fatal(err)
	}
	o, err := test.Run(t.Context(), script)
	if err != nil {
		t.Fatal(err)
	}
	for i, load := range terms.Flows {
		s, a := o.Sent[i], o.Account.Flows[i]
		if s.Port == 0 || s.Packets+s.Skipped != load.Packets || s.Refused > 0 || a.Packets != s.Packets || a.Bytes != s.Bytes || a.Copies+a.Reordered+a.Remarked > 0 {
			t.Errorf("flow %d of %+v: sent %d packets, %d bytes, skipped %d, account %+v", i, load, s.Packets, s.Bytes, s.Skipped, a)
		}
		var came []int
		for _, one := range a.Intervals {
			came = append(came, one.Packets)
		}
		if !cmp.Equal(came, s.Intervals) || len(came) != 3 || script.Flows[i].Start > 0 && came[0] > 0 {
			t.Errorf("flow %d: %v packets came in its intervals, %v were sent", i, came, s.Intervals)
		}
	}
	if o.Account.Foreign+o.Account.Strangers > 0 {
		t.Errorf("%d foreign, %d strange datagrams", o.Account.Foreign, o.Account.Strangers)
	}
}

// Flows in reverse come over IPv4 and IPv6, also from a socket that hears both.
func TestReverseFamilies(t *testing.T) {
	script, terms := parsed(t, "flow a reverse end 40ms constant rate 100/s size 100 dscp ef")
	terms.Linger = 10 * time.Millisecond
	for listen, hosts := range map[string][]string{"127.0.0.1:0": {"127.0.0.1"}, "[::1]:0": {"::1"}, ":0": {"127.0.0.1", "::1"}} {
		at, stop := servedAt(t, &Server{}, listen)
		for _, host := range hosts {
			test, err := Client{Terms: terms}.Begin(t.Context(), []netip.AddrPort{netip.AddrPortFrom(netip.MustParseAddr(host), at.Port())})
			if err != nil {
				t.Fatalf("%s at %s: %v", host, listen, err)
			}
			if o, err := test.Run(t.Context(), script); err != nil || o.Sent[0].Packets == 0 || o.Account.Flows[0].Packets != o.Sent[0].Packets || o.Account.Flows[0].Remarked > 0 {
				t.Errorf("%s at %s: %v: %+v", host, listen, err, o)
			}
		}
		stop()
	}
}

// Datagrams of no test, of wrong numbers and from elsewhere are counted, and do not enter.
func TestStrangers(t *testing.T) {
	to := serving(t, &Server{})
	script, terms := parsed(t, "flow a end 200ms constant rate 50/s size 100")
	test, err := Client{Terms: terms}.Begin(t.Context(), []netip.AddrPort{to})
	if err != nil {
		t.Fatal(err)
	}
	send := func(from string, packets ...[]byte) {
		conn, err := net.DialUDP("udp", &net.UDPAddr{IP: net.ParseIP(from)}, net.UDPAddrFromAddrPort(to))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for _, p := range packets {
			if _, err := conn.Write(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	of := func(d datagram) []byte {
		b := make([]byte, headerBytes)
		d.encode(b)
		return b
	}
	good := of(datagram{number: test.number})
	send("127.0.0.1", good[:headerBytes-1], of(datagram{number: number{1}}))
	send("127.0.0.2", good)
	send("127.0.0.1", of(datagram{number: test.number, flow: 1}), of(datagram{number: test.number, seq: 10}))
	o, err := test.Run(t.Context(), script)
	if err != nil {
		t.Fatal(err)
	}
	if a := o.Account; a.Strangers != 3 || a.Foreign != 2 || a.Flows[0].Packets != o.Sent[0].Packets || a.Flows[0].Copies > 0 {
		t.Errorf("account %+v of %d packets sent", a, o.Sent[0].Packets)
	}
}

// What a policy does not allow is refused, with what it does.
func TestPolicy(t *testing.T) {
	to := serving(t, &Server{Policy: Policy{Tests: 4, Most: Ask{Longest: time.Minute, Packets: 100, Rate: 1e6}}})
	for text, refused := range map[string]bool{
		"flow a end 100ms constant rate 50/s size 100":                                                     false,
		"flow a end 2m constant rate 1/s size 100":                                                         true,
		"flow a end 10s constant rate 50/s size 100":                                                       true,
		"flow a end 100ms constant rate 500/s size 9000":                                                   true,
		"flow a reverse end 100ms constant rate 50/s size 100":                                             false,
		"flow a reverse end 10s constant rate 50/s size 100":                                               true,
		"flow a reverse end 100ms constant rate 500/s size 9000; flow b end 1ms constant rate 1/s size 99": true,
	} {
		_, terms := parsed(t, text)
		test, err := Client{Terms: terms}.Begin(t.Context(), []netip.AddrPort{to})
		var much *TooMuchError
		if errors.As(err, &much) != refused || (err == nil) == refused {
			t.Errorf("%s: %v", text, err)
		}
		if err == nil {
			test.Close()
		}
	}
}

// A far end that is silent, or goes away, ends the test within its time, with what is known.
func TestFarEndVanishes(t *testing.T) {
	for name, c := range map[string]struct {
		serve func(conn net.Conn)
		want  error
	}{
		"at once":        {func(conn net.Conn) { conn.Close() }, endpoint.ErrLost},
		"after one word": {func(conn net.Conn) { _, _ = conn.Write(encodeSoFar([]SoFar{{7, 700}})); conn.Close() }, endpoint.ErrLost},
		"in a word":      {func(conn net.Conn) { _, _ = conn.Write(soFarMark[:5]); conn.Close() }, endpoint.ErrLost},
		"silent":         {func(net.Conn) {}, endpoint.ErrSilent},
		"foreign":        {func(conn net.Conn) { _, _ = conn.Write([]byte("HTTP/1.1")) }, errForeign},
	} {
		t.Run(name, func(t *testing.T) {
			at := pretending(t, c.serve)
			script, terms := parsed(t, "flow a end 10m constant rate 50/s size 100")
			silence := PeerTimeout
			if name == "silent" {
				silence = 300 * time.Millisecond
			}
			test, err := Client{Terms: terms, silence: silence}.Begin(t.Context(), []netip.AddrPort{at})
			if err != nil {
				t.Fatal(err)
			}
			o, err := test.Run(t.Context(), script)
			if !errors.Is(err, c.want) || o.Account != nil || len(o.Sent) != 1 {
				t.Errorf("error %v, outcome %+v", err, o)
			}
			if name == "after one word" && (len(o.SoFar) != 1 || o.SoFar[0].Packets != 7) {
				t.Errorf("so far %+v", o.SoFar)
			}
		})
	}
}

// pretending is a far end that lets one client in, does as serve does, and keeps the connection until the client closes it.
func pretending(t *testing.T, serve func(net.Conn)) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-served })
	go func() {
		defer close(served)
		if conn, err := l.Accept(); err == nil {
			defer conn.Close()
			_, _ = conn.Write(welcome{verdict: goAhead}.encode())
			_, _ = conn.Read(make([]byte, 1000))
			serve(conn)
			_, _ = io.Copy(io.Discard, conn)
		}
	}()
	return netip.MustParseAddrPort(l.Addr().String())
}

// A far end whose account comes before the end of the test is foreign, and one that talks on without what is due ends the test in its time.
func TestFarEndOutOfTurn(t *testing.T) {
	account := func(intervals int) func(net.Conn) {
		return func(conn net.Conn) {
			_, _ = conn.Write((&Account{Flows: []FlowAccount{{Intervals: make([]Interval, intervals)}}}).encode())
			conn.Close()
		}
	}
	talk := func(conn net.Conn) {
		each := time.NewTicker(20 * time.Millisecond)
		defer each.Stop()
		for err := error(nil); err == nil; <-each.C {
			_, err = conn.Write(encodeSoFar(make([]SoFar, 1)))
		}
	}
	opened := func(serve func(net.Conn)) func(net.Conn) {
		return func(conn net.Conn) { _, _ = conn.Write(openMark); serve(conn) }
	}
	const long, short, back = "flow a end 2s constant rate 50/s size 100", "flow a end 100ms constant rate 50/s size 100", "flow a reverse end 100ms constant rate 50/s size 100"
	for name, c := range map[string]struct {
		text  string
		serve func(net.Conn)
		want  error
	}{
		"account at once":      {long, account(20), errForeign},
		"account without sent": {back, opened(account(1)), errForeign},
		"never an account":     {short, talk, errOverdue},
		"never sent":           {back, opened(talk), errOverdue},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script, terms := parsed(t, c.text)
			if c.want == errOverdue {
				terms.Longest = time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			test, err := Client{Terms: terms, silence: time.Second}.Begin(ctx, []netip.AddrPort{pretending(t, c.serve)})
			if err != nil {
				t.Fatal(err)
			}
			if o, err := test.Run(ctx, script); !errors.Is(err, c.want) || o.Account != nil || len(o.Sent) != 1 {
				t.Errorf("error %v, outcome %+v", err, o)
			}
		})
	}
}

// A server sends what its own reading of the script says: a client whose terms say less is refused.
func TestTermsAreHeldToTheScript(t *testing.T) {
	to := serving(t, &Server{Policy: Policy{Tests: 4}})
	for name, change := range map[string]func(*Terms){
		"another script":    func(t *Terms) { t.Script = strings.Replace(t.Script, "50/s", "5000/s", 1) },
		"no script":         func(t *Terms) { t.Script = "flow" },
		"more flows":        func(t *Terms) { t.Script += "\nflow b end 1s constant rate 1/s size 99" },
		"a lower rate":      func(t *Terms) { t.Rate /= 2 },
		"other intervals":   func(t *Terms) { t.Interval, t.Intervals = time.Millisecond, 1 },
		"too few intervals": func(t *Terms) { t.Intervals-- },
		"turned":            func(t *Terms) { t.Turned = true; t.Script += "\nflow c replay file x" },
	} {
		_, terms := parsed(t, "flow a reverse end 300ms constant rate 50/s size 100")
		change(&terms)
		if _, err := (Client{Terms: terms}).Begin(t.Context(), []netip.AddrPort{to}); !input.Bad(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Where no datagram reaches the far end, a test with flows in reverse ends in time, and says so.
func TestNoWayForKnocks(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		if conn, err := l.Accept(); err == nil {
			_, _ = conn.Write(welcome{verdict: goAhead}.encode())
			accepted <- conn
		}
	}()
	script, terms := parsed(t, "flow a reverse end 1s constant rate 50/s size 100")
	test, err := Client{Terms: terms, Timeout: 300 * time.Millisecond}.Begin(t.Context(), []netip.AddrPort{netip.MustParseAddrPort(l.Addr().String())})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { (<-accepted).Close() }()
	if o, err := test.Run(t.Context(), script); !errors.Is(err, ErrNoWay) || o.Account != nil || len(o.Sent) != 1 {
		t.Errorf("error %v, outcome %+v", err, o)
	}
}

// While accounts of other tests are made, a client hears that its server is there.
func TestAccountsInTurn(t *testing.T) {
	const silence, beat = time.Second, 100 * time.Millisecond
	s := &Server{silence: silence, beat: beat}
	to := serving(t, s)
	script, terms := parsed(t, "flow a end 1ms constant rate 50/s size 100")
	terms.Linger = time.Millisecond
	soFar := make(chan struct{}, 1000)
	test, err := Client{Terms: terms, silence: silence, OnSoFar: func([]SoFar) { soFar <- struct{}{} }}.Begin(t.Context(), []netip.AddrPort{to})
	if err != nil {
		t.Fatal(err)
	}
	s.reckoning <- struct{}{} // another's
	go func() {
		for range silence/beat + 5 { // longer than its silence may be
			<-soFar
		}
		<-s.reckoning
	}()
	if o, err := test.Run(t.Context(), script); err != nil || o.Account == nil {
		t.Errorf("%v: %+v", err, o)
	}
}
