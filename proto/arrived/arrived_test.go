package arrived

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
)

func TestServe(t *testing.T) {
	for _, c := range []struct {
		headers []byte
		err     error
	}{{[]byte{0x45, 0, 1}, nil}, {nil, errors.ErrUnsupported}} {
		near, far := net.Pipe()
		go func() {
			Serve(far, func() ([]byte, error) { return c.headers, c.err })
			far.Close()
		}()
		line := make([]byte, mostLine)
		n, err := near.Read(line)
		near.Close()
		if err != nil && err != io.EOF {
			t.Fatal(err)
		}
		got, err := Read(line[:n])
		if !bytes.Equal(got, c.headers) || (err == nil) != (c.err == nil) {
			t.Errorf("%x, %v; want %x, %v", got, err, c.headers, c.err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"headers":"450000"}` + "\n"))
	f.Add([]byte(`{"error":"schema \"pathwise.arrived/1\": want pathwise.reach/1"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if b, err := Read(line); err == nil && (len(b) == 0 || len(b) > mostHeaders) {
			t.Errorf("%x", b)
		}
	})
}

// An older responder does not know the request.
func TestReadOlder(t *testing.T) {
	for _, line := range []string{"220 mail.example.net ESMTP\r\n", `{"error":"schema \"pathwise.arrived/1\": want pathwise.reach/1"}`, ""} {
		if _, err := Read([]byte(line)); !errors.Is(err, ErrNotHere) {
			t.Errorf("%q: %v", line, err)
		}
	}
}
