package sock

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pathwise-net/pathwise/input"
)

func TestSplitHostPort(t *testing.T) {
	type end struct {
		Host string
		Port int
	}
	for text, want := range map[string]end{
		"carol": {"carol", 0}, "carol:5201": {"carol", 5201}, "192.0.2.1": {"192.0.2.1", 0}, "192.0.2.1:80": {"192.0.2.1", 80},
		"::1": {"::1", 0}, "[::1]": {"::1", 0}, "[::1]:5201": {"::1", 5201}, "[fe80::1%eth0]:7": {"fe80::1%eth0", 7},
		"2001:db8::1:5201": {"2001:db8::1:5201", 0}, // an address of its own: brackets tell a port
	} {
		host, port, err := SplitHostPort(text)
		if diff := cmp.Diff(want, end{host, port}); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"", ":80", "carol:", "carol:0", "carol:65536", "carol:http", "carol:+1", "[::1", "::1]:80", "[::1]80", "[::1]:",
		"[carol]:80", "[192.0.2.1]:80", "[]:80", "a:b:c", "2001:db8::1:99999"} {
		host, port, err := SplitHostPort(text)
		var bad *input.Error
		if !errors.As(err, &bad) || host != "" || port != 0 {
			t.Errorf("%q: host %q, port %d, %v; want an input.Error alone", text, host, port, err)
		}
	}
}

// FuzzSplitHostPort: what is understood is written in one way, which is understood alike.
func FuzzSplitHostPort(f *testing.F) {
	for _, text := range []string{"carol:5201", "[::1]:5201", "::1", "[fe80::1%25]:7"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		host, port, err := SplitHostPort(text)
		if err != nil || port == 0 {
			return
		}
		again, p, err := SplitHostPort(JoinHostPort(host, port))
		if again != host || p != port || err != nil {
			t.Errorf("%q: %q and %d; written and read again: %q and %d, %v", text, host, port, again, p, err)
		}
	})
}

func TestAddresses(t *testing.T) {
	answer := func(addresses string, err error) Lookup {
		return func(_ context.Context, network, _ string) ([]netip.Addr, error) {
			if network != "ip" {
				t.Errorf("asked for %s, want ip", network)
			}
			return parseAll(addresses), err
		}
	}
	never := func(context.Context, string, string) ([]netip.Addr, error) {
		t.Error("looked up an address")
		return nil, nil
	}
	const six, four = "2001:db8::1 2001:db8::2 2001:db8::3", "192.0.2.1 192.0.2.2"
	for _, test := range []struct {
		name   string
		host   string
		family Family
		find   Lookup
		want   string
		fails  string
		blames bool
	}{
		{"families take turns", "h", "", answer(six+" "+four, nil), "2001:db8::1 192.0.2.1 2001:db8::2 192.0.2.2 2001:db8::3", "", false},
		{"the first family is the system's choice", "h", "", answer(four+" "+six, nil),
			"192.0.2.1 2001:db8::1 192.0.2.2 2001:db8::2 2001:db8::3", "", false},
		{"IPv4 written as IPv6", "h", "", answer("2001:db8::1 ::ffff:192.0.2.1", nil), "2001:db8::1 192.0.2.1", "", false},
		{"IPv6 only", "h", IPv6, answer(six+" "+four, nil), six, "", false},
		{"IPv4 only", "h", IPv4, answer(six+" "+four, nil), four, "", false},
		{"a name with one family", "h", "", answer(six, nil), six, "", false},
		{"a name without the family", "h", IPv4, answer(six, nil), "", `target "h": it has no IPv4 address; choose the other family`, true},
		{"an address", "192.0.2.9", IPv4, never, "192.0.2.9", "", false},
		{"an address written as IPv6", "::ffff:192.0.2.9", "", never, "192.0.2.9", "", false},
		{"an address with a zone", "fe80::1%eth0", IPv6, never, "fe80::1%eth0", "", false},
		{"an address of the other family", "192.0.2.9", IPv6, never, "", `target "192.0.2.9": it has no IPv6 address; choose the other family`, true},
		{"multicast", "224.0.0.1", "", never, "", `target "224.0.0.1": give the address of a single host`, true},
		{"no address", "::", "", never, "", `target "::": give the address of a single host`, true},
		{"no such name", "nosuch", "", answer("", &net.DNSError{Err: "x", IsNotFound: true}), "",
			`resolve "nosuch": no such host; check the name or give an address`, true},
		{"a name without addresses", "none", "", answer("", nil), "", `resolve "none": no such host; check the name or give an address`, true},
		{"a name server that is silent", "slow", "", answer("", context.DeadlineExceeded), "", `resolve "slow": context deadline exceeded`, false},
	} {
		got, err := Addresses(t.Context(), test.find, test.host, test.family)
		var bad *input.Error
		failure := ""
		if err != nil {
			failure = err.Error()
		}
		if failure != test.fails || errors.As(err, &bad) != test.blames {
			t.Errorf("%s: error %v, want %q", test.name, err, test.fails)
		}
		if diff := cmp.Diff(parseAll(test.want), got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
