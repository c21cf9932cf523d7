package iperf3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A test of a multicast group: the client opens a test with each receiver, all of which have to be Pathwise and let multicast in, shakes hands with each
// from one UDP socket, and then sends every datagram once, to the group. Each receiver joins the group on the interface by which the client reached
// it, and counts what comes from that socket alone:
//
//	client                                  each receiver
//	cookie, parameters with "group"  ---->
//	                                 <----  hello with "group": the interface, or why not
//	"9876" from one socket           ---->  joins group and port, and hears the socket's address and port alone
//	                                 <----  "6789"
//	datagrams to the group, once     ====>  counts them
//
// Members join whatever source sends to the group (RFC 3376, RFC 3810): source-specific groups (RFC 4607) are not tested. A server never sends to a
// group.

const (
	// groupHops is how far datagrams to a group go unless told otherwise: no router forwards them.
	groupHops = 1
	// groupSettle is how long a client waits with the first datagram once all have joined: a switch that snoops hears of a member by a report that is
	// sent at once, and a tree of routers takes a few round trips to grow (RFC 7761).
	groupSettle = 500 * time.Millisecond
	// groupReceivers bounds them: each is a control connection of its own.
	groupReceivers = 64
	// leastGroupPort keeps a client from having a server bind a port of the system's.
	leastGroupPort = 1024
)

// GroupExtra asks a server to receive from a group.
type GroupExtra struct {
	Address string `json:"address"`
	Port    int    `json:"port"`
}

// HelloGroup is a server's answer to a GroupExtra.
type HelloGroup struct {
	Interface string `json:"interface,omitempty"` // that it joins the group on
	Error     string `json:"error,omitempty"`     // why it does not
}

// checkGroup returns an error, bad input, for a test of a group that cannot be.
func (c *Config) checkGroup() error {
	switch {
	case c.Group == "" && c.Hops != 0:
		return badConfig("TTL", c.Hops, "is of datagrams to a group: name the group, or leave it out")
	case c.Group == "":
		return nil
	case c.Hops < 0 || c.Hops > 255:
		return badConfig("TTL", c.Hops, "must be 1 to 255")
	case c.Proto != UDP || c.Reverse || c.Bidir || c.Parallel > 1 || c.Search || c.Train != nil || c.FlowLabel > 0:
		return badConfig("group", c.Group, "is of one UDP stream from this host: leave out reverse, bidir, parallel, search and flow label")
	}
	group, err := netip.ParseAddr(c.Group)
	if err == nil {
		err = mayBeGroup(group)
	}
	if err != nil {
		return badConfig("group", oneLine(c.Group), err.Error())
	}
	return nil
}

// Ranges of groups that no test takes: what everybody on a link hears, and those whose members name the sender.
var (
	localControl = netip.MustParsePrefix("224.0.0.0/24") // RFC 5771 section 4
	netControl   = netip.MustParsePrefix("224.0.1.0/24") // RFC 5771 section 5: NTP, PTP and other protocols
	sourceFour   = netip.MustParsePrefix("232.0.0.0/8")  // RFC 4607
	sourceSix    = netip.MustParsePrefix("ff30::/12")    // RFC 4607, and groups of a prefix (RFC 3306) beside it
	permanent    = netip.MustParsePrefix("ff00::/12")    // RFC 4291 section 2.7: assigned to protocols
	hostAlone    = netip.MustParsePrefix("ff11::/16")    // the scope of one interface
)

// PrivateGroups are those that are assigned to no one: of IPv4 what is administratively scoped (RFC 2365), of IPv6 what is transient (RFC 4291 section 2.7).
const PrivateGroups = "239.0.0.0/8,ff10::/12"

// ParseGroups reads prefixes of multicast groups, with commas between.
func ParseGroups(text string) (all []netip.Prefix, err error) {
	for _, one := range strings.Split(text, ",") {
		prefix, err := netip.ParsePrefix(one)
		least := 4 // the bits that make an address one of a group, of IPv4
		if err == nil && prefix.Addr().Is6() {
			least = 8
		}
		if err != nil || prefix != prefix.Masked() || !prefix.Addr().IsMulticast() || prefix.Addr().Is4In6() || prefix.Bits() < least {
			return nil, fmt.Errorf("%s: want prefixes of multicast groups with commas between, such as 239.255.0.0/16,ff15::/16", strconv.Quote(text))
		}
		all = append(all, prefix)
	}
	return all, nil
}

