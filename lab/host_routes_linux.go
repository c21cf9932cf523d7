package lab

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// addRoutes tells a host how to reach every other node: a default route through its first link, and a route of its
// own to each address that another link is nearer to. Called on the namespace's thread.
func addRoutes(p *Plan, ways routes, node int) error {
	congestion, err := setCongestion(p.Nodes[node])
	if err != nil {
		return err
	}
	for k, id := range p.Nodes[node].Interfaces {
		i := p.Interfaces[id]
		link, err := netlink.LinkByName(i.Name)
		if err != nil {
			return fmt.Errorf("find %s: %w", i.Name, err)
		}
		through := netlink.Route{LinkIndex: link.Attrs().Index, Congctl: congestion}
		if size := p.MTU(id); size < p.deviceMTU(id) {
			through.MTU = size
		}
		peer := p.Interfaces[i.Peer]
		if err := carryOnConnected(through, i); err != nil {
			return err
		}
		if k == 0 {
			err = addRoute(through, netip.Prefix{}, peer.Address)
			if err == nil && withIPv6(p.MTU(id)) {
				err = addRoute(through, netip.Prefix{}, peer.Address6)
			}
			if err != nil {
				return fmt.Errorf("add default route: %w", err)
			}
		}
		if len(p.Nodes[node].Interfaces) == 1 {
			continue
		}
		if err := addNearer(p, ways, node, id, through); err != nil {
			return err
		}
	}
	return nil
}

// carryOnConnected puts on the route to the link's own network, too, what routes carry: congestion control and MTU. IPv6
// has an MTU of its own for each interface.
func carryOnConnected(through netlink.Route, i Interface) error {
	if through.Congctl == "" && through.MTU == 0 {
		return nil
	}
	if through.MTU != 0 && withIPv6(through.MTU) {
		if err := writeSysctl(fmt.Sprintf("net.ipv6.conf.%s.mtu", i.Name), strconv.Itoa(through.MTU)); err != nil {
			return err
		}
	}
	through.Src, through.Scope = net.IP(i.Address.AsSlice()), netlink.SCOPE_LINK
	through.Protocol = unix.RTPROT_KERNEL
	through.Dst = &net.IPNet{IP: through.Src.Mask(net.CIDRMask(24, 32)), Mask: net.CIDRMask(24, 32)}
	if err := netlink.RouteReplace(&through); err != nil {
		return fmt.Errorf("replace connected route: %w", err)
	}
	return nil
}

// addNearer adds a route to each address to which an interface is the way.
func addNearer(p *Plan, ways routes, node, id int, through netlink.Route) error {
	i := p.Interfaces[id]
	peer := p.Interfaces[i.Peer]
	for addr, owner := range p.owner {
		first := ways[node][owner]
		if len(first) == 0 || first[0] != i.Leaves || addr == peer.Address || addr == peer.Address6 {
			continue
		}
		gateway := peer.Address
		if addr.Is6() {
			gateway = peer.Address6
			if !withIPv6(p.MTU(id)) {
				continue
			}
		}
		if err := addRoute(through, netip.PrefixFrom(addr, addr.BitLen()), gateway); err != nil {
			return fmt.Errorf("add route to %s: %w", addr, err)
		}
	}
	return nil
}

// addRoute adds a route; to nowhere in particular is the default.
func addRoute(r netlink.Route, to netip.Prefix, gateway netip.Addr) error {
	r.Gw = net.IP(gateway.AsSlice())
	r.Family = netlink.FAMILY_V4
	if gateway.Is6() {
		r.Family = netlink.FAMILY_V6
	}
	if to.IsValid() {
		r.Dst = &net.IPNet{IP: to.Addr().AsSlice(), Mask: net.CIDRMask(to.Bits(), to.Addr().BitLen())}
	}
	return netlink.RouteReplace(&r)
}
