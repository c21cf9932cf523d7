package iperf3

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// each does a step with all receivers at once, since a server that was met waits for its stream for a limited time. It returns what went wrong first.
func (g *groupRun) each(ctx context.Context, fail context.CancelCauseFunc, step func(*receiver) error) error {
	var group sync.WaitGroup
	for _, r := range g.runs {
		group.Go(func() {
			if err := step(r); err != nil {
				fail(fmt.Errorf("%s: %w", r.at, err))
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// reach opens the control connection to a receiver.
func (r *receiver) reach(ctx context.Context, family sock.Family) error {
	addr, err := hostPort(r.at)
	if err != nil {
		return err
	}
	ends, err := (&Client{Family: family}).ends(ctx, addr)
	if err != nil {
		return err
	}
	return r.open(ctx, ends)
}

// agree gives all receivers the parameters of the first, and refuses those of which there is no test together.
func (g *groupRun) agree() error {
	lead := g.lead()
	if lead.config.Length == 0 {
		lead.config.Length = fittingDatagram(lead.ctl.conn)
	}
	settings := sock.ReadTCPSettings()
	met := map[netip.AddrPort]string{}
	for _, r := range g.runs {
		remote := r.report.Remote
		if before, twice := met[remote]; twice {
			return badConfig("receivers", r.at, fmt.Sprintf("is %s, as %s is: name each receiver once, and the target not among them", remote, before))
		}
		met[remote] = r.at
		if mine, first := r.report.Local.Addr(), lead.report.Local.Addr(); mine != first {
			return badConfig("receivers", r.at, fmt.Sprintf("is reached from %s, and the first from %s: a datagram to a group leaves by one interface", mine, first))
		}
		r.config.Length, r.report.Config.Length = lead.config.Length, lead.config.Length
		r.groupPort = groupPort(lead.report.Remote)
		r.report.Settings, r.report.Path = &settings, forget(remote.Addr())
	}
	return nil
}

// connect shakes hands with all receivers from one socket, which sends to the group from then on.
func (g *groupRun) connect(ctx context.Context) error {
	lead := g.lead()
	local := lead.report.Local.Addr()
	link, err := interfaceOf(local)
	if err != nil {
		return err
	}
	listener := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		notes, err := setUp(c, lead.params, false)
		for _, note := range notes {
			lead.note(note)
		}
		return err
	}}
	conn, err := listener.ListenPacket(ctx, "udp", netip.AddrPortFrom(local, 0).String())
	if err != nil {
		return err
	}
	udp := conn.(*net.UDPConn)
	s, err := newStream(0, udp, true, true, true)
	if err != nil {
		conn.Close()
		return err
	}
	g.t.streams = []*stream{s}
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(past) })()
	servers := make([]netip.AddrPort, len(g.runs))
	for i, r := range g.runs {
		r.t = g.t
		servers[i] = r.report.Remote
	}
	if silent, err := shakeHands(ctx, udp, servers, udpConnectLimit); err != nil {
		return fmt.Errorf("%s: %w", g.runs[silent].at, err)
	}
	group := netip.MustParseAddr(lead.config.Group)
	if err := sendToGroups(s.raw, group.Is6(), max(groupHops, lead.config.Hops), link.Index); err != nil {
		return err
	}
	return reconnect(udp, netip.AddrPortFrom(group, uint16(lead.groupPort)), link.Index)
}

// shakeHands opens a stream at all servers at once, as connectUDP does at one. With an error it returns the index of the first that did not answer.
func shakeHands(ctx context.Context, conn *net.UDPConn, servers []netip.AddrPort, limit time.Duration) (silent int, err error) {
	const tries = 4
	answered := map[netip.AddrPort]bool{}
	var b [1 << 16]byte
	for range tries {
		for _, to := range servers {
			if !answered[to] {
				_, _ = conn.WriteToUDPAddrPort(udpHello[:], to) // lost as any datagram may be
			}
		}
		conn.SetReadDeadline(time.Now().Add(limit / tries))
		for ctx.Err() == nil && len(answered) < len(servers) {
			n, from, err := conn.ReadFromUDPAddrPort(b[:])
			if err != nil && !earlier(err) {
				break // try again
			}
			if from = unmap(from); err == nil && isUDPAnswer(b[:n]) && slices.Contains(servers, from) {
				answered[from] = true
			}
		}
	}
	if err := context.Cause(ctx); err != nil {
		return 0, err
	}
	if silent = slices.IndexFunc(servers, func(a netip.AddrPort) bool { return !answered[a] }); silent >= 0 {
		return silent, ErrUDPBlocked
	}
	return 0, conn.SetReadDeadline(time.Time{})
}
