package host

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

// routeItems are what the way out lays down, and whether it is the one to take.
var routeItems = []Item{
	{ID: "route-interface", Title: "The interface that packets leave by", Area: Route, Reads: "rtnetlink, routes; ethtool netlink, speed", find: fasterLink,
		Means: "Which interface packets leave by, when another one that is up is faster."},
	{ID: "names", Title: "The address that the machine's name stands for", Area: Route, Reads: "/etc/hosts and the resolver", find: ownNames,
		Means: "Others come by the address that this machine's name stands for: it should be that of the fast interface."},
	{ID: "default-routes", Title: "Two default routes", Area: Route, Reads: "rtnetlink, routes", find: defaultRoutes,
		Means: "Of two default routes of the same metric the kernel takes the one that came up first."},
	{ID: "same-network", Title: "Two interfaces in one network", Area: Route, Reads: "rtnetlink, addresses", find: sameNetwork,
		Means: "Where two interfaces have addresses of one network, answers for both may come by either, and so by the slower one."},
	{ID: "reverse-path", Title: "A filter of packets that come another way", Area: Route, Reads: "net.ipv4.conf.*.rp_filter", find: reversePath,
		Means: "With several interfaces, packets that come by another than the way back are dropped where the filter is strict.", Source: "RFC 3704"},
	{ID: "route-window", Title: "A route that bounds windows", Area: Route, Reads: "rtnetlink, RTAX_WINDOW", find: ways(routeWindow),
		Means: "The route keeps the windows of all connections on it at this.", Formula: "rate × round trip", Source: "RFC 7323 section 1.1"},
	{ID: "route-mtu", Title: "A route that bounds packets", Area: Route, Reads: "rtnetlink, RTAX_MTU", find: ways(routeMTU),
		Means: "The route keeps packets smaller than the interface would; locked, it also lets routers cut them."},
	{ID: "route-mss", Title: "A route that asks for small packets", Area: Route, Reads: "rtnetlink, RTAX_ADVMSS", find: ways(routeMSS),
		Means: "The route has this machine ask for smaller packets than its interface takes."},
	{ID: "route-cwnd", Title: "A route that bounds what is on the way", Area: Route, Reads: "rtnetlink, RTAX_CWND", find: ways(routeCwnd),
		Means: "The route keeps no more than these packets on the way.", Formula: "rate × round trip / MSS", Source: "RFC 7323 section 1.1"},
	{ID: "route-initial-window", Title: "A route that says how connections begin", Area: Route, Reads: "rtnetlink, RTAX_INITCWND, RTAX_INITRWND", find: ways(routeInitial),
		Means: "With how many packets a connection begins on this route.", Formula: "10 packets", Source: "RFC 6928"},
	{ID: "route-congestion-control", Title: "A route with a congestion control of its own", Area: Route, Reads: "rtnetlink, RTAX_CC_ALGO", find: ways(routeCongestion),
		Means: "The congestion control of connections on this route, whatever the machine's own."},
	{ID: "route-memory", Title: "What is remembered of earlier connections", Area: Route, Reads: "tcp_metrics netlink; net.ipv4.tcp_no_ssthresh_metrics_save", find: pathMemory,
		Means:   "What the kernel remembers of earlier connections there: one that lost packets makes the next ones leave slow start early.",
		Formula: "rate × round trip / MSS packets", Source: "RFC 9040"},
}

// ways looks at the route that packets take.
func ways(look func(w Way, l Link, n Need) (seen, bool)) func(*Facts, Need) []seen {
	return func(f *Facts, n Need) []seen {
		w := f.Network.Way
		l, there := f.onWay()
		if !there {
			return nil
		}
		s, has := look(w, l, n)
		if !has {
			return nil
		}
		if s.subject = w.Destination; w.To.IsValid() {
			s.subject = w.To.String()
		}
		if s.status != "" && s.command == "" {
			s.command = "ip route change " + w.Destination + " …, without it"
			s.keep = "take it out of the configuration of " + w.Interface
		}
		return []seen{s}
	}
}

func routeWindow(w Way, _ Link, n Need) (seen, bool) {
	if w.Window == 0 {
		return seen{}, false
	}
	s := seen{value: quantity.FormatBinarySize(int64(w.Window)), needed: "at least " + quantity.FormatBinarySize(int64(n.product()))}
	if float64(w.Window) < n.product() {
		s.status, s.why = Problem, "It allows "+quantity.FormatRate(model.WindowLimit(float64(w.Window), n.RTT))+"."
	}
	return s, true
}

