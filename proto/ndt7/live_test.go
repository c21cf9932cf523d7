package ndt7_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/proto/ndt7"
)

// patience is for a machine that does much else.
const patience = 20 * time.Second

// half a second is time for two measurements.
const half = 500 * time.Millisecond

// certificate is one for "localhost", and those who trust it.
func certificate(t *testing.T) (*tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour),
		BasicConstraintsValid: true, IsCA: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// record is a log, and what came of tests.
type record struct {
	mu     sync.Mutex
	log    bytes.Buffer
	tested []ndt7.Tested
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(p)
}

func (r *record) all() []ndt7.Tested {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]ndt7.Tested(nil), r.tested...)
}

// serve serves until the test ends, which waits for all that the server began.
func serve(t *testing.T, s *ndt7.Server) (at netip.AddrPort, r *record, stop func()) {
	t.Helper()
	l, err := ndt7.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r = &record{}
	s.Log = slog.New(slog.NewTextHandler(r, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s.OnTest = func(one ndt7.Tested) { r.mu.Lock(); defer r.mu.Unlock(); r.tested = append(r.tested, one) }
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("Serve: %v", err)
			}
		case <-time.After(patience):
			t.Error("the server does not end")
		}
	})
	t.Cleanup(stop)
	return l.Addr().(*net.TCPAddr).AddrPort(), r, stop
}

// await waits until so many tests are told of.
func (r *record) await(t *testing.T, n int) []ndt7.Tested {
	t.Helper()
	for late := time.Now().Add(patience); len(r.all()) < n; time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("the server tells of %d tests, want %d", len(r.all()), n)
		}
	}
	return r.all()
}

func dial(t *testing.T, at netip.AddrPort, trust *x509.CertPool) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	if trust != nil {
		return tls.Client(conn, &tls.Config{RootCAs: trust, ServerName: "localhost", NextProtos: []string{"h2", "http/1.1"}})
	}
	return conn
}

// leastMoved in bytes is more than a few messages: what half a second brings to a machine that does much else is no figure of a protocol.
const leastMoved = 1 << 16

// A client that was written from the specification alone gets both figures from our server, with TLS and without, and a close in order.
func TestServerBySpecification(t *testing.T) {
	t.Parallel()
	own, trust := certificate(t)
	for _, name := range []string{"ws", "wss"} {
		for _, test := range []string{"download", "upload"} {
			t.Run(name+" "+test, func(t *testing.T) {
				t.Parallel()
				at, record, stop := serve(t, &ndt7.Server{Certificate: own, Policy: ndt7.Policy{Longest: half}})
				by := trust
				if name == "ws" {
					by = nil
				}
				conn := dial(t, at, by)
				local := conn.LocalAddr().String()
				r, err := specTest(conn, test, "?client_name=spec&client_version=1")
				if err != nil {
					t.Fatal(err)
				}
				if r.code != 1000 || r.bitsPerSecond < 1e5 || r.bytes < leastMoved {
					t.Errorf("closed with %d after %d bytes at %.0f bit/s", r.code, r.bytes, r.bitsPerSecond)
				}
				if test == "upload" && len(r.sizes) > 0 {
					t.Errorf("the server sent data in an upload: %v", r.sizes)
				}
				for size := range r.sizes {
					if size < 1<<13 || size > 1<<20 || size&(size-1) != 0 {
						t.Errorf("a message of %d bytes", size)
					}
				}
				if len(r.messages) < 2 || len(r.messages) > 5 {
					t.Fatalf("%d measurements in half a second", len(r.messages))
				}
				last := r.messages[len(r.messages)-1]
				checkMeasurement(t, last, test, local, at.String())
				stop()
				if all := record.all(); len(all) != 1 || all[0].Err != nil || all[0].Bytes < leastMoved || all[0].Client.String() != local {
					t.Errorf("told of %+v", all)
				}
			})
		}
	}
}

// checkMeasurement holds one of the server's to the schema of the specification.
func checkMeasurement(t *testing.T, m map[string]any, test, client, server string) {
	t.Helper()
	app, _ := m["AppInfo"].(map[string]any)
	info, _ := m["ConnectionInfo"].(map[string]any)
	tcp, _ := m["TCPInfo"].(map[string]any)
	if m["Origin"] != "server" || m["Test"] != test || info["Client"] != client || info["Server"] != server || info["UUID"] == "" {
		t.Errorf("%v; want the test %s from %s to %s", m, test, client, server)
	}
	if _, err := time.Parse(time.RFC3339Nano, fmt.Sprint(info["StartTime"])); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"BusyTime", "BytesAcked", "BytesReceived", "BytesSent", "BytesRetrans", "ElapsedTime", "MinRTT", "RTT", "RTTVar",
		"RWndLimited", "SndBufLimited"} {
		if v, is := tcp[name].(float64); !is || v < 0 || v > 1<<53 {
			t.Errorf("TCPInfo.%s is %v", name, tcp[name])
		}
	}
	elapsed, count := app["ElapsedTime"].(float64), app["NumBytes"].(float64)
	if elapsed < 0.5e6 || elapsed > 5e6 || tcp["ElapsedTime"].(float64) < elapsed || count < leastMoved {
		t.Errorf("AppInfo %v and TCPInfo %v after half a second", app, tcp)
	}
}

