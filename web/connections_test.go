package web

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/account"
)

// from dials a server from an address of loopback.
func from(t *testing.T, address, server string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: time.Minute}
	c, err := d.Dial("tcp", strings.TrimPrefix(server, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return c
}

// health asks over a connection whether the controller lives, and returns the answer's status, headers and text.
func health(c net.Conn) (int, http.Header, string, error) {
	if _, err := io.WriteString(c, "GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return 0, nil, "", err
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, nil, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, answer.Header, string(text), err
}

// Silent connections of one network keep nobody else out; who has too many is told to wait, then cut off, and is let in again
// when some have ended.
func TestConnectionsOfANetwork(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(public))
	var silent []net.Conn
	for range maxFromNetwork {
		silent = append(silent, from(t, "127.0.0.3", b.url))
	}
	status, header, text, err := health(from(t, "127.0.0.3", b.url))
	var problem huma.ErrorModel
	if err != nil || status != http.StatusTooManyRequests || header.Get("Retry-After") != "5" || json.Unmarshal([]byte(text), &problem) != nil || problem.Status != status {
		t.Errorf("one more: %d, %v, %s, %v", status, header, text, err)
	}
	for range maxFromNetwork/8 + 1 {
		silent = append(silent, from(t, "127.0.0.3", b.url))
	}
	if n, err := silent[len(silent)-1].Read(make([]byte, 1)); n > 0 || err == nil {
		t.Error("a connection far above the limit stays open")
	}
	if status, _, text, err := health(from(t, "127.0.0.4", b.url)); err != nil || status != http.StatusOK {
		t.Errorf("another network: %d, %s, %v", status, text, err)
	}
	for _, c := range silent {
		_ = c.Close()
	}
	b.eventually("the network is let in again", func() bool {
		status, _, _, err := health(from(t, "127.0.0.3", b.url))
		return err == nil && status == http.StatusOK
	})
}

// A session, a token, a network and all together have so many live answers; what ends makes room, and the owner has no limit.
func TestLiveAnswersAreBounded(t *testing.T) {
	s := &streams{}
	session := func(name, address string) *visitor {
		return &visitor{Identity: account.Identity{Name: "anna", Kind: account.KindAccount}, session: name, address: netip.MustParseAddr(address)}
	}
	token := func(address string) *visitor {
		return &visitor{Identity: account.Identity{Name: "cron", Kind: account.KindToken}, address: netip.MustParseAddr(address)}
	}
	anyone := func(address string) *visitor {
		return &visitor{Identity: account.Public(), address: netip.MustParseAddr(address)}
	}
	for name, c := range map[string]struct {
		who  func(i int) *visitor
		most int
		then error
		free *visitor // who is not concerned; nil: all are
	}{
		"session":          {func(int) *visitor { return session("a", "10.0.0.1") }, maxCallerStreams, errCallerStreams, session("b", "10.0.0.1")},
		"token":            {func(i int) *visitor { return token(fmt.Sprintf("10.0.%d.1", i)) }, maxCallerStreams, errCallerStreams, anyone("10.0.0.1")},
		"network":          {func(int) *visitor { return anyone("10.0.0.1") }, maxNetworkStreams, errCallerStreams, anyone("10.0.0.2")},
		"of many sessions": {func(i int) *visitor { return session(fmt.Sprint(i), "10.0.0.1") }, maxNetworkStreams, errCallerStreams, anyone("10.0.0.2")},
		"all":              {func(i int) *visitor { return anyone(fmt.Sprintf("10.%d.%d.1", i>>8, i&255)) }, maxStreams, errFullStreams, &visitor{Identity: account.Owner()}},
	} {
		var ends []func()
		for i := range c.most {
			end, err := s.begin(c.who(i))
			if err != nil {
				t.Fatalf("%s: no. %d: %v", name, i, err)
			}
			ends = append(ends, end)
		}
		if _, err := s.begin(c.who(c.most)); err != c.then {
			t.Errorf("%s: one more: %v, want %v", name, err, c.then)
		}
		end, err := s.begin(c.free)
		if err != nil {
			t.Errorf("%s: somebody else: %v", name, err)
		} else {
			ends = append(ends, end)
		}
		for _, end := range ends {
			end()
			end()
		}
		if s.all != 0 || len(s.callers)+len(s.networks) > 0 {
			t.Errorf("%s: %+v is remembered", name, s)
		}
	}
}

// Every operation that answers live is counted, and refused with a problem document that says when to try again.
func TestEveryLiveAnswerIsCounted(t *testing.T) {
	b := newBench(t)
	b.run()
	b.live.all = maxStreams
	h := b.Handler(public)
	token := "Bearer " + b.token("alice")
	for _, c := range []struct{ method, path, body string }{
		{http.MethodGet, "/api/v1/events", ""},
		{http.MethodPost, "/api/v1/runs", rtt},
		{http.MethodPost, "/api/v1/diagnoses", `{"source": "a", "target": "b"}`},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		r.Header.Set("Authorization", token)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "5" || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d, %v, %s", c.path, w.Code, w.Header(), w.Body)
		}
	}
}
