package socktest

import (
	"io"
	"net"
	"testing"
)

// What one end writes the other reads, and both are closed when the test that they were made for is over.
func TestConnected(t *testing.T) {
	var ends []net.Conn
	t.Run("a test", func(t *testing.T) {
		caller, called := Connected(t, "127.0.0.1")
		ends = []net.Conn{caller, called}
		if caller.LocalAddr().String() != called.RemoteAddr().String() || caller.RemoteAddr().String() != called.LocalAddr().String() {
			t.Errorf("%v to %v, and %v to %v", caller.LocalAddr(), caller.RemoteAddr(), called.LocalAddr(), called.RemoteAddr())
		}
		if _, err := io.WriteString(caller, "a"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(called, make([]byte, 1)); err != nil {
			t.Error(err)
		}
	})
	for _, end := range ends {
		if _, err := end.Write([]byte("b")); err == nil {
			t.Errorf("%v is open after its test", end.LocalAddr())
		}
	}
}