// ends is the address of a server as a client needs it.
func ends(at string) []netip.AddrPort { return []netip.AddrPort{netip.MustParseAddrPort(at)} }

// Our client gets both figures from a server that was written from the specification alone: it ends a test, or leaves the end to the
// client, and says what it counted, or nothing at all.
func TestClientBySpecification(t *testing.T) {
	t.Parallel()
	for _, test := range []string{ndt7.Download, ndt7.Upload} {
		for _, silent := range []bool{false, true} {
			t.Run(fmt.Sprint(test, " silent ", silent), func(t *testing.T) {
				t.Parallel()
				server := &specServer{lasts: half, silent: silent}
				at := serveSpec(t, server)
				client := ndt7.Client{Host: "localhost", Duration: half}
				r, err := client.Run(t.Context(), test, ends(at))
				for try := 1; err == nil && r.Elapsed < half/2 && try < 6; try++ { // the client had no processor until the server was nearly through
					t.Logf("once more, as it took %v", r.Elapsed)
					r, err = client.Run(t.Context(), test, ends(at))
				}
				if err != nil {
					t.Fatal(err)
				}
				told := !silent
				if (r.BitsPerSecond() > 1e6) != (told || test == ndt7.Download) || (len(r.Told) > 1) != told {
					t.Errorf("%.0f bit/s, told %d times", r.BitsPerSecond(), len(r.Told))
				}
				if r.Elapsed > 3*time.Second || r.Moved < leastMoved || len(r.Samples) < 2 || len(r.Intervals) < 1 || len(r.Notes) > 0 {
					t.Fatalf("%v, %d bytes, %d samples, %d intervals, %q", r.Elapsed, r.Moved, len(r.Samples), len(r.Intervals), r.Notes)
				}
				if last := r.Intervals[len(r.Intervals)-1]; test == ndt7.Download && last.End < r.Elapsed-100*time.Millisecond {
					t.Errorf("the last interval is %+v of %v", last, r.Elapsed)
				}
				if query := server.query.Load(); query != "pathwise_duration=500ms" {
					t.Errorf("asked with %q", query)
				}
			})
		}
	}
}

// Client and server of ours agree, with TLS and without; the server takes the client's word for how long, and for how.
func TestBothEnds(t *testing.T) {
	t.Parallel()
	own, trust := certificate(t)
	at, record, _ := serve(t, &ndt7.Server{Certificate: own, Policy: ndt7.Policy{Secret: "sesame", Tests: 4}}) // one may still end when the next begins
	client := ndt7.Client{Host: "localhost", Duration: half / 2, Secret: "sesame", Congestion: "reno"}
	for _, secure := range []bool{false, true} {
		if client.TLS = nil; secure {
			client.TLS = &tls.Config{RootCAs: trust}
		}
		for _, test := range []string{ndt7.Download, ndt7.Upload} {
			r, err := client.Run(t.Context(), test, ends(at.String()))
			if err != nil {
				t.Fatal(err)
			}
			if r.Secure != secure || r.Congestion != "reno" || r.BitsPerSecond() < 1e5 || r.Elapsed > patience || len(r.Notes) > 0 {
				t.Errorf("%s: %+v", test, r)
			}
		}
	}
	if all := record.await(t, 4); all[0].Err != nil || all[3].Err != nil {
		t.Errorf("told of %+v", all)
	}
	if record.mu.Lock(); strings.Contains(record.log.String(), "sesame") {
		t.Errorf("the secret is in the log:\n%s", record.log.String())
	}
	record.mu.Unlock()
	client.TLS = &tls.Config{}
	if _, err := client.Run(t.Context(), ndt7.Upload, ends(at.String())); err == nil || strings.Contains(err.Error(), "sesame") {
		t.Errorf("a certificate that nobody vouches for: %v", err)
	}
}

