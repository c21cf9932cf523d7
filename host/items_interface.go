package host

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/pathwise-net/pathwise/quantity"
)

// interfaceItems are what each interface is set to.
var interfaceItems = []Item{
	{ID: "link-speed", Title: "Speed of the link", Area: Interface, Reads: "ethtool netlink, link modes", find: links(linkSpeed),
		Means: "How fast the link is. It is as fast as the slower of its two ends, and as the cable bears."},
	{ID: "duplex", Title: "Duplex of the link", Area: Interface, Reads: "ethtool netlink, link modes", find: links(duplex),
		Means: "At half duplex only one end sends at a time. If just one end believes so, packets are lost as soon as both send.", Source: "IEEE 802.3"},
	{ID: "negotiation", Title: "Negotiation of speed and duplex", Area: Interface, Reads: "ethtool netlink, link modes", find: links(negotiation),
		Means: "Ends agree on speed and duplex. One that does not negotiate makes the other take half duplex: set both alike, or neither.", Source: "IEEE 802.3 clause 28"},
	{ID: "mtu", Title: "The largest packet of an interface", Area: Interface, Reads: "rtnetlink", find: links(mtu),
		Means: "The largest packet of the interface. Small ones cost processor time and, after losses, rate. Jumbo frames must hold from end to end, " +
			"or not at all.", Formula: "1,500 bytes: Ethernet's; IPv6 needs 1,280", Source: "RFC 894; RFC 8200 section 5"},
	{ID: "driver", Title: "Driver of the adapter", Area: Interface, Reads: "/sys/class/net/NAME/device/uevent", find: links(driver),
		Means: "A hypervisor that shows an adapter of hardware that was costs a processor for each packet; virtio, vmxnet3 and the like do not."},
	{ID: "pci-express", Title: "What the adapter's slot carries", Area: Interface, Reads: "/sys/class/net/NAME/device/current_link_speed, current_link_width", find: links(pciExpress),
		Means: "What the adapter's slot carries.", Formula: "transfers/s × lanes × 128/130 (8/10 up to 5 GT/s)", Source: "PCI Express base specification"},
	{ID: "errors", Title: "Packets that came damaged or could not be sent", Area: Interface, Reads: "rtnetlink, IFLA_STATS64", find: links(errorCounts),
		Means: "Packets that came damaged or could not be sent: cable, plug, optics, or a duplex that the ends do not share."},
	{ID: "drops", Title: "Packets that an interface dropped", Area: Interface, Reads: "rtnetlink, IFLA_STATS64", find: links(dropCounts),
		Means: "Packets that the interface dropped: rings too small, a processor too slow, or nobody wanted them."},
	{ID: "queue-length", Title: "Length of the queue before the adapter", Area: Interface, Reads: "rtnetlink, IFLA_TXQLEN", find: links(queueLength),
		Means: "How many packets wait before the adapter where the queue is a plain one.", Formula: "1,000 at 1 Gbit/s, in proportion, from 100 to 20,000",
		Source: practice + "; PERT guide (2005) for 1 Gbit/s"},
	{ID: "qdisc", Title: "Queueing discipline of an interface", Area: Interface, Reads: "rtnetlink, queueing disciplines", find: links(qdisc),
		Means: "How packets queue before the adapter. fq sends each connection at its own pace; a plain queue sends bursts, which shallow buffers " +
			"drop; a shaper or an emulation that somebody left is as slow as it says.", Source: practice + "; RFC 8290"},
	{ID: "qdisc-drops", Title: "Packets dropped before they were sent", Area: Interface, Reads: "rtnetlink, queueing disciplines", find: links(qdiscDrops),
		Means: "Packets that this machine dropped itself before they were sent."},
}

// links looks at each audited link.
func links(look func(f *Facts, l Link, n Need) []seen) func(*Facts, Need) []seen {
	return func(f *Facts, n Need) (all []seen) {
		for _, l := range f.audited() {
			for _, s := range look(f, l, n) {
				if s.subject == "" {
					s.subject = l.Name
				}
				all = append(all, s)
			}
		}
		return all
	}
}

