package flows

import (
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// The client vanishes at twenty points of the protocol, by FIN, by RST and without a word. Each test ends within the time that the server gives a
// silent client, and the server serves on.
func TestClientVanishes(t *testing.T) {
	over := make(chan Tested, 100)
	to := serving(t, &Server{Policy: Policy{Tests: 100}, OnTest: func(one Tested) { over <- one }, silence: 200 * time.Millisecond})
	script, terms := parsed(t, "flow a end 100ms constant rate 50/s size 100")
	hello := encodeHello("", terms)
	end := append(append([]byte{}, endMark...), 0, 0, 0, 5)
	whole := slices.Concat(hello, beatMark, end)
	points := []int{0, 1, 8, 43, 45, helloBytes - 1, helloBytes, helloBytes + 1, len(hello) - 1, len(hello), len(hello) + 1, len(hello) + 4, len(hello) + 8,
		len(hello) + 9, len(hello) + 12, len(hello) + 16, len(hello) + 17, len(whole) - 2, len(whole) - 1, len(whole)}
	ways := map[string]func(*net.TCPConn){"FIN": func(c *net.TCPConn) { c.Close() }, "RST": func(c *net.TCPConn) { _ = c.SetLinger(0); c.Close() },
		"silence": func(*net.TCPConn) {}}
	begun := 0
	for _, point := range points {
		for _, vanish := range ways {
			conn, err := net.Dial("tcp", to.String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := conn.Write(whole[:point]); err != nil {
				t.Fatal(err)
			}
			if point >= len(hello) { // it is let in, and so known to the server
				if _, err := io.ReadFull(conn, make([]byte, welcomeBytes)); err != nil {
					t.Fatal(err)
				}
				begun++
			}
			vanish(conn.(*net.TCPConn))
		}
	}
	for range begun {
		select {
		case <-over:
		case <-time.After(20 * time.Second):
			t.Fatal("a test of a client that is gone is not over")
		}
	}
	test, err := Client{Terms: terms}.Begin(t.Context(), []netip.AddrPort{to})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := test.Run(t.Context(), script); err != nil {
		t.Error(err)
	}
}

// Connections that say nothing do not keep others out: those of another network are served.
func TestSilentConnections(t *testing.T) {
	n := 200
	if text := os.Getenv("PATHWISE_TEST_SILENT"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	to := serving(t, &Server{})
	for i := range n { // of many networks, as far as loopback has them
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, byte(1+i/64%200), 0, byte(1+i%64))}, Timeout: 5 * time.Second}
		conn, err := dialer.Dial("tcp", to.String())
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		defer conn.Close()
	}
	script, terms := parsed(t, "flow a end 50ms constant rate 100/s size 100")
	for until := time.Now().Add(endTime); ; {
		test, err := Client{Terms: terms}.Begin(t.Context(), []netip.AddrPort{to})
		if err == nil {
			_, err = test.Run(t.Context(), script)
		}
		if err == nil {
			return
		}
		if time.Now().After(until) {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// endTime is the time that a silent connection has, twice.
const endTime = 20 * time.Second
