package probe

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

func TestSplitURL(t *testing.T) {
	for text, want := range map[string]struct {
		host       string
		parameters map[string]any
	}{
		"carol":                       {"carol", map[string]any{}},
		"carol:8080/1GB?x=1":          {"carol", map[string]any{"port": 8080, "path": "/1GB?x=1"}},
		"http://carol/":               {"carol", map[string]any{}},
		"https://carol/a%20b":         {"carol", map[string]any{"scheme": "https", "path": "/a%20b"}},
		"http://[fd00::1]:81/f":       {"fd00::1", map[string]any{"port": 81, "path": "/f"}},
		"ftp://carol/f":               {},
		"http://":                     {},
		"http://me:secret@carol/":     {},
		"http://carol/#part":          {},
		"http://carol:99999/":         {},
		"http://carol:none/":          {},
		"\x00":                        {},
		"http://carol/%zz":            {},
		"https://carol:0/":            {},
		"http://carol:8080?only=that": {"carol", map[string]any{"port": 8080, "path": "/?only=that"}},
	} {
		host, parameters, err := SplitURL(text)
		if host != want.host || (err == nil) != (want.host != "") || err == nil && !cmp.Equal(parameters, want.parameters) {
			t.Errorf("%q: %q, %v, %v; want %q, %v", text, host, parameters, err, want.host, want.parameters)
		}
	}
}

// fetchOf is a Fetch of what a test's server has.
func fetchOf(t *testing.T, server, path string) *Fetch {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	p := &Fetch{Target: u.Hostname(), Scheme: u.Scheme, Path: path, Duration: 10 * time.Second}
	if _, err := fmt.Sscan(u.Port(), &p.Port); err != nil {
		t.Fatal(err)
	}
	return p
}

// files is a server of a large file, a small one, and answers that are none.
func files(t *testing.T, released <-chan struct{}) http.Handler {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/large", func(w http.ResponseWriter, r *http.Request) {
		if encoding := r.Header.Get("Accept-Encoding"); encoding != "identity" {
			t.Errorf("the file may come in %q", encoding)
		}
		part := make([]byte, 64<<10)
		for {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/small", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("x", 5000)) })
	mux.HandleFunc("/once", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		fmt.Fprint(w, strings.Repeat("x", 5000))
	})
	mux.HandleFunc("/empty", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/small", http.StatusFound) })
	mux.HandleFunc("/hang", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "a")
		w.(http.Flusher).Flush()
		<-released
	})
	return mux
}

// A file is read until its time is over, until enough came, or again and again; what the kernel saw comes with it.
func TestFetch(t *testing.T) {
	server := httptest.NewServer(files(t, nil))
	t.Cleanup(server.Close)
	secret := httptest.NewTLSServer(files(t, nil))
	t.Cleanup(secret.Close)
	roots := x509.NewCertPool()
	roots.AddCert(secret.Certificate())
	for name, c := range map[string]struct {
		server string
		path   string
		change func(*Fetch)
		least  float64 // bytes
		closed bool
	}{
		"for a time":   {server.URL, "/large", func(p *Fetch) { p.Duration = 300 * time.Millisecond }, 1e6, false},
		"enough":       {server.URL, "/large", func(p *Fetch) { p.Bytes = 3e6 }, 3e6, false},
		"small, again": {server.URL, "/small", func(p *Fetch) { p.Bytes = 1e6 }, 1e6, false},
		"closed":       {server.URL, "/once", func(*Fetch) {}, 5000, true},
		"secret":       {secret.URL, "/large", func(p *Fetch) { p.Bytes, p.Roots = 1e6, roots }, 1e6, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fetchOf(t, c.server, c.path)
			c.change(p)
			r, err := p.Do(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			last := r.Samples.TCPInfo[len(r.Samples.TCPInfo)-1]
			switch {
			case r.Metrics[measure.ReceivedBytes] < c.least || c.closed && r.Metrics[measure.ReceivedBytes] > c.least || r.Metrics[measure.Throughput] <= 0:
				t.Errorf("metrics %v, want %v bytes", r.Metrics, c.least)
			case last.Values["bytes_received"] < c.least || last.End != measure.Receiver || last.Direction != measure.Reverse:
				t.Errorf("the kernel saw %+v", last)
			case r.Way != measure.Reverse || r.Source.Address != "127.0.0.1" || r.Target.Address != "127.0.0.1" || len(r.Samples.Ends) != 1:
				t.Errorf("%+v", r)
			case r.Metrics[measure.FirstByte] <= 0 || r.Metrics[measure.FirstByte] > 5:
				t.Errorf("the first byte came after %v s", r.Metrics[measure.FirstByte])
			case c.closed != strings.Contains(strings.Join(r.Notes, " "), "closed the connection"):
				t.Errorf("notes %q", r.Notes)
			}
		})
	}
}

