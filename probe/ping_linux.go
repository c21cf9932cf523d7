package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// Do sends the requests and returns a Result of kind "ping". Parameters["stamps"] says whose clock the round trips are by:
// "kernel" (within microseconds of the wire) or "user"; Parameters["socket"] by which way they went: "datagram", "raw" or
// "connection".
func (p Ping) Do(ctx context.Context) (*measure.Result, error) {
	return measured(ctx, "ping", p.Target, p.measure)
}

func (p Ping) measure(ctx context.Context, result *measure.Result) error {
	if err := p.Validate(); err != nil {
		return err
	}
	if err := p.permitFlood(); err != nil {
		return err
	}
	p = p.withDefaults()
	result.Parameters = recorded(pingFields(), &p)
	ways, err := waysTo(ctx, nil, p.Target, p.Family)
	if err != nil {
		return err
	}
	return tryWays(result, ways, func(w way, last bool) error { return p.measureWay(ctx, w, last, result) })
}

// measureWay pings an address of the target. Unless it is the last, the first request that is refused for want of a way ends it.
func (p Ping) measureWay(ctx context.Context, w way, last bool, result *measure.Result) error {
	sender, err := p.open(w)
	if err != nil {
		return err
	}
	defer sender.close()
	defer context.AfterFunc(ctx, sender.interrupt)()

	run := &pingRun{Ping: p, sender: sender, last: last, started: time.Now(), header: ipHeader(w.to)}
	err = run.do(ctx)
	if ctx.Err() != nil { // whatever call it made fail
		err = context.Cause(ctx)
	}
	var unreachable *unreachableError
	if errors.As(err, &unreachable) {
		return err // another address is to be tried
	}
	run.report(result)
	if err != nil {
		return fmt.Errorf("ping %s: %w", p.Target, err)
	}
	return nil
}

// open opens what sends the requests of the protocol that is asked for.
func (p Ping) open(w way) (pingSender, error) {
	to := netip.AddrPortFrom(w.to, uint16(p.Port))
	if p.Proto == protoTCP && !p.bySYN() {
		return newConnections(to, p.Timeout, p.mark), nil
	}
	socket, packets, err := p.openPackets(w, to)
	var denied *sock.PermissionError
	if errors.As(err, &denied) {
		denied.Remedy += "; or ask for proto tcp or udp, which need neither"
	}
	if err != nil {
		return nil, err
	}
	conn, err := socket.SyscallConn()
	if err == nil {
		err = p.mark(conn)
	}
	if err == nil && (p.Interval < owdMinInterval || p.Window != "") {
		_, err = sock.SetReceiveBuffer(conn, quickBuffer) // as much of it as this host allows
	}
	if err != nil {
		socket.Close()
		return nil, err
	}
	sender := &packetSender{Socket: socket, packets: packets, target: w.to, refusalAnswers: p.Proto == protoUDP}
	if p.Proto == protoUDP || p.Proto == protoSTAMP {
		sender.port = to.Port()
	}
	if p.DSCP != 0 && !p.bySYN() { // hosts answer an echo with its own mark (RFC 1349 section 5.1), and a SYN with theirs
		sender.tellsMarks = sock.TellDSCP(conn) == nil
	}
	return sender, nil
}

// quickBuffer is what a socket may keep for this process in bytes, where more than 10,000 packets a second come: 40 ms of 100,000, each of which
// and whose stamp the kernel counts with a kilobyte.
const quickBuffer = 8 << 20

// openPackets opens the socket for the packets of the protocol.
func (p Ping) openPackets(w way, to netip.AddrPort) (socket *sock.Socket, packets pingPackets, err error) {
	switch {
	case p.bySYN():
		var port uint16
		if socket, port, err = sock.OpenSYN(netip.AddrPortFrom(w.from, 0)); err == nil {
			packets = &synPackets{from: netip.AddrPortFrom(w.from, port), to: to, base: p.Rand.Uint32()}
		}
	case p.Proto == protoUDP || p.Proto == protoSTAMP:
		socket, err = sock.OpenUDP(w.to.Is6())
		packets = &udpPackets{token: p.token()}
		if p.Proto == protoSTAMP {
			packets = &stampEchoes{newStampPackets(p.Rand, p.Size, measure.Clock{}, nil, nil)}
		}
	default:
		if socket, err = sock.OpenEcho(w.to.Is6()); err == nil {
			packets = newEchoPackets(p, socket, w.to)
		}
	}
	return socket, packets, err
}

// mark makes what a socket sends carry what the parameters say.
func (p Ping) mark(conn syscall.RawConn) (err error) {
	if p.TTL != 0 {
		err = sock.SetTTL(conn, p.TTL)
	}
	if err == nil && p.DSCP != 0 {
		err = sock.SetDSCP(conn, p.DSCP)
	}
	if err == nil && p.DontFragment {
		err = sock.SetDontFragment(conn)
	}
	return err
}
