package sock

import (
	"bytes"
	"io"
	"testing"

	"golang.org/x/sys/unix"
)

// What is discarded is counted, is gone, and is no more than was asked for: what follows is read as it was sent.
func TestDiscard(t *testing.T) {
	client, server := connection(t, "127.0.0.1")
	sent := make([]byte, 100_001)
	for i := range sent {
		sent[i] = byte(i % 251)
	}
	go func() {
		_, _ = client.Write(sent)
		client.CloseWrite()
	}()
	const gone = 60_000
	discard := func(n int) (sum int, end bool) {
		var failed error
		waited := raw(t, server).Read(func(fd uintptr) bool {
			for sum < n {
				got, err := Discard(fd, n-sum)
				if err == unix.EAGAIN {
					return false
				}
				if failed = err; err != nil || got == 0 {
					end = true
					return true
				}
				sum += got
			}
			return true
		})
		if waited != nil || failed != nil {
			t.Fatal(waited, failed)
		}
		return sum, end
	}
	if n, end := discard(gone); n != gone || end {
		t.Fatalf("%d discarded, end %v; want %d", n, end, gone)
	}
	some := make([]byte, 20_000)
	if _, err := io.ReadFull(server, some); err != nil || !bytes.Equal(some, sent[gone:gone+len(some)]) {
		t.Fatalf("what follows is not what was sent, %v", err)
	}
	if n, end := discard(len(sent)); n != len(sent)-gone-len(some) || !end {
		t.Errorf("%d discarded, end %v; want %d and the end", n, end, len(sent)-gone-len(some))
	}
}