func linkSpeed(_ *Facts, l Link, n Need) []seen {
	if l.Speed == 0 {
		return []seen{{value: "not said", status: Unknown}}
	}
	s := seen{value: quantity.FormatRate(l.Speed), needed: "at least " + quantity.FormatRate(n.Rate)}
	switch {
	case l.Speed < l.Fastest:
		s.status, s.why = Warning, "The adapter could do "+quantity.FormatRate(l.Fastest)+"."
		s.needed = quantity.FormatRate(l.Fastest)
		s.command = "ethtool -s " + l.Name + " autoneg on; then look at the cable, and at the port of the switch"
		if l.Speed < n.Rate {
			s.status = Problem
		}
	case l.Speed < n.Rate:
		s.status, s.why, s.command = Problem, "The path needs more than the link carries.", "a faster adapter, or several in a bond"
	}
	return []seen{s}
}

func duplex(_ *Facts, l Link, _ Need) []seen {
	switch l.Duplex {
	case "full":
		return []seen{{value: "full", needed: "full"}}
	case "half":
		return []seen{{value: "half", needed: "full", status: Problem, command: "ethtool -s " + l.Name + " autoneg on, at both ends of the cable"}}
	}
	return []seen{{value: "not said", status: Unknown}}
}

// negotiates is up to 1 Gbit/s: faster links over fibre have nothing to agree on.
func negotiation(_ *Facts, l Link, _ Need) []seen {
	const copper = 1e9
	if l.Negotiates == nil || l.Speed == 0 || l.Speed > copper {
		return nil
	}
	if *l.Negotiates {
		return []seen{{value: "on", needed: "on"}}
	}
	return []seen{{value: "off", needed: "on", status: Warning, command: "ethtool -s " + l.Name + " autoneg on"}}
}

// What a packet may be at least.
const (
	ethernetMTU = 1500 // RFC 894
	leastMTU    = 1280 // RFC 8200 section 5
)

func mtu(_ *Facts, l Link, _ Need) []seen {
	s := seen{value: strconv.Itoa(l.MTU), needed: "1500 or more", key: "mtu." + l.Name}
	if l.MTU < ethernetMTU {
		s.status, s.command = Warning, fmt.Sprintf("ip link set dev %s mtu %d, unless a tunnel on the way needs less", l.Name, ethernetMTU)
	}
	if l.MTU < leastMTU {
		s.status, s.why = Problem, "IPv6 does not run over it."
	}
	return []seen{s}
}

// museum are drivers of adapters that only hypervisors still show.
var museum = []string{"e1000", "8139cp", "8139too", "pcnet32", "ne2k-pci", "tulip", "vmxnet"}

func driver(_ *Facts, l Link, _ Need) []seen {
	if l.Driver == "" {
		return nil
	}
	s := seen{value: l.Driver}
	if slices.Contains(museum, l.Driver) {
		s.status, s.needed, s.command = Warning, "virtio_net, vmxnet3 or hardware", "choose another adapter in the hypervisor's settings of this machine"
	}
	return []seen{s}
}

func pciExpress(_ *Facts, l Link, n Need) []seen {
	if l.PCIe == 0 {
		return nil
	}
	s := seen{value: quantity.FormatRate(l.PCIe), needed: "at least " + quantity.FormatRate(n.Rate)}
	if l.PCIe < n.Rate {
		s.status, s.command = Problem, "put the adapter into a slot with more lanes, or one of a later generation"
	}
	return []seen{s}
}

// queueLength counts only where the queue is a plain one: fq and its like have limits of their own.
func queueLength(_ *Facts, l Link, n Need) []seen {
	const perBit, least, most = 1000 / 1e9, 100, 20_000
	want := int(min(max(n.Rate*perBit, least), most))
	plain := slices.ContainsFunc(l.Qdiscs, func(q Qdisc) bool { return slices.Contains(plainQueues, q.Kind) })
	s := seen{value: strconv.Itoa(l.QueueLength), needed: fmt.Sprintf("at least %d", want), key: "queue-length." + l.Name}
	switch {
	case !plain:
		s.needed = "not used by this qdisc"
	case l.QueueLength < want:
		s.status, s.changes = Warning, []Change{{Link: l.Name, Setting: queueLengthSetting, To: strconv.Itoa(want)}}
	}
	return []seen{s}
}
