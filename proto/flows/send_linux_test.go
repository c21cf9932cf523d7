package flows

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/traffic"
)

// A packet that is due after the intervals of its terms counts in the last of them.
func TestDuring(t *testing.T) {
	s, o := &sender{interval: 100 * time.Millisecond}, &outlet{sent: Sent{Intervals: make([]int, 3)}}
	for due, want := range map[time.Duration]int{0: 0, 99 * time.Millisecond: 0, 299 * time.Millisecond: 2, 300 * time.Millisecond: 2, time.Hour: 2} {
		if got := s.during(o, due); got != want {
			t.Errorf("%v: %d, want %d", due, got, want)
		}
	}
}

// A sender whose socket has no room, and gets none, ends with its context. The socket is one of datagrams on this host that nobody reads.
func TestSenderEndsWithoutRoom(t *testing.T) {
	at := &net.UnixAddr{Name: filepath.Join(t.TempDir(), "socket"), Net: "unixgram"}
	unread, err := net.ListenUnixgram("unixgram", at)
	if err != nil {
		t.Fatal(err)
	}
	defer unread.Close()
	conn, err := net.DialUnix("unixgram", nil, at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	script, _ := parsed(t, "flow a end 1m constant rate 10000/s size 30000")
	s := &sender{interval: time.Minute, padding: make([]byte, 30000), outlets: []outlet{{raw: raw, sent: Sent{Intervals: make([]int, 1)}}}}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- s.run(ctx, traffic.NewPacer(script, false)) }()
	select {
	case err := <-done:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it waits on")
	}
}
