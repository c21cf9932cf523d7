package respond

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/ndt7"
	"github.com/pathwise-net/pathwise/respond/page"
	"github.com/pathwise-net/pathwise/respond/seen"
)

// shortNDT7 is a test that is long enough to move something.
const shortNDT7 = 50 * time.Millisecond

func testNDT7(ctx context.Context, address, secret string, d time.Duration, begun func()) error {
	c := ndt7.Client{Host: "localhost", Secret: secret, Duration: max(d, shortNDT7)}
	if begun == nil {
		_, err := c.Run(ctx, ndt7.Download, []netip.AddrPort{netip.MustParseAddrPort(address)})
		return err
	}
	began := sync.OnceFunc(begun)
	c.OnInterval = func(i ndt7.Interval) {
		if i.Bytes > 0 {
			began()
		}
	}
	_, err := c.Run(ctx, ndt7.Upload, []netip.AddrPort{netip.MustParseAddrPort(address)})
	return err
}

// vanishNDT7 asks by hand, and resets the connection when it is accepted.
func vanishNDT7(t *testing.T, address, secret string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer reset(conn)
	fmt.Fprintf(conn, "GET /ndt/v7/upload?access_token=%s HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: DOdm+5/Cm3WwvhfcAlhJoQ==\r\nSec-WebSocket-Protocol: net.measurementlab.ndt.v7\r\n\r\n", secret)
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, " 101 ") {
		t.Fatalf("%q (%v)", line, err)
	}
}

// The page and its files are there for everybody, under their policy, and nothing is beside them; a run has none.
func TestNDT7Page(t *testing.T) {
	kind, _ := KindOf(measure.ResponderNDT7)
	all := served(t, kind, nil, func(ctx context.Context, _ *slog.Logger) (*Opened, error) {
		return kind.Open(ctx, "127.0.0.1:0", Limits{}, nil)
	})
	run := forRun(t, kind, Run{})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, c := range []struct {
		at     *opened
		path   string
		status int
		kind   string
	}{
		{all, "/", 200, "text/html; charset=utf-8"}, {all, "/speed.js", 200, "text/javascript; charset=utf-8"}, {all, "/style.css", 200, "text/css; charset=utf-8"},
		{all, "/explain.js", 200, "text/javascript; charset=utf-8"}, {all, "/page.go", 404, "text/plain; charset=utf-8"},
		{all, "/..%2fpage.go", 404, "text/plain; charset=utf-8"}, {all, "/static", 404, "text/plain; charset=utf-8"},
		{all, "/ndt/v7/download", 400, "text/plain; charset=utf-8"}, {run, "/", 404, "text/plain; charset=utf-8"},
	} {
		answer, err := client.Get("http://" + c.at.Addr.String() + c.path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != c.status || answer.Header.Get("Content-Type") != c.kind {
			t.Errorf("%s: %d, %s", c.path, answer.StatusCode, answer.Header.Get("Content-Type"))
		}
		if c.status == 200 && answer.Header.Get("Content-Security-Policy") != page.Policy {
			t.Errorf("%s: %v", c.path, answer.Header)
		}
	}
}

// How a connection began is told to a browser, as often as it asks, and to netcat, which sends a line; not for a run.
func TestNDT7Seen(t *testing.T) {
	kind, _ := KindOf(measure.ResponderNDT7)
	all := served(t, kind, nil, func(ctx context.Context, _ *slog.Logger) (*Opened, error) {
		return kind.Open(ctx, "127.0.0.1:0", Limits{}, nil)
	})
	conn, err := net.Dial("tcp", all.Addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for range 2 {
		fmt.Fprint(conn, "GET /seen.json HTTP/1.1\r\nHost: x\r\n\r\n")
		answer, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		var told seen.Seen
		if err := json.NewDecoder(answer.Body).Decode(&told); err != nil || told.Client != conn.LocalAddr().String() || told.MSSBytes < 1000 || len(told.Lines) != 6 {
			t.Errorf("%+v (%v)", told, err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
	}
	for _, line := range []string{"\n", "hello\n", strings.Repeat("x", 1000) + "\n"} {
		plain, err := net.Dial("tcp", all.Addr.String())
		if err != nil {
			t.Fatal(err)
		}
		defer plain.Close()
		_, _ = io.WriteString(plain, line)
		_ = plain.(*net.TCPConn).CloseWrite()
		text, err := io.ReadAll(plain)
		if want := fmt.Sprintf("address  127.0.0.1, port %d", plain.LocalAddr().(*net.TCPAddr).Port); err != nil || !strings.HasPrefix(string(text), want) {
			t.Errorf("after %.10q: %q (%v)", line, text, err)
		}
	}
	run := forRun(t, kind, Run{})
	plain, err := net.Dial("tcp", run.Addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	_, _ = io.WriteString(plain, "\n\n")
	_ = plain.(*net.TCPConn).CloseWrite()
	if text, _ := io.ReadAll(plain); strings.Contains(string(text), "address") {
		t.Errorf("a run tells %q", text)
	}
}
