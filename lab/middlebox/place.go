package middlebox

import (
	"net/netip"

	"github.com/pathwise-net/pathwise/document"
)

// Place is where a router stands: what the names in its Config mean, by interface number and address.
type Place struct {
	Outside  []Interface // to NAT's outside; several if links run side by side, all with the first's addresses for NAT
	Inside   []int       // numbers of the firewall's inside interfaces
	Forwards []Addresses // of the hosts in NAT.Forward, in its order
}

// Interface is one of the router's own. A number is any that is not negative; the caller of a Box uses the same ones.
type Interface struct {
	Number int
	Addresses
}

// Addresses of one node; invalid (zero) ones are not there.
type Addresses struct{ V4, V6 netip.Addr }

// Place finds out what the configuration's names mean: neighbour returns the router's interfaces towards a node, none
// if it has no link to it; host returns the addresses of a host, and whether there is one.
func (c *Config) Place(neighbour func(string) []Interface, host func(string) (Addresses, bool)) (Place, error) {
	var place Place
	if c == nil {
		return place, nil
	}
	if c.NAT != nil {
		if place.Outside = neighbour(c.NAT.Outside); len(place.Outside) == 0 {
			return place, document.Errorf("nat: outside: %q: want a neighbour of this router", c.NAT.Outside)
		}
		for _, f := range c.NAT.Forward {
			addresses, ok := host(f.To)
			if !ok {
				return place, document.Errorf("nat: forward: to: %q: want a host", f.To)
			}
			place.Forwards = append(place.Forwards, addresses)
		}
	}
	if c.Firewall != nil {
		for _, name := range c.Firewall.Inside {
			found := neighbour(name)
			if len(found) == 0 {
				return place, document.Errorf("firewall: inside: %q: want a neighbour of this router", name)
			}
			for _, i := range found {
				place.Inside = append(place.Inside, i.Number)
			}
		}
	}
	return place, nil
}