func routeMTU(w Way, l Link, _ Need) (seen, bool) {
	if w.MTU == 0 {
		return seen{}, false
	}
	s := seen{value: strconv.Itoa(w.MTU), needed: strconv.Itoa(l.MTU)}
	if w.MTULocked {
		s.value += ", locked"
	}
	if w.MTU < l.MTU {
		s.status = Warning
	}
	return s, true
}

func routeMSS(w Way, l Link, _ Need) (seen, bool) {
	if w.AdvertisedMSS == 0 {
		return seen{}, false
	}
	want := l.MTU - model.IPv6Header - model.TCPHeader // IPv4's header is 20 bytes shorter
	s := seen{value: strconv.Itoa(w.AdvertisedMSS), needed: fmt.Sprintf("at least %d", want)}
	if w.AdvertisedMSS < want {
		s.status = Warning
	}
	return s, true
}

// segment is the payload of a full packet of a link.
func segment(l Link) float64 {
	return model.Overhead{MTU: float64(l.MTU), Headers: model.IPv4Header + model.TCPHeader + model.TCPTimestamps}.Payload()
}

func routeCwnd(w Way, l Link, n Need) (seen, bool) {
	want := n.product() / segment(l)
	s := seen{value: strconv.Itoa(w.CongestionWindow), needed: fmt.Sprintf("at least %.0f", want)}
	if float64(w.CongestionWindow) < want {
		s.status = Problem
	}
	return s, w.CongestionWindow > 0
}

func routeInitial(w Way, _ Link, _ Need) (seen, bool) {
	const usual = 10
	s := seen{value: fmt.Sprintf("send %d, receive %d", w.InitialWindow, w.InitialReceive), needed: "10 or more, or none said"}
	if w.InitialWindow > 0 && w.InitialWindow < usual || w.InitialReceive > 0 && w.InitialReceive < usual {
		s.status = Warning
	}
	return s, w.InitialWindow > 0 || w.InitialReceive > 0
}

func routeCongestion(w Way, _ Link, n Need) (seen, bool) {
	needed, set := congestion(w.Congestion, n)
	s := seen{value: w.Congestion, needed: needed}
	if set != "" {
		s.status = Warning
	}
	return s, w.Congestion != ""
}

// pathMemory looks at what is remembered of the way, and at whether anything is to be.
func pathMemory(f *Facts, n Need) []seen {
	var all []seen
	slow, there := f.Sysctls["net.ipv4.tcp_no_ssthresh_metrics_save"]
	key := "net.ipv4.tcp_no_ssthresh_metrics_save"
	if !there { // before Linux 5.6 the only choice is to remember nothing at all
		key = "net.ipv4.tcp_no_metrics_save"
		slow, there = f.Sysctls[key]
	}
	if there {
		s := seen{value: slow, needed: "1", key: key}
		if slow == "0" && f.Sysctls["net.ipv4.tcp_no_metrics_save"] != "1" {
			s.status, s.changes = Warning, settings(key, "1")
		}
		all = append(all, s)
	}
	l, known := f.onWay()
	if m := f.Network.Way.Remembered; known && m != nil && m.SlowStartFrom > 0 {
		want := n.product() / segment(l)
		s := seen{subject: f.Network.Way.To.String(), value: fmt.Sprintf("slow start to %d packets", m.SlowStartFrom),
			needed: fmt.Sprintf("at least %.0f, or none", want)}
		if float64(m.SlowStartFrom) < want {
			s.status, s.command = Warning, "ip tcp_metrics delete "+f.Network.Way.To.String()
		}
		all = append(all, s)
	}
	return all
}

// fastestOther is the fastest link that is up, has an address beside that of the link alone, and is faster than another.
func (f *Facts) fastestOther(than Link) (Link, bool) {
	best, found := than, false
	for _, l := range f.Network.Links {
		usable := l.Up && l.Adapter && slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return !p.Addr().IsLinkLocalUnicast() })
		if usable && than.Speed > 0 && l.Speed > best.Speed {
			best, found = l, true
		}
	}
	return best, found
}

func fasterLink(f *Facts, _ Need) []seen {
	l, there := f.onWay()
	if !there {
		return nil
	}
	describe := func(l Link) string { return strings.TrimSuffix(l.Name+", "+speedText(l), ", ") }
	s := seen{value: describe(l), needed: "the fastest that is up"}
	if other, is := f.fastestOther(l); is {
		s.status, s.needed = Warning, describe(other)
		s.command = fmt.Sprintf("ip route replace %s dev %s via its gateway, if there is a way", f.Network.Way.Destination, other.Name)
		s.keep = "give " + other.Name + " the lower metric where it is configured"
	}
	return []seen{s}
}

func speedText(l Link) string {
	if l.Speed == 0 {
		return ""
	}
	return quantity.FormatRate(l.Speed)
}
