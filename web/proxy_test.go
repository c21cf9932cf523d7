package web

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

// What a caller says about themselves is not believed, what a proxy of ours appended is.
func TestForwarded(t *testing.T) {
	listener := Listener{Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}}
	for _, c := range []struct {
		remote string
		said   []string
		proto  string
		want   string
		https  bool
	}{
		{"192.0.2.1:5", []string{"198.51.100.7"}, "https", "192.0.2.1:5", false}, // no proxy of ours
		{"10.0.0.1:5", []string{"198.51.100.7"}, "https", "198.51.100.7:5", true},
		{"10.0.0.1:5", []string{"198.51.100.7"}, "http", "198.51.100.7:5", false},
		{"10.0.0.1:5", []string{"127.0.0.1, 198.51.100.7, 10.9.9.9"}, "", "198.51.100.7:5", false},
		{"10.0.0.1:5", []string{"127.0.0.1", "198.51.100.7"}, "", "198.51.100.7:5", false},
		{"10.0.0.1:5", nil, "HTTPS", "10.0.0.1:5", true},
		{"10.0.0.1:5", []string{"<script>"}, "", "10.0.0.1:5", false},
		{"10.0.0.1:5", []string{"10.0.0.2, 10.0.0.3"}, "", "10.0.0.2:5", false},
		{"[::1]:5", []string{"2001:db8::1"}, "https", "[2001:db8::1]:5", true},
		{"[::ffff:10.0.0.1]:5", []string{"198.51.100.7"}, "https", "198.51.100.7:5", true},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr, r.Header["X-Forwarded-For"] = c.remote, c.said
		r.Header.Set("X-Forwarded-Proto", c.proto)
		listener.forwarded(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if https, _ := schemeOf(r.Context()); r.RemoteAddr != c.want || https != c.https {
				t.Errorf("%+v: from %s, HTTPS %v", c, r.RemoteAddr, https)
			}
		})).ServeHTTP(httptest.NewRecorder(), r)
	}
}

// Behind a proxy that was called by plain HTTP no token is looked at; behind one that was called by HTTPS it is.
func TestSecureBehindProxy(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(Listener{Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}))
	token := "Bearer " + b.token("alice")
	b.expect(http.MethodGet, "/api/v1/pairs", "", 403, "want HTTPS", "Authorization", token, "X-Forwarded-Proto", "http")
	b.expect(http.MethodGet, "/api/v1/pairs", "", 200, "pairs", "Authorization", token, "X-Forwarded-Proto", "https", "X-Forwarded-For", "192.0.2.1")
}
