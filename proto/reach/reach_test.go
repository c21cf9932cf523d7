package reach

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/jsonlines"
)

const someCookie = "00112233445566778899aabbccddeeff"

// Messages that cannot be followed are refused with what is wrong in them.
func TestRead(t *testing.T) {
	readAny := map[string]func([]byte) error{
		"hello":  func(b []byte) error { _, err := readHello(b); return err },
		"offer":  func(b []byte) error { _, err := readOffer(b); return err },
		"ready":  func(b []byte) error { _, err := readReady(b, someCookie); return err },
		"report": func(b []byte) error { _, err := readReport(b); return err },
	}
	for _, c := range []struct{ kind, text, want string }{
		{"hello", `{"schema":"pathwise.reach/1","tcp":40001,"udp":65535}`, ""},
		{"hello", `{"schema":"pathwise.reach/1","tcp":40001,"udp":40002,"later":true}`, ""},
		{"hello", `{"schema":"pathwise.reach/2","tcp":40001,"udp":40002}`, "want pathwise.reach/1"},
		{"hello", `{"schema":"pathwise.reach/1","tcp":22,"udp":40002}`, "tcp port 22: want a fresh one"},
		{"hello", `{"schema":"pathwise.reach/1","tcp":40001,"udp":53}`, "udp port 53"},
		{"hello", `{"schema":"pathwise.reach/1","tcp":40001,"udp":65536}`, "udp port 65536"},
		{"hello", `{"schema":"pathwise.reach/1"}`, "tcp port 0"},
		{"hello", `{`, "read request"},
		{"offer", `{"cookie":"` + someCookie + `","seen":"192.0.2.7:51000","tcp":40101,"udp":40102}`, ""},
		{"offer", `{"cookie":"` + someCookie + `","seen":"[2001:db8::7]:51000","tcp":40101,"udp":40102}`, ""},
		{"offer", `{"cookie":"short","seen":"192.0.2.7:51000","tcp":40101,"udp":40102}`, "want 32 hexadecimal digits"},
		{"offer", `{"cookie":"` + someCookie + `","seen":"nowhere","tcp":40101,"udp":40102}`, "not an ip:port"},
		{"offer", `{"cookie":"` + someCookie + `","seen":"192.0.2.7:51000","tcp":80,"udp":40102}`, "tcp port 80"},
		{"offer", `{"error":"busy\u001b[2J"}`, "the responder says: busy.[2J"},
		{"ready", `{"cookie":"` + someCookie + `","done":true}`, ""},
		{"ready", `{"cookie":"ff112233445566778899aabbccddeeff"}`, "another cookie"},
		{"ready", `7`, "read message"},
		{"report", `{"sent":{"tcp":{"outcome":"open","answered":true},"udp":{"outcome":"unreachable","reason":"host unreachable","by":"192.0.2.1"}},
			"came":{"tcp":{"right":1,"wrong":0,"from":"192.0.2.7:51002"},"udp":{"right":0,"wrong":2}}}`, ""},
		{"report", `{"sent":{"tcp":{"outcome":"wonderful"}}}`, `outcome "wonderful": want one of open`},
		{"report", `{"sent":{"udp":{"outcome":"unreachable","by":"me"}}}`, "me"},
		{"report", `{"came":{"udp":{"right":-1}}}`, "-1"},
		{"report", `{"came":{"udp":{"right":1,"from":"192.0.2.7"}}}`, "not an ip:port"},
		{"report", strings.Repeat(" ", mostLine) + `{}`, "read report"},
	} {
		err := readAny[c.kind]([]byte(c.text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %s: %v; want %q", c.kind, c.text, err, c.want)
		}
	}
}

// Each place has a word of its own, of one length.
func TestWord(t *testing.T) {
	places := map[string]bool{}
	for _, cookie := range []string{someCookie, strings.Repeat("f", jsonlines.CookieDigits)} {
		for _, protocol := range []string{"tcp", "udp"} {
			for _, to := range []string{measure.ReachHere, measure.ReachThere} {
				for _, part := range []string{asks, answers} {
					w := word(cookie, protocol, to, part)
					if places[w] || len(w) != wordBytes || !strings.HasSuffix(w, "\n") {
						t.Errorf("%s, %s, %s: %q of %d bytes, again: %v", protocol, to, part, w, len(w), places[w])
					}
					places[w] = true
				}
			}
		}
	}
}

// Whatever another end says is taken or refused; what is taken has texts that a terminal does not obey, and addresses that are some.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"schema":"pathwise.reach/1","tcp":40001,"udp":40002}`))
	f.Add([]byte(`{"cookie":"` + someCookie + `","seen":"192.0.2.7:51000","tcp":40101,"udp":40102}`))
	f.Add([]byte(`{"sent":{"tcp":{"outcome":"unreachable","reason":"x\u001b","by":"192.0.2.1"}},"came":{"tcp":{"right":1,"from":"192.0.2.7:51002"}}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if h, err := readHello(line); err == nil && min(h.TCP, h.UDP) < leastPort {
			t.Errorf("%+v", h)
		}
		if o, err := readOffer(line); err == nil {
			if _, err := netip.ParseAddrPort(o.Seen); err != nil || len(o.Cookie) != jsonlines.CookieDigits || min(o.TCP, o.UDP) < leastPort {
				t.Errorf("%+v", o)
			}
		}
		r, err := readReport(line)
		if err != nil {
			return
		}
		for _, s := range []measure.ReachSent{r.Sent.TCP, r.Sent.UDP} {
			if strings.ContainsFunc(s.Reason, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("%q", s.Reason)
			}
		}
		waysOf(report{}, r, ports{}, ports{}, netip.AddrPort{}, netip.AddrPort{}, netip.Addr{})
	})
}