// What is no file is an error that says what it is.
func TestFetchFails(t *testing.T) {
	server := httptest.NewServer(files(t, nil))
	t.Cleanup(server.Close)
	secret := httptest.NewTLSServer(files(t, nil))
	t.Cleanup(secret.Close)
	for want, p := range map[string]*Fetch{
		"404 Not Found":           fetchOf(t, server.URL, "/none"),
		`elsewhere: give "/sm`:    fetchOf(t, server.URL, "/moved"),
		"the file is empty":       fetchOf(t, server.URL, "/empty"),
		"certificate":             fetchOf(t, secret.URL, "/large"),
		"malformed HTTP":          fetchOf(t, "http://"+says(t, "220 mail.example\r\n\r\n"), "/"),
		"EOF":                     fetchOf(t, "http://"+says(t, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"), "/"),
		"more than 1048576 bytes": fetchOf(t, "http://"+says(t, "HTTP/1.1 200 OK\r\n"+strings.Repeat("A: b\r\n", fetchHead/6+1)), "/"),
		"connection refused: is ": fetchOf(t, "http://127.0.0.1:1", "/"),
		"path \"a b\": give the":  fetchOf(t, server.URL, "a b"),
	} {
		r, err := p.Do(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) || r.Error == nil || r.Metrics[measure.Throughput] > 0 && want != "EOF" {
			t.Errorf("%s: %v, %v", want, err, r.Metrics)
		}
	}
}

// A server that stops in the middle ends nothing but its own part, and who gives up gets what came.
func TestFetchGivenUp(t *testing.T) {
	released := make(chan struct{})
	server := httptest.NewServer(files(t, released))
	t.Cleanup(func() { close(released); server.Close() })
	p := fetchOf(t, server.URL, "/hang")
	p.Duration = 200 * time.Millisecond
	if r, err := p.Do(t.Context()); err != nil || r.Metrics[measure.ReceivedBytes] != 1 {
		t.Errorf("%v, %v; want one byte", err, r.Metrics)
	}
	given := errors.New("given up")
	ctx, cancel := context.WithCancelCause(t.Context())
	p = fetchOf(t, server.URL, "/large")
	first := true
	p.OnInterval = func(measure.Interval) {
		if first {
			cancel(given)
		}
		first = false
	}
	r, err := p.Do(ctx)
	if !errors.Is(err, given) || r.Status != measure.StatusPartial || r.Metrics[measure.ReceivedBytes] == 0 {
		t.Errorf("%v, status %s, %v", err, r.Status, r.Metrics)
	}
}

// says is the address of a server that reads a request, says a text and closes.
func says(t *testing.T, text string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 4096))
			_, _ = io.WriteString(conn, text)
			conn.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, conn)
			conn.Close()
		}
	}()
	return listener.Addr().String()
}

// What is read comes to this host, and each interval's line says so.
func TestFetchTellsTheWay(t *testing.T) {
	server := httptest.NewServer(files(t, t.Context().Done()))
	defer server.Close()
	p := fetchOf(t, server.URL, "/large")
	p.Duration = 200 * time.Millisecond
	var lines []string
	p.equip(Options{Say: func(line string) { lines = append(lines, line) }})
	if _, err := p.Do(t.Context()); err != nil || len(lines) == 0 || !strings.HasSuffix(lines[0], "bit/s  to this host") {
		t.Errorf("%v, %q", err, lines)
	}
}