// mayBeGroup says why tests do not send to a group.
func mayBeGroup(group netip.Addr) error {
	const give = "give a group such as 239.255.86.4 or ff15::5864"
	switch {
	case !group.IsMulticast() || group.Is4In6() || group.Zone() != "":
		return errors.New("is no multicast address: " + give)
	case sourceFour.Contains(group) || sourceSix.Contains(group):
		return errors.New("is source-specific, which is not tested: " + give)
	case localControl.Contains(group) || netControl.Contains(group) || permanent.Contains(group) || hostAlone.Contains(group):
		return errors.New("is assigned to protocols, or of one host: " + give)
	}
	return nil
}

func (p Params) group() *GroupExtra {
	if p.Pathwise == nil {
		return nil
	}
	return p.Pathwise.Group
}

// badGroup reports whether the parameters ask for a test of a group that cannot be.
func (p Params) badGroup() bool {
	g := p.group()
	if g == nil {
		return false
	}
	group, err := netip.ParseAddr(g.Address)
	other := !bool(p.UDP) || bool(p.Reverse) || bool(p.Bidir) || p.Parallel > 1 || p.search() != nil || p.train() != nil
	return err != nil || mayBeGroup(group) != nil || g.Port < leastGroupPort || g.Port > 65535 || other
}

// answerGroup says on which interface this end joins the group, or why it does not.
func (s *serverTest) answerGroup() *HelloGroup {
	groups := s.policy.Groups
	if len(groups) == 0 {
		return &HelloGroup{Error: "it does not let multicast in (respond --multicast)"}
	}
	group := netip.MustParseAddr(s.params.group().Address) // it was checked
	if !slices.ContainsFunc(groups, func(p netip.Prefix) bool { return p.Contains(group) }) {
		return &HelloGroup{Error: "it lets multicast in to other groups alone (respond --multicast=PREFIX,…)"}
	}
	local := addrPort(s.ctl.conn.LocalAddr()).Addr()
	if group.Is4() != local.Is4() {
		return &HelloGroup{Error: fmt.Sprintf("the group is of another version of IP than %s", local)}
	}
	link, err := interfaceOf(local)
	if err != nil {
		return &HelloGroup{Error: err.Error()}
	}
	return &HelloGroup{Interface: link.Name}
}

// joinFor puts in place of each connection by which a client shook hands the socket that hears what that client sends to the group from there.
func (s *serverTest) joinFor(ctx context.Context, handshakes []net.Conn, failed error) (conns []net.Conn, err error) {
	s.handshakes = append(s.handshakes, handshakes...)
	if failed != nil {
		return nil, failed
	}
	for _, c := range handshakes {
		s.server.group.Go(func() { answerAgain(c) })
		conn, err := joinGroup(ctx, s.params, addrPort(c.LocalAddr()).Addr(), addrPort(c.RemoteAddr()))
		if err != nil {
			return conns, fmt.Errorf("%w: %w", err, &PeerError{Code: codeStreamListen})
		}
		conns = append(conns, conn)
	}
	return conns, nil
}

// answerAgain answers the handshake of a stream whose answer was lost, until the connection is closed.
func answerAgain(c net.Conn) {
	var b [len(udpHello) + 1]byte
	for {
		n, err := c.Read(b[:])
		if err != nil && !earlier(err) {
			return
		}
		if n == len(udpHello) && [4]byte(b[:]) == udpHello {
			_, _ = c.Write(udpAnswer[:]) // lost as any datagram may be
		}
	}
}

// checkHelloGroup returns an error, bad input, where a server does not receive from the group.
func (r *clientRun) checkHelloGroup(h *HelloGroup) error {
	switch {
	case r.config.Group == "":
		return nil
	case h == nil:
		return badConfig("group", r.config.Group, r.at+" is of a version that joins no group")
	case h.Error != "":
		return badConfig("group", r.config.Group, r.at+" says: "+h.Error)
	}
	return nil
}

// groupPort is the port to which datagrams to the group go: that of the first receiver, so that a firewall has one to let in.
func groupPort(first netip.AddrPort) int {
	if first.Port() >= leastGroupPort {
		return int(first.Port())
	}
	return DefaultPort
}

// groupText is a group and its port as a dialer wants it.
func (g *GroupExtra) text(zone string) string {
	a := netip.MustParseAddr(g.Address)
	if a.IsLinkLocalMulticast() {
		a = a.WithZone(zone)
	}
	return netip.AddrPortFrom(a, uint16(g.Port)).String()
}
