package flows

import (
	"errors"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

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
	load, err := script.Load()
	if err != nil {
		t.Fatal(err)
	}
	return script, Terms{Longest: script.Duration() + 10*time.Second, Linger: time.Second, Rate: load.Peak, Flows: load.Flows}
}

// Flows of several patterns arrive as they were sent, and are told apart.
func TestFlowsOnLoopback(t *testing.T) {
	to := serving(t, &Server{Policy: Policy{Secret: strings.Repeat("s", SecretBytes)}})
	script, terms := parsed(t, `seed 5
flow a end 300ms constant rate 100/s size 200 dscp ef
flow b end 300ms frames frame 5000 every 100ms size 1200
flow c start 100ms end 300ms poisson rate 200/s size 64..1400
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
		if s.Packets+s.Skipped != load.Packets || s.Refused > 0 || a.Packets != s.Packets || a.Bytes != s.Bytes || a.Copies+a.Reordered+a.Remarked > 0 {
			t.Errorf("flow %d of %+v: sent %d packets, %d bytes, skipped %d, account %+v", i, load, s.Packets, s.Bytes, s.Skipped, a)
		}
	}
	if o.Account.Foreign+o.Account.Strangers > 0 {
		t.Errorf("%d foreign, %d strange datagrams", o.Account.Foreign, o.Account.Strangers)
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
		"flow a end 100ms constant rate 50/s size 100":   false,
		"flow a end 2m constant rate 1/s size 100":       true,
		"flow a end 10s constant rate 50/s size 100":     true,
		"flow a end 100ms constant rate 500/s size 9000": true,
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
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			accepted := make(chan net.Conn, 1)
			go func() {
				conn, err := l.Accept()
				if err == nil {
					_, _ = conn.Write(welcome{verdict: goAhead}.encode())
					_, _ = conn.Read(make([]byte, 1000))
					c.serve(conn)
				}
				accepted <- conn
			}()
			script, terms := parsed(t, "flow a end 10m constant rate 50/s size 100")
			silence := PeerTimeout
			if name == "silent" {
				silence = 300 * time.Millisecond
			}
			test, err := Client{Terms: terms, silence: silence}.Begin(t.Context(), []netip.AddrPort{netip.MustParseAddrPort(l.Addr().String())})
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
			(<-accepted).Close()
		})
	}
}
