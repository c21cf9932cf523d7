// Package gateway takes real machines through the lab: an emulated link between two Ethernet interfaces of this host, so
// that an unchanged application on another machine, in a virtual machine or in a container feels the path. What stands
// on either side sees a wire: the gateway is a bridge, it has no address and is no hop.
//
//	station --- [ interface ] --- forward ---> [ interface ] --- station
//	                          <--- reverse ---
//
// What becomes of a frame:
//
//   - IPv4 and IPv6, untagged or in one VLAN tag, crosses the emulated link (package link, with all its keys, rules too).
//     It counts from when the kernel saw it, not from when the gateway woke.
//   - IPv6's neighbour discovery (RFC 4861) is given the link's delay, and nothing else: it is not lost, queued or counted
//     in the truth, for on the long path that the link stands for it would never cross, and a path that loses 10 % does
//     not lose its neighbours. At a round trip above 3 s Linux no longer waits for it; set neighbours by hand then.
//   - All else (ARP, other types, two tags, PPPoE) passes at once, unchanged.
//   - What IEEE 802.1Q keeps on one wire (LLDP, LACP, 802.1X, pause) stays, and so does what is addressed to the
//     interface's own host. Spanning tree (BPDU) passes, so that switches see a loop that is closed through a gateway.
//
// An MTU on the link is a router's: what exceeds it is cut, dropped, or answered with ICMP, in the name of the packet's
// target since the gateway has none.
//
// Super-packets from offloads (GRO, or a container's TSO) are welcome: rates, losses and the truth count their segments,
// and what can stay whole does. An adapter's LRO is not: it cannot be undone; switch it off. Nor are the super-packets of
// tunnels, unless `ethtool -K IFACE gro off tso off` makes them packets again.
//
// The gateway changes no setting of the host. Promiscuity is its sockets' and ends with them, however the process ends.
// It needs CAP_NET_RAW in the network namespace that it runs in, and Linux. Linux's own IPv6 greets the stations by the
// interfaces; who wants them silent sets net.ipv6.conf.IFACE.disable_ipv6=1.
//
// Commands build a Config (ParseConfig, With), Open the gateway, print its Warnings, Run it until they are told to end, take
// a last Snapshot, and Close. Change takes settings while it runs.
package gateway
