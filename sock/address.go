package sock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/input"
)

// Family is a version of IP, or the zero value for either.
type Family string

// The families, as parameters of tasks name them.
const (
	IPv4 Family = "ipv4"
	IPv6 Family = "ipv6"
)

// Validate refuses what is no family.
func (f Family) Validate() error {
	if f != "" && f != IPv4 && f != IPv6 {
		return &input.Error{Field: "family", Value: string(f), Remedy: "give ipv4 or ipv6"}
	}
	return nil
}

// String is the family's name for people: "IPv4", "IPv6", or "IP" for either.
func (f Family) String() string {
	return map[Family]string{"": "IP", IPv4: "IPv4", IPv6: "IPv6"}[f]
}

// Has reports whether an address is of the family.
func (f Family) Has(a netip.Addr) bool { return f == "" || f == FamilyOf(a) }

// FamilyOf returns an address's family.
func FamilyOf(a netip.Addr) Family {
	if a.Unmap().Is4() {
		return IPv4
	}
	return IPv6
}

// SplitHostPort reads HOST, HOST:PORT, ADDRESS, [ADDRESS] or [ADDRESS]:PORT. An IPv6 address takes brackets before a port
// (RFC 3986, 3.2.2). The port is 0 where none is given.
func SplitHostPort(text string) (host string, port int, err error) {
	if _, err := netip.ParseAddr(text); err == nil {
		return text, 0, nil
	}
	bad := &input.Error{Field: "host", Value: text, Remedy: "give HOST, HOST:PORT or [ADDRESS]:PORT, a port being 1 to 65535"}
	host, after := text, ""
	if inner, bracketed := strings.CutPrefix(text, "["); bracketed {
		var closed bool
		if host, after, closed = strings.Cut(inner, "]"); !closed {
			return "", 0, bad
		}
		if a, err := netip.ParseAddr(host); err != nil || !a.Is6() {
			return "", 0, bad
		}
	} else if i := strings.IndexByte(text, ':'); i >= 0 {
		host, after = text[:i], text[i:]
	}
	if host == "" || strings.ContainsAny(host, "[]") {
		return "", 0, bad
	}
	if after == "" {
		return host, 0, nil
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(after, ":"), 10, 16)
	if err != nil || n == 0 || after[0] != ':' {
		return "", 0, bad
	}
	return host, int(n), nil
}

// JoinHostPort writes what SplitHostPort reads: HOST:PORT, or [ADDRESS]:PORT for IPv6.
func JoinHostPort(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

// Lookup finds the addresses of a name, in the order that RFC 6724 prefers; network is "ip". It is net.Resolver's LookupNetIP.
type Lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)

// Addresses returns the addresses of host that are of a family, in the order in which they are to be tried: as RFC 6724
// prefers them, with the families taking turns (RFC 8305, 4). An address is its own. There is one at least, or an error,
// which is an input.Error where the host is none that can be measured. find may be nil: the system's resolver.
func Addresses(ctx context.Context, find Lookup, host string, family Family) ([]netip.Addr, error) {
	all, err := lookUp(ctx, find, host)
	if err != nil {
		return nil, err
	}
	var usable, other []netip.Addr
	for _, a := range all {
		a = a.Unmap()
		switch {
		case a.IsMulticast() || a.IsUnspecified():
			return nil, &input.Error{Field: "target", Value: host, Remedy: "give the address of a single host"}
		case !family.Has(a):
		case len(usable) == 0 || FamilyOf(a) == FamilyOf(usable[0]):
			usable = append(usable, a)
		default:
			other = append(other, a)
		}
	}
	if len(usable) == 0 {
		return nil, &input.Error{Field: "target", Value: host, Remedy: "it has no " + family.String() + " address; choose the other family"}
	}
	return takeTurns(usable, other), nil
}

func lookUp(ctx context.Context, find Lookup, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	if find == nil {
		find = net.DefaultResolver.LookupNetIP
	}
	all, err := find(ctx, "ip", host)
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound, err == nil && len(all) == 0:
		return nil, &input.Error{Field: "resolve", Value: host, Remedy: "no such host; check the name or give an address"}
	case err != nil:
		return nil, fmt.Errorf("resolve %q: %w", host, err)
	}
	return all, nil
}

// takeTurns puts one of b after each of a, as long as there are both.
func takeTurns(a, b []netip.Addr) []netip.Addr {
	mixed := make([]netip.Addr, 0, len(a)+len(b))
	for i := range max(len(a), len(b)) {
		mixed = append(mixed, a[min(i, len(a)):min(i+1, len(a))]...)
		mixed = append(mixed, b[min(i, len(b)):min(i+1, len(b))]...)
	}
	return mixed
}
