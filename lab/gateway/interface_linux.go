package gateway

import (
	"errors"
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/document"
)

// findInterfaces looks up both in the current network namespace, and refuses what cannot work. What works, but perhaps
// not as its user thinks, is a warning.
func findInterfaces(names [2]string) (both [2]*netlink.LinkAttrs, warnings []string, err error) {
	if names[0] == names[1] {
		return both, nil, document.Errorf("interface: %q: twice; want two interfaces, one for each side", names[0])
	}
	for i, name := range names {
		if both[i], err = findInterface(name); err != nil {
			return both, nil, err
		}
		own, err := addressesOf(both[i])
		if err != nil {
			return both, nil, err
		}
		if len(own) > 0 {
			warnings = append(warnings, fmt.Sprintf("%s has this host's address %v: what is addressed to this host "+
				"stays here, undelayed", name, own[0]))
		}
		if both[i].MasterIndex != 0 {
			warnings = append(warnings, fmt.Sprintf("%s belongs to a bridge or bond, which carries its frames as well: "+
				"ip link set %s nomaster", name, name))
		}
	}
	if joined(both[0], both[1]) || joined(both[1], both[0]) {
		return both, nil, document.Errorf("interface: %q and %q: are joined already; frames would go round for ever",
			names[0], names[1])
	}
	if both[0].MTU != both[1].MTU {
		warnings = append(warnings, fmt.Sprintf("%s has MTU %d and %s %d: larger packets do not pass", names[0], both[0].MTU,
			names[1], both[1].MTU))
	}
	return both, warnings, nil
}

func findInterface(name string) (*netlink.LinkAttrs, error) {
	l, err := netlink.LinkByName(name)
	if isAbsent(err) {
		return nil, document.Errorf("interface: %q: there is none here; see ip link", name)
	}
	if err != nil {
		return nil, fmt.Errorf("look up interface %s: %w", name, err)
	}
	a := l.Attrs()
	if a.EncapType != "ether" || len(a.HardwareAddr) != addressLength {
		return nil, document.Errorf("interface: %q: is of type %s; want Ethernet", name, a.EncapType)
	}
	if a.Flags&net.FlagUp == 0 {
		return nil, document.Errorf("interface: %q: is down; raise it: ip link set %s up", name, name)
	}
	return a, nil
}

// addressesOf lists an interface's own addresses, but for IPv6's link-local ones, which come by themselves.
func addressesOf(a *netlink.LinkAttrs) ([]*net.IPNet, error) {
	l := &netlink.GenericLink{LinkAttrs: *a}
	all, err := netlink.AddrList(l, unix.AF_UNSPEC)
	if err != nil {
		return nil, fmt.Errorf("list addresses of %s: %w", a.Name, err)
	}
	var own []*net.IPNet
	for _, one := range all {
		if !one.IP.IsLinkLocalUnicast() || one.IP.To4() != nil {
			own = append(own, one.IPNet)
		}
	}
	return own, nil
}

// joined reports whether what is sent on one interface of this namespace comes in by another: the ports of a bridge or
// bond, the VLANs of an interface, the two ends of a veth pair.
func joined(a, b *netlink.LinkAttrs) bool {
	const here = -1
	return a.MasterIndex == b.Index || a.ParentIndex == b.Index && a.NetNsID == here
}

// errGone means that an interface was removed, or moved to another namespace.
var errGone = errors.New("it is gone")

// isUp looks at an interface's state.
func isUp(index int) (bool, error) {
	l, err := netlink.LinkByIndex(index)
	if isAbsent(err) {
		return false, errGone
	}
	if err != nil {
		return false, err
	}
	return l.Attrs().Flags&net.FlagUp != 0, nil
}

func isAbsent(err error) bool {
	var absent netlink.LinkNotFoundError
	return errors.As(err, &absent)
}
