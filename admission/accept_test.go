package admission

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
)

// scarce is a listener whose first connections cannot be had.
type scarce struct {
	net.Listener
	fails []error
}

func (s *scarce) Accept() (net.Conn, error) {
	if len(s.fails) == 0 {
		return s.Listener.Accept()
	}
	err := s.fails[0]
	s.fails = s.fails[1:]
	return nil, err
}

// Connections are handed on after some could not be had; the end of the context is none of an error, a listener closed before it is.
func TestAccept(t *testing.T) {
	real, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer context.AfterFunc(ctx, func() { real.Close() })()
	var log bytes.Buffer
	ended := make(chan error, 1)
	admitted := make(chan net.Conn, 1)
	go func() {
		l := &scarce{real, []error{errors.New("too many open files")}}
		ended <- Accept(ctx, l, slog.New(slog.NewTextHandler(&log, nil)), func(c net.Conn) { admitted <- c })
	}()
	client, err := net.Dial("tcp", real.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	(<-admitted).Close()
	cancel()
	if err := <-ended; err != nil || strings.Count(log.String(), "too many open files") != 1 {
		t.Errorf("ended with %v, and logged %q", err, log.String())
	}
	if err := Accept(t.Context(), real, slog.New(slog.DiscardHandler), nil); !errors.Is(err, net.ErrClosed) {
		t.Errorf("of a listener that is closed: %v", err)
	}
}
