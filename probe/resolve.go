package probe

import (
	"context"
	"net"
	"net/netip"
)

// Resolve returns the address that a probe of target measures: target itself, or the first address of its name.
func Resolve(ctx context.Context, target string) (netip.Addr, error) {
	return resolve(ctx, net.DefaultResolver.LookupNetIP, target, 0)
}
