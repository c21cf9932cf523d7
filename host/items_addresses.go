package host

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// ownNames holds the addresses of this machine's name against its interfaces.
func ownNames(f *Facts, _ Need) []seen {
	var all []seen
	for _, a := range f.OwnAddresses {
		i := slices.IndexFunc(f.Network.Links, func(l Link) bool {
			return slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Addr() == a })
		})
		if i < 0 || f.Network.Links[i].Loopback {
			continue // others do not come by it
		}
		l := f.Network.Links[i]
		s := seen{subject: f.Name, value: fmt.Sprintf("%s on %s", a, l.Name), needed: "on the fastest interface"}
		if other, is := f.fastestOther(l); is {
			s.status, s.why = Warning, other.Name+" is faster ("+speedText(other)+")."
			s.command = "let the name stand for an address of " + other.Name + ", in DNS and in /etc/hosts"
		}
		all = append(all, s)
	}
	return all
}

func defaultRoutes(f *Facts, _ Need) []seen {
	type kind struct {
		six    bool
		metric int
	}
	by := map[kind][]string{}
	for _, r := range f.Network.Routes {
		k := kind{r.Six, r.Metric}
		if r.Destination == defaultRoute && !slices.Contains(by[k], r.Interface) {
			by[k] = append(by[k], r.Interface)
		}
	}
	if len(by) == 0 {
		return nil
	}
	for k, interfaces := range by {
		if len(interfaces) > 1 {
			return []seen{{value: strings.Join(interfaces, " and "), needed: "one of each metric", status: Warning,
				why:     fmt.Sprintf("Both have metric %d.", k.metric),
				command: "ip route change default dev " + interfaces[len(interfaces)-1] + " via its gateway metric 1000", keep: "give them metrics where they are configured"}}
		}
	}
	return []seen{{value: fmt.Sprintf("%d", len(by)), needed: "one of each metric"}}
}

func sameNetwork(f *Facts, _ Need) []seen {
	names := map[netip.Prefix][]string{}
	for _, l := range f.Network.Links {
		for _, p := range l.Addresses {
			net := p.Masked()
			if l.Up && l.Adapter && !p.Addr().IsLinkLocalUnicast() && !slices.Contains(names[net], l.Name) {
				names[net] = append(names[net], l.Name)
			}
		}
	}
	for net, on := range names {
		if len(on) > 1 {
			return []seen{{subject: net.String(), value: strings.Join(on, " and "), needed: "one interface", status: Warning,
				command: "join them in a bond, or take the address off " + on[0], keep: "sysctl net.ipv4.conf.all.arp_filter = 1 keeps answers apart"}}
		}
	}
	return nil
}

// reversePath matters only where there are several ways in. 1 is strict, 2 asks only that there is some way back.
func reversePath(f *Facts, _ Need) []seen {
	ways := 0
	for _, l := range f.Network.Links {
		if l.Up && l.Adapter && len(l.Addresses) > 0 {
			ways++
		}
	}
	const key = "net.ipv4.conf.all.rp_filter"
	value, there := f.Sysctls[key]
	if !there || ways < 2 {
		return nil
	}
	s := seen{value: value, needed: "0 or 2", key: key}
	if value == "1" {
		// --apply leaves it alone: it is there for safety.
		s.status, s.command, s.keep = Warning, settings(key, "2")[0].command(), settings(key, "2")[0].keep()
	}
	return []seen{s}
}
