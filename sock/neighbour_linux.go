package sock

import (
	"net/netip"

	"github.com/vishvananda/netlink"
)

// SilentNeighbour returns the next hop on the way to an address, if this host asks for its link address (ARP, neighbour discovery) and gets no answer:
// then packets wait in this host, and are dropped at last. ok is false where the neighbour answers, and where nothing is known of it.
func SilentNeighbour(to netip.Addr) (hop netip.Addr, ok bool) {
	routes, err := netlink.RouteGet(to.Unmap().AsSlice())
	if err != nil || len(routes) == 0 {
		return netip.Addr{}, false
	}
	hop = to.Unmap().WithZone("")
	if gateway, is := netip.AddrFromSlice(routes[0].Gw); is {
		hop = gateway.Unmap()
	}
	family := netlink.FAMILY_V4
	if hop.Is6() {
		family = netlink.FAMILY_V6
	}
	neighbours, err := netlink.NeighList(routes[0].LinkIndex, family)
	if err != nil {
		return netip.Addr{}, false
	}
	for _, n := range neighbours {
		if a, is := netip.AddrFromSlice(n.IP); is && a.Unmap() == hop {
			return hop, n.State&(netlink.NUD_INCOMPLETE|netlink.NUD_FAILED) != 0
		}
	}
	return netip.Addr{}, false
}