// Who does not ask as the specification has it is refused with 4xx, who is one too many with 503, and each is told why.
func TestRefusals(t *testing.T) {
	t.Parallel()
	at, record, _ := serve(t, &ndt7.Server{Policy: ndt7.Policy{Longest: time.Second, Secret: "sesame"}})
	for _, c := range []struct {
		path, protocol string
		want           int
	}{
		{"/ndt/v7/download?access_token=sesame", "", 400},
		{"/ndt/v7/download?access_token=sesame", "net.measurementlab.ndt.v8", 400},
		{"/ndt/v7/download?access_token=sesame", specProtocol + ", other", 400},
		{"/ndt/v7/upload?access_token=sesame&x=" + strings.Repeat("y", 4096), specProtocol, 400},
		{"/ndt/v7/upload?access_token=sesame&x=%zz", specProtocol, 400},
		{"/ndt/v7/upload?access_token=sesame&pathwise_duration=2s", specProtocol, 400},
		{"/ndt/v7/upload?access_token=sesame&pathwise_duration=-1s", specProtocol, 400},
		{"/ndt/v7/upload?access_token=sesame&pathwise_congestion=none", specProtocol, 400},
		{"/ndt/v7/upload?access_token=wrong", specProtocol, 503},
		{"/ndt/v7/upload", specProtocol, 503},
		{"/ndt/v7/latency", specProtocol, 404},
		{"/", specProtocol, 404},
	} {
		if _, status, err := upgrade(dial(t, at, nil), c.path, c.protocol); status != c.want || err != nil {
			t.Errorf("%s with %q: %d (%v), want %d", c.path, c.protocol, status, err, c.want)
		}
	}
	if all := record.all(); len(all) > 0 {
		t.Errorf("let in: %+v", all)
	}
	client := ndt7.Client{Host: "localhost", Secret: "wrong", Duration: time.Second}
	if _, err := client.Run(t.Context(), ndt7.Download, ends(at.String())); !errors.Is(err, ndt7.ErrBusy) {
		t.Errorf("a wrong secret: %v", err)
	}
	client = ndt7.Client{Host: "localhost", Secret: "sesame", Duration: time.Minute}
	want := &ndt7.RefusedError{Status: 400, Reason: "pathwise_duration: a test takes at most 1s here"}
	var got *ndt7.RefusedError
	if _, err := client.Run(t.Context(), ndt7.Download, ends(at.String())); !errors.As(err, &got) || !cmp.Equal(want, got) {
		t.Errorf("too long a test: %v", err)
	}
}

// Whatever a client does in a test, the server is there for the next, and has told of this one.
func TestClientMisbehaves(t *testing.T) {
	t.Parallel()
	at, record, stop := serve(t, &ndt7.Server{Policy: ndt7.Policy{Longest: 500 * time.Millisecond}})
	begin := func(test string) *plainSocket {
		s, status, err := upgrade(dial(t, at, nil), "/ndt/v7/"+test, specProtocol)
		if err != nil || status != http.StatusSwitchingProtocols {
			t.Fatalf("%s: %d (%v)", test, status, err)
		}
		return s
	}
	for _, c := range []struct {
		what, test string
		do         func(*plainSocket) // the connection ends by itself, within the server's hard limit
		fails      bool
	}{
		{"sends data in a download", "download", func(s *plainSocket) { _ = s.send(opBinary, make([]byte, 1<<13)) }, true},
		{"is gone in a download", "download", func(s *plainSocket) { _ = s.conn.(*net.TCPConn).SetLinger(0); s.conn.Close() }, true},
		{"is gone in an upload", "upload", func(s *plainSocket) { _ = s.conn.(*net.TCPConn).SetLinger(0); s.conn.Close() }, true},
		{"closes at once", "upload", func(s *plainSocket) { _ = s.send(opClose, []byte{3, 232}) }, false},
		{"sends nonsense", "upload", func(s *plainSocket) { _, _ = s.conn.Write([]byte(strings.Repeat("nonsense", 100))) }, true},
		{"floods with text", "upload", func(s *plainSocket) {
			for s.send(opText, []byte("{}")) == nil {
			}
		}, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			before := len(record.all())
			s := begin(c.test)
			c.do(s)
			_, _ = io.Copy(io.Discard, s.conn)
			if one := record.await(t, before+1)[before]; (one.Err != nil) != c.fails {
				t.Errorf("told of %+v, failed: %v", one, c.fails)
			}
		})
	}
	if r, err := specTest(dial(t, at, nil), "download", ""); err != nil || r.bitsPerSecond < 1e6 {
		t.Errorf("the next test: %+v (%v)", r, err)
	}
	s := begin("upload") // is cut off
	stop()
	if _, _, _, _, err := s.receive(); err == nil {
		_, _, _, _, err = s.receive()
		if err == nil {
			t.Error("the test outlives its server")
		}
	}
}

// Whatever a server does, our client ends within its hard limit, and says what happened.
func TestServerMisbehaves(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		answer string // before the connection is left alone; "": it is closed
		want   error
	}{
		"closes":                {"", endpoint.ErrLost},
		"speaks another tongue": {"SSH-2.0-OpenSSH_9.2\r\n", nil},
		"has pages alone":       {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", nil},
		"does not answer":       {"HTTP/1.1", endpoint.ErrNoAnswer},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = conn.Read(make([]byte, 1024))
				if c.answer == "" {
					conn.Close()
				}
				_, _ = io.WriteString(conn, c.answer)
				_, _ = io.Copy(io.Discard, conn)
			}()
			client := ndt7.Client{Host: "localhost", Timeout: 300 * time.Millisecond}
			if _, err := client.Run(t.Context(), ndt7.Download, ends(l.Addr().String())); err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}
