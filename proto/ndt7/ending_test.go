package ndt7_test

import (
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/proto/ndt7"
)

// slowly passes connections on to a server, so many bytes a second on the way there: what a client has sent when its test is over waits in queues.
func slowly(t *testing.T, to netip.AddrPort, rate int) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(to))
			if err != nil {
				near.Close()
				continue
			}
			go func() { _, _ = io.Copy(near, far); near.Close(); far.Close() }()
			go func() {
				const each = 10 * time.Millisecond
				tick := time.NewTicker(each)
				defer tick.Stop()
				for range tick.C {
					if _, err := io.CopyN(far, near, int64(float64(rate)*each.Seconds())); err != nil {
						_ = far.CloseWrite()
						return
					}
				}
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// An upload whose last data are still on the way keeps the only place for a moment: the next test waits for that, and is not refused.
func TestNextTestAwaitsEnding(t *testing.T) {
	t.Parallel()
	at, record, _ := serve(t, &ndt7.Server{})
	client := ndt7.Client{Host: "localhost", Duration: half}
	if _, err := client.Run(t.Context(), ndt7.Upload, []netip.AddrPort{slowly(t, at, 2<<20)}); err != nil {
		t.Fatal(err)
	}
	if len(record.all()) > 0 {
		t.Log("the first test was over at the server before the next began")
	}
	if _, err := client.Run(t.Context(), ndt7.Download, []netip.AddrPort{at}); err != nil {
		t.Errorf("the next test: %v", err)
	}
	record.await(t, 2)
}
