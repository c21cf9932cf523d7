package host

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/sock"
)

// Linux is this machine.
func Linux() System {
	return System{Root: "/", Page: float64(os.Getpagesize()), Network: readNetwork, Clock: readClock, Space: readSpace, Resolve: resolve,
		Ciphers: OwnCiphers, GetLink: getLink, SetLink: setLink, Wait: Sleep}
}

// readNetwork asks the kernel for the links, routes, filters and listeners of the calling thread's network namespace.
func readNetwork(to netip.Addr) (Network, error) {
	var n Network
	links, err := readLinks()
	if err != nil {
		return n, err
	}
	n.Links = links
	if n.Routes, err = readRoutes(links); err != nil {
		return n, err
	}
	if n.Way, err = readWay(to, links, n.Routes); err != nil {
		return n, err
	}
	var failed [3]error // each leaves out its own part
	n.Listeners, failed[0] = readListeners()
	n.Chains, n.Rules, failed[1] = readNFTables()
	chains, rules, err := readIPTables()
	n.Chains, n.Rules, failed[2] = append(n.Chains, chains...), append(n.Rules, rules...), err
	return n, errors.Join(failed[:]...)
}

// imagined are kinds of links that name a speed which nothing keeps to: 10 Mbit/s a tunnel, 10 Gbit/s a pair.
var imagined = []string{"tuntap", "veth"}

func readLinks() ([]Link, error) {
	found, err := netlink.LinkList()
	if err != nil {
		return nil, fmt.Errorf("list interfaces: %w", err)
	}
	var all []Link
	for _, l := range found {
		a := l.Attrs()
		link := Link{Index: a.Index, Name: a.Name, Up: a.Flags&net.FlagUp != 0, Loopback: a.Flags&net.FlagLoopback != 0,
			Address: a.HardwareAddr.String(), MTU: a.MTU, QueueLength: a.TxQLen,
			Counts: countsOf(a.Statistics)}
		addresses, err := netlink.AddrList(l, unix.AF_UNSPEC)
		if err != nil {
			return nil, fmt.Errorf("list addresses of %s: %w", a.Name, err)
		}
		for _, one := range addresses {
			if ip, ok := netip.AddrFromSlice(one.IP); ok {
				bits, _ := one.Mask.Size()
				link.Addresses = append(link.Addresses, netip.PrefixFrom(ip.Unmap(), bits))
			}
		}
		if !link.Loopback {
			addEthtool(&link)
			if slices.Contains(imagined, l.Type()) {
				link.Speed, link.Fastest, link.Duplex, link.Negotiates = 0, 0, "", nil
			}
		}
		if link.Qdiscs, err = readQdiscs(l); err != nil {
			return nil, err
		}
		all = append(all, link)
	}
	return all, nil
}

// countsOf are the errors and drops of a link, by their names in /sys/class/net/NAME/statistics.
func countsOf(s *netlink.LinkStatistics) map[string]uint64 {
	if s == nil {
		return nil
	}
	return map[string]uint64{
		"rx_packets": s.RxPackets, "tx_packets": s.TxPackets, "rx_dropped": s.RxDropped, "tx_dropped": s.TxDropped,
		"rx_length_errors": s.RxLengthErrors, "rx_over_errors": s.RxOverErrors, "rx_crc_errors": s.RxCrcErrors,
		"rx_frame_errors": s.RxFrameErrors, "rx_fifo_errors": s.RxFifoErrors, "rx_missed_errors": s.RxMissedErrors,
		"rx_errors": s.RxErrors, "tx_errors": s.TxErrors, "collisions": s.Collisions,
		"tx_aborted_errors": s.TxAbortedErrors, "tx_carrier_errors": s.TxCarrierErrors, "tx_fifo_errors": s.TxFifoErrors,
		"tx_window_errors": s.TxWindowErrors, "tx_heartbeat_errors": s.TxHeartbeatErrors,
	}
}

func readQdiscs(l netlink.Link) ([]Qdisc, error) {
	found, err := netlink.QdiscList(l)
	if err != nil {
		return nil, fmt.Errorf("list queueing disciplines of %s: %w", l.Attrs().Name, err)
	}
	var all []Qdisc
	for _, q := range found {
		a := q.Attrs()
		one := Qdisc{Kind: q.Type(), Root: a.Parent == netlink.HANDLE_ROOT}
		if a.Statistics != nil && a.Statistics.Queue != nil {
			one.Drops = uint64(a.Statistics.Queue.Drops)
		}
		if t, is := q.(*netlink.Tbf); is {
			const bits = 8 // its rate is in bytes/s
			one.Rate = bits * float64(t.Rate)
		}
		all = append(all, one)
	}
	return all, nil
}

func readRoutes(links []Link) ([]RouteFacts, error) {
	found, err := netlink.RouteList(nil, netlink.FAMILY_ALL)
	if err != nil {
		return nil, fmt.Errorf("list routes: %w", err)
	}
	var all []RouteFacts
	for _, r := range found {
		all = append(all, routeFacts(r, links))
	}
	return all, nil
}

func routeFacts(r netlink.Route, links []Link) RouteFacts {
	f := RouteFacts{Destination: defaultRoute, Six: r.Family == unix.AF_INET6, Metric: r.Priority, MTU: r.MTU, AdvertisedMSS: r.AdvMSS, MTULocked: r.MTULock, Window: r.Window,
		InitialWindow: r.InitCwnd, InitialReceive: r.InitRwnd, CongestionWindow: r.Cwnd, SlowStartFrom: r.Ssthresh, HopLimit: r.Hoplimit,
		Congestion: r.Congctl}
	if r.Dst != nil {
		if ones, _ := r.Dst.Mask.Size(); ones > 0 {
			f.Destination = r.Dst.String()
		}
	}
	if i := slices.IndexFunc(links, func(l Link) bool { return l.Index == r.LinkIndex }); i >= 0 {
		f.Interface = links[i].Name
	}
	return f
}

// readWay finds the route to an address; where none is given, the default route, and what has the lowest metric of several.
func readWay(to netip.Addr, links []Link, routes []RouteFacts) (Way, error) {
	if !to.IsValid() {
		return defaultWay(routes), nil
	}
	found, err := netlink.RouteGet(to.AsSlice())
	if err != nil || len(found) == 0 {
		return Way{}, fmt.Errorf("find route to %s: %w", to, cmp.Or(err, errors.New("the kernel has none")))
	}
	w := Way{To: to, RouteFacts: routeFacts(found[0], links)}
	w.Source, _ = netip.AddrFromSlice(found[0].Src)
	w.Source = w.Source.Unmap()
	if m, err := sock.PathMemory(to); err == nil && m.Found {
		w.Remembered = &Remembered{SlowStartFrom: m.SSThreshPackets, RTT: m.RTT}
	}
	return w, nil
}
