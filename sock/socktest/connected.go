// Package socktest makes sockets for tests that need two ends of one connection. It knows no protocol above TCP.
package socktest

import (
	"net"
	"testing"
)

// Connected returns both ends of a TCP connection at an address of this host, closed when the test ends: who called, and who was called. A test is skipped
// where this host cannot listen there, as at ::1 without IPv6.
func Connected(t testing.TB, address string) (caller, called net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Skipf("this host cannot listen at %s: %v", address, err)
	}
	defer l.Close()
	if caller, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { caller.Close() })
	if called, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { called.Close() })
	return caller, called
}
