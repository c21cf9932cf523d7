package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/pathwise-net/pathwise/sock"
)

// lookup finds the addresses of a name; network is "ip", "ip4" or "ip6". It is net.Resolver's LookupNetIP.
type lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)

// resolve returns the address to measure: the target itself if it is one, else the first that its name has, of the
// family wanted (4, 6, or 0 for IPv4 if there is any, so that all probes of a target take the same path).
func resolve(ctx context.Context, find lookup, target string, family int) (netip.Addr, error) {
	address, err := netip.ParseAddr(target)
	if err != nil {
		if address, err = lookUp(ctx, find, target, family); err != nil {
			return netip.Addr{}, err
		}
	}
	address = address.Unmap()
	if family == 4 && !address.Is4() || family == 6 && !address.Is6() {
		return netip.Addr{}, &sock.InputError{Field: "target", Value: target,
			Remedy: fmt.Sprintf("it is no IPv%d address; choose the other family", family)}
	}
	if address.IsMulticast() || address.IsUnspecified() {
		return netip.Addr{}, &sock.InputError{Field: "target", Value: target, Remedy: "give the address of a single host"}
	}
	return address, nil
}

func lookUp(ctx context.Context, find lookup, name string, family int) (netip.Addr, error) {
	network := "ip"
	if family != 0 {
		network = fmt.Sprintf("ip%d", family)
	}
	addresses, err := find(ctx, network, name)
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound, err == nil && len(addresses) == 0:
		return netip.Addr{}, &sock.InputError{Field: "resolve", Value: name,
			Remedy: "no such host; check the name or give an address"}

	case err != nil:
		return netip.Addr{}, fmt.Errorf("resolve %q: %w", name, err)
	}
	for _, address := range addresses {
		if address.Unmap().Is4() {
			return address, nil
		}
	}
	return addresses[0], nil
}
