package web

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/time/rate"
)

// A network may make a burst, then as many calls as are allowed a second; others are not held up, and memory is bounded.
func TestPacer(t *testing.T) {
	now := time.Unix(1e9, 0)
	p := newPacer(func() time.Time { return now })
	count := func(network netip.Prefix) (n int) {
		for p.allow(network) {
			n++
		}
		return n
	}
	here, there := networkOf("192.0.2.1:1"), networkOf("[2001:db8::1]:1")
	if there != networkOf("[2001:db8::ffff:2]:5") || here == networkOf("192.0.2.2:1") || here != networkOf("[::ffff:192.0.2.1]:9") {
		t.Error("networks are told apart otherwise than by address, of IPv6 by 64 bits")
	}
	if n := count(here); n != callBurst {
		t.Errorf("%d calls at once, want %d", n, callBurst)
	}
	now = now.Add(time.Second)
	if a, b := count(here), count(there); a != callRate || b != callBurst {
		t.Errorf("%d calls a second later, and %d of another network; want %d and %d", a, b, callRate, callBurst)
	}
	for i := range maxPaced {
		p.allow(networkOf(fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255)))
	}
	if len(p.buckets) > maxPaced+1 {
		t.Errorf("%d networks are remembered", len(p.buckets))
	}
	now = now.Add(time.Minute)
	p.allow(here)
	if len(p.buckets) != 1 {
		t.Errorf("%d networks are remembered a minute after their calls, want the one that calls", len(p.buckets))
	}
}

// A page of another site cannot make a browser call.
func TestCrossSite(t *testing.T) {
	b := newBench(t)
	b.run()
	b.serve(b.Handler(public))
	token := "Bearer " + b.token("alice")
	b.expect(http.MethodPost, "/api/v1/runs", rtt, http.StatusForbidden, "cross-origin",
		"Authorization", token, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example")
	b.expect(http.MethodPost, "/api/v1/runs", rtt, http.StatusForbidden, "cross-origin", "Authorization", token, "Origin", "https://evil.example")
	b.expect(http.MethodPost, "/api/v1/runs", "{", http.StatusBadRequest, "", "Authorization", token, "Sec-Fetch-Site", "same-origin")
}

// Also what no operation refuses is refused with a problem document.
func TestGuardsSayWhy(t *testing.T) {
	b := newBench(t)
	never := &pacer{now: time.Now, buckets: map[netip.Prefix]*rate.Limiter{networkOf("127.0.0.1:1"): rate.NewLimiter(0, 0)}}
	paced := never.handler(nil)
	for want, ask := range map[int]func(http.ResponseWriter){
		http.StatusTooManyRequests: func(w http.ResponseWriter) { paced.ServeHTTP(w, &http.Request{RemoteAddr: "127.0.0.1:9"}) },
		http.StatusForbidden: func(w http.ResponseWriter) {
			r := httptest.NewRequest(http.MethodPost, "/api/v1/runs", nil)
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			guarded(owner, nil).ServeHTTP(w, r)
		},
		http.StatusUnauthorized: func(w http.ResponseWriter) {
			b.Handler(Listener{Secure: true}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		},
	} {
		w := httptest.NewRecorder()
		ask(w)
		var problem huma.ErrorModel
		err, kind := json.Unmarshal(w.Body.Bytes(), &problem), w.Header().Get("Content-Type")
		if err != nil || w.Code != want || problem.Status != want || problem.Detail == "" || kind != "application/problem+json" {
			t.Errorf("%d of %s: %s, %v", w.Code, kind, w.Body, err)
		}
	}
}

// Large documents are compressed, and every answer says that it is not to be sniffed or framed.
func TestAnswersAreCompressedAndPlain(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(public))
	answer := b.call(t.Context(), http.MethodGet, "/api/v1/openapi.json", "", "Accept-Encoding", "gzip")
	defer answer.Body.Close()
	whole, err := gzip.NewReader(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(whole)
	if err != nil || !strings.Contains(string(text), `"openapi":"3.1.0"`) {
		t.Errorf("%v: %.200s", err, text)
	}
	for _, path := range []string{"/api/v1/health", "/nothing"} {
		_, _, header := b.ask(http.MethodGet, path, "")
		if header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %v", path, header)
		}
	}
}
