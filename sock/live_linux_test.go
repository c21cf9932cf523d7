package sock

import (
	"io"
	"net"
	"syscall"
	"testing"
)

// connection returns both ends of a TCP connection over loopback to the given address, closed when the test ends.
func connection(t *testing.T, address string) (client, server *net.TCPConn) {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	peer, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); peer.Close() })
	return conn.(*net.TCPConn), peer.(*net.TCPConn)
}

// send moves n bytes from one end to the other and returns when the other end has them all.
func send(t *testing.T, from, to *net.TCPConn, n int) {
	t.Helper()
	failed := make(chan error, 1)
	go func() {
		_, err := from.Write(make([]byte, n))
		failed <- err
	}()
	if _, err := io.CopyN(io.Discard, to, int64(n)); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
}

func raw(t *testing.T, c syscall.Conn) syscall.RawConn {
	t.Helper()
	r, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	return r
}
