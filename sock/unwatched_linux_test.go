package sock

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// unwatchedPair is an Unwatched and what it is connected to.
func unwatchedPair(t *testing.T) (u *Unwatched, peer *net.UDPConn) {
	t.Helper()
	peer, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.Close() })
	conn, err := net.DialUDP("udp4", nil, peer.LocalAddr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	local := conn.LocalAddr().String()
	if u, err = Unwatch(conn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.Close() })
	if got := u.LocalAddr().String(); got != local || u.RemoteAddr().String() != peer.LocalAddr().String() {
		t.Fatalf("from %s to %s, not from %s to %s", got, u.RemoteAddr(), local, peer.LocalAddr())
	}
	if _, err := conn.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Fatalf("the connection that was given is not closed: %v", err)
	}
	return u, peer
}

// Datagrams go both ways; what waits for one is there when it comes.
func TestUnwatchedCarries(t *testing.T) {
	u, peer := unwatchedPair(t)
	got := make(chan string, 1)
	go func() {
		var b [16]byte
		n, err := u.Read(b[:])
		got <- string(b[:n]) + errorText(err)
	}()
	if _, err := u.Write([]byte("ping")); err != nil {
		t.Fatal(err)
	}
	var b [16]byte
	n, from, err := peer.ReadFromUDP(b[:])
	if err != nil || string(b[:n]) != "ping" {
		t.Fatalf("got %q, %v", b[:n], err)
	}
	if _, err := peer.WriteToUDP([]byte("pong"), from); err != nil {
		t.Fatal(err)
	}
	if text := <-got; text != "pong" {
		t.Fatalf("got %q", text)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A deadline that is set, or a close, ends what waits; a deadline taken back lets it read again.
func TestUnwatchedEnds(t *testing.T) {
	for name, end := range map[string]struct {
		how  func(*Unwatched) error
		want error
	}{
		"deadline that is over": {func(u *Unwatched) error { return u.SetReadDeadline(time.Unix(1, 0)) }, os.ErrDeadlineExceeded},
		"deadline to come":      {func(u *Unwatched) error { return u.SetDeadline(time.Now().Add(5 * time.Millisecond)) }, os.ErrDeadlineExceeded},
		"close":                 {(*Unwatched).Close, net.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			u, peer := unwatchedPair(t)
			waits := make(chan error, 1)
			go func() {
				_, err := u.Read(make([]byte, 1))
				waits <- err
			}()
			if err := end.how(u); err != nil {
				t.Fatal(err)
			}
			if err := <-waits; !errors.Is(err, end.want) {
				t.Fatalf("ended with %v, not %v", err, end.want)
			}
			if end.want == net.ErrClosed {
				if err := u.Close(); !errors.Is(err, net.ErrClosed) {
					t.Fatalf("closed twice: %v", err)
				}
				return
			}
			if err := u.SetReadDeadline(time.Time{}); err != nil {
				t.Fatal(err)
			}
			from, err := net.ResolveUDPAddr("udp", u.LocalAddr().String())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := peer.WriteToUDP([]byte("x"), from); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(u, make([]byte, 1)); err != nil {
				t.Fatalf("read after the deadline was taken back: %v", err)
			}
		})
	}
}

// Errors that the kernel queues beside the data (IP_RECVERR) neither hide a datagram nor keep a reader busy.
func TestUnwatchedDropsQueuedErrors(t *testing.T) {
	u, peer := unwatchedPair(t)
	raw, _ := u.SyscallConn()
	if err := SetInt(raw, unix.IPPROTO_IP, unix.IP_RECVERR, 1); err != nil {
		t.Fatal(err)
	}
	to := peer.LocalAddr().(*net.UDPAddr)
	peer.Close()
	if _, err := u.Write([]byte("nobody hears")); err != nil {
		t.Fatal(err)
	}
	if _, err := u.Read(make([]byte, 1)); !errors.Is(err, unix.ECONNREFUSED) {
		t.Fatalf("told %v of a closed port", err)
	}
	again, err := net.ListenUDP("udp4", to)
	if err != nil {
		t.Skip("another program took the port:", err)
	}
	defer again.Close()
	looks := 0
	done := make(chan error, 1)
	go func() {
		done <- raw.Read(func(fd uintptr) bool {
			looks++
			n, err := unix.Read(int(fd), make([]byte, 1))
			return n == 1 && err == nil
		})
	}()
	from, _ := net.ResolveUDPAddr("udp", u.LocalAddr().String())
	if _, err := again.WriteToUDP([]byte("x"), from); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil || looks > 4 {
		t.Fatalf("%v after %d looks", err, looks)
	}
}
