package ndt7_test

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/proto/ndt7"
)

// relay passes connections on to a server, until so many bytes came back: then it cuts both ends off, or falls silent.
func relay(t *testing.T, to netip.AddrPort, bytes int64, silent bool) (at string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	over := t.Context()
	go func() { // ends with the listener
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to.String())
			if err != nil {
				near.Close()
				continue
			}
			go func() { _, _ = io.Copy(far, near) }()
			go func() {
				defer near.Close()
				defer far.Close()
				_, _ = io.CopyN(near, far, bytes)
				if silent {
					<-over.Done()
				}
				_ = near.(*net.TCPConn).SetLinger(0)
				_ = far.(*net.TCPConn).SetLinger(0)
			}()
		}
	}()
	return l.Addr().String()
}

// The server is gone at twenty points of each test, and the client for the server: neither hangs, both say so, and the server serves on.
// With PATHWISE_SILENT the connections fall silent there, too, which takes each end its time limit.
func TestVanish(t *testing.T) {
	t.Parallel()
	at, record, stop := serve(t, &ndt7.Server{Policy: ndt7.Policy{Tests: 100, Longest: 300 * time.Millisecond}})
	ways := []bool{false}
	if os.Getenv("PATHWISE_SILENT") != "" {
		ways = append(ways, true)
	}
	var group sync.WaitGroup
	for _, silent := range ways {
		for point := range 20 {
			bytes := int64(12 * point) // the answer to the upgrade has 166 bytes
			if point >= 15 {
				bytes = 166 + 37<<(2*(point-15))
			}
			relayed := relay(t, at, bytes, silent)
			for _, test := range []string{ndt7.Download, ndt7.Upload} {
				group.Go(func() {
					what := fmt.Sprintf("%s, after %d bytes, silent %v", test, bytes, silent)
					client := ndt7.Client{Host: "localhost", Duration: 300 * time.Millisecond, Timeout: time.Second}
					began := time.Now()
					r, err := client.Run(t.Context(), test, ends(relayed))
					if took := time.Since(began); took > 10*time.Second { // 4.3 s at the most, on an idle machine
						t.Errorf("%s: the client took %v", what, took)
					}
					if err == nil && len(r.Notes) == 0 && r.Elapsed < 250*time.Millisecond {
						t.Errorf("%s: nothing is said of it: %+v", what, r)
					}
				})
			}
		}
	}
	group.Wait()
	if r, err := specTest(dial(t, at, nil), "download", ""); err != nil || r.bitsPerSecond < 1e6 {
		t.Errorf("the next test: %+v (%v)", r, err)
	}
	stop()
	failed := 0
	for _, one := range record.all() {
		if one.Err != nil {
			failed++
		}
	}
	if failed < 2 {
		t.Errorf("of %d tests the server calls %d failed", len(record.all()), failed)
	}
}
