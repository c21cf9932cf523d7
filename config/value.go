package config

import (
	"errors"
	"math"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/quantity"
)

// into returns what reads one value by parse, whose error is a *quantity.Error, and keeps it in v.
func into[T any](v *T, parse func(string) (T, error)) func(node) {
	return func(n node) { value(n, v, parse) }
}

// value reads one value into v, and says whether it is right.
func value[T any](n node, v *T, parse func(string) (T, error)) bool {
	if !n.isScalar() {
		n.fail(n.kind(), "one value")
		return false
	}
	got, err := parse(n.text())
	if err != nil {
		var bad *quantity.Error
		if errors.As(err, &bad) {
			n.fail(bad.Value, "%s", bad.Want)
		} else {
			n.fail(n.text(), "%v", err)
		}
		return false
	}
	*v = got
	return true
}

// values reads a list, or one value as a list of one.
func values[T any](v *[]T, parse func(string) (T, error)) func(node) {
	return func(n node) {
		for _, item := range n.items() {
			var one T
			if value(item, &one, parse) {
				*v = append(*v, one)
			}
		}
	}
}

func bad(value, want string) error { return &quantity.Error{Value: value, Want: want} }

func parseBool(s string) (bool, error) {
	if s != "true" && s != "false" {
		return false, bad(s, "true or false")
	}
	return s == "true", nil
}

// parseCount reads a whole number from 1; 1.5 is none.
func parseCount(s string) (int, error) {
	v, err := strconv.Atoi(s)
	if err != nil || v < 1 || v > 1_000_000 {
		return 0, bad(s, "a whole number from 1 to 1000000")
	}
	return v, nil
}

func parsePort(s string) (int, error) {
	v, err := strconv.Atoi(s)
	if err != nil || v < 1 || v > 65535 {
		return 0, bad(s, "a port from 1 to 65535")
	}
	return v, nil
}

func parseFamily(s string) (int, error) {
	switch s {
	case "4", "ipv4":
		return 4, nil
	case "6", "ipv6":
		return 6, nil
	}
	return 0, bad(s, "ipv4 or ipv6")
}

// parseNumber reads a number other than zero.
func parseNumber(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, bad(s, "a number other than 0, such as 1e6")
	}
	return v, nil
}

// namePattern is what hosts, tools, groups, schedules and phases may be called: fit for a path, a message subject and a
// label.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$`)

// CheckName says what is wrong with a name of a host, tool, group, schedule or phase.
func CheckName(s string) error {
	_, err := parseName(s)
	return err
}

func parseName(s string) (string, error) {
	if !namePattern.MatchString(s) {
		return "", bad(s, "a name of at most 63 letters, digits, dots, hyphens and underscores, such as ral-2")
	}
	return s, nil
}

// testNamePattern may also hold what a default test name is joined by.
var testNamePattern = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._@/-]{0,189}[A-Za-z0-9])?$`)

func parseTestName(s string) (string, error) {
	if !testNamePattern.MatchString(s) {
		return "", bad(s, "a name of letters, digits, and . - _ @ /, such as bulk@all")
	}
	return s, nil
}

// titlePattern is what sites and labels may be called: one line for people, such as "New York".
var titlePattern = regexp.MustCompile(`^[\pL\pN]([\pL\pN _.,()&'=+-]{0,61}[\pL\pN.)])?$`)

// CheckTitle says what is wrong with a name of a site or a label.
func CheckTitle(s string) error {
	_, err := parseTitle(s)
	return err
}

func parseTitle(s string) (string, error) {
	if !titlePattern.MatchString(s) {
		return "", bad(s, "a name of at most 63 letters, digits and spaces, such as London")
	}
	return s, nil
}

func parseText(s string) (string, error) {
	if s == "" || strings.ContainsAny(s, "\x00\n\r") {
		return "", bad(s, "a text on one line")
	}
	return s, nil
}

// hostnamePattern is a DNS name (RFC 1123) whose last label begins with a letter: else it is a misspelt IPv4 address.
var hostnamePattern = regexp.MustCompile(
	`^([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?\.)*([A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)\.?$`)

// CheckAddress says what is wrong with an address or a name of a host.
func CheckAddress(s string) error {
	_, err := parseAddress(s)
	return err
}

func parseAddress(s string) (string, error) {
	if ip, err := netip.ParseAddr(s); err == nil {
		if ip.IsUnspecified() || ip.IsMulticast() || ip.Zone() != "" {
			return "", bad(s, "the address of one host, without a zone")
		}
		return ip.Unmap().String(), nil
	}
	if len(s) > 253 || !hostnamePattern.MatchString(s) {
		return "", bad(s, "an IPv4 or IPv6 address or a host name, such as 192.0.2.1, 2001:db8::1 or ucl.example.org")
	}
	return s, nil
}

// parseSpan reads a time above zero.
func parseSpan(s string) (time.Duration, error) {
	d, err := quantity.ParseSpan(s)
	if err != nil || d == 0 {
		return 0, bad(s, "a time such as 30s, 10m, 6h, 7d or 1y")
	}
	return d, nil
}

// parseListen reads HOST:PORT of a listener on this machine; the host may be empty, which is every address.
func parseListen(s string) (string, error) {
	want := bad(s, "an address and port to listen on, such as 127.0.0.1:8080 or [::]:8080")
	host, port, ok := cutLast(s, ":")
	if !ok {
		return "", want
	}
	if _, err := parsePort(port); err != nil {
		return "", want
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if _, err := netip.ParseAddr(host); host != "" && host != "localhost" && err != nil {
		return "", want
	}
	return s, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// parseURL returns what reads a URL of one of the schemes. Its error does not show a password.
func parseURL(example string, schemes ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		u, err := url.Parse(s)
		if err == nil && (u.Host != "" || u.Query().Has("host")) { // libpq names a Unix socket so
			for _, scheme := range schemes {
				if u.Scheme == scheme {
					return s, nil
				}
			}
		}
		return "", bad(hidePassword(s), "a URL such as "+example)
	}
}

// hidePassword takes out what stands between the scheme and an @.
func hidePassword(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if _, host, user := cutLast(rest, "@"); ok && user {
		return scheme + "://…@" + host
	}
	return s
}
