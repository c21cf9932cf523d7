package lab

import (
	"context"
	"io"
	"os"
	"testing"
)

// A capture whose reader has gone ends with the next packet, without an error, though nobody ended it.
func TestCaptureEndsWithItsReader(t *testing.T) {
	l := start(t, "hosts: {a: {}, b: {}}\nlinks: [{between: [a, b]}]", Options{})
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- l.Capture(ctx, writer, "a")
		writer.Close()
	}()
	if _, err := io.ReadFull(reader, make([]byte, 12)); err != nil { // it has begun
		t.Fatal(err)
	}
	reader.Close()
	for range 50 {
		run(t, l, "a", "ping", "-n", "-q", "-c", "1", "-W", "1", "b")
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
	}
	cancel()
	t.Errorf("it goes on after 50 pings; ended by its user: %v", <-ended)
}
