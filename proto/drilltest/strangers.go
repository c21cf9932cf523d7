package drilltest

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"
)

// silent opens many connections that say nothing, from another address of this host: the server serves beside them, and closes each. There are
// 200, or as many as PATHWISE_SILENT says, from 250 addresses then, which may take all places there are until their limit is over.
func (s Subject) silent(t *testing.T, at netip.AddrPort) {
	many, addresses := 200, 1
	if text := os.Getenv("PATHWISE_SILENT"); text != "" {
		var err error
		if many, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
		addresses = 250
	}
	var conns []net.Conn
	for i := range many {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i%addresses))}}
		conn, err := d.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns = append(conns, conn)
	}
	began := time.Now()
	for name := range s.Tests {
		s.serves(t, name, at, "beside silent connections")
	}
	t.Logf("tests beside %d silent connections were done after %v", many, time.Since(began))
	late := time.Now().Add(s.Limit + slack)
	for _, conn := range conns {
		awaitEnd(t, conn, late, "a connection that says nothing")
	}
}

// wrong says what no client says, and closes its half of the connection or does not: the server closes its own.
func (s Subject) wrong(t *testing.T, at netip.AddrPort) {
	wrong := append([][]byte{
		[]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), []byte("SSH-2.0-OpenSSH_9.2p1\r\n"), {0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3}, {0},
		bytes.Repeat([]byte{0}, 300), bytes.Repeat([]byte{0xff}, 300), bytes.Repeat([]byte("a"), 100_000),
	}, s.Wrong...)
	var group sync.WaitGroup
	for _, text := range wrong {
		for _, half := range []bool{false, true} {
			group.Go(func() {
				conn, err := net.Dial("tcp", at.String())
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				go func() { // ends with the connection: the server may not read it all
					_, _ = conn.Write(text)
					if half {
						_ = conn.(*net.TCPConn).CloseWrite()
					}
				}()
				awaitEnd(t, conn, time.Now().Add(s.Limit+slack), "a connection that began with "+strconv.Quote(string(text[:min(len(text), 20)])))
			})
		}
	}
	group.Wait()
}

// awaitEnd reads until the server has closed a connection.
func awaitEnd(t *testing.T, conn net.Conn, late time.Time, what string) {
	_ = conn.SetReadDeadline(late)
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the server keeps %s", what)
	}
}
