package echo

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/sock"
)

// family is the targets of one version of IP, and the socket for all of them. The goroutine of run has it for itself.
type family struct {
	ipv6    bool
	socket  *sock.Socket
	conn    syscall.RawConn
	targets []netip.Addr // by place, without zones
	zones   []uint32     // by place; 0: none
	sorted  []uint32     // places in the order of their addresses
	ledger  ledger
	token   uint64
	message Message            // the next request; its payload begins with a mark
	packet  []byte             // the same, encoded
	to4     unix.SockaddrInet4 // where it goes; kept, so that none is made for each
	to6     unix.SockaddrInet6
	replies *batch
	errors  *batch
}

// bufferSize holds the replies and stamps that come while this process waits for a processor: of 100,000 requests/s those of 20 ms, each of
// which the kernel counts as some 800 bytes.
const bufferSize = 4 << 20

// openFamily opens the socket for the targets of a family, which have their places in the order of indices.
func openFamily(p Pinger, ipv6 bool, indices []int, token uint64) (*family, error) {
	n := len(indices)
	f := &family{ipv6: ipv6, token: token, replies: newBatch(), errors: newBatch(),
		targets: make([]netip.Addr, n), zones: make([]uint32, n), sorted: make([]uint32, n)}
	for place, index := range indices {
		number, err := zone(p.Targets[index])
		if err != nil {
			return nil, err
		}
		f.targets[place], f.zones[place], f.sorted[place] = p.Targets[index].WithZone(""), number, uint32(place)
	}
	slices.SortFunc(f.sorted, func(a, b uint32) int { return f.targets[a].Compare(f.targets[b]) })
	f.ledger = ledger{timeout: p.Timeout, plan: plan{targets: n, interval: p.Interval, count: p.Count},
		ring: make([]request, ringLength(n, p.Interval, p.Timeout))}
	socket, err := sock.OpenEcho(ipv6)
	if err != nil {
		return nil, err
	}
	f.socket = socket
	f.message = Message{Ident: socket.Ident(), Payload: make([]byte, p.Size)}
	f.conn, err = socket.SyscallConn()
	if err == nil && p.Mark != nil {
		err = p.Mark(f.conn)
	}
	if err != nil {
		socket.Close()
		return nil, err
	}
	// Without privilege the kernel grants up to net.core.rmem_max, and says nothing of it.
	_ = sock.SetInt(f.conn, unix.SOL_SOCKET, unix.SO_RCVBUF, bufferSize)
	_ = sock.SetInt(f.conn, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, bufferSize)
	return f, nil
}

// zone is the number of the interface that an address names as its zone; 0: none.
func zone(a netip.Addr) (uint32, error) {
	if a.Zone() == "" {
		return 0, nil
	}
	if number, err := strconv.ParseUint(a.Zone(), 10, 32); err == nil {
		return uint32(number), nil
	}
	i, err := net.InterfaceByName(a.Zone())
	if err != nil {
		return 0, &input.Error{Field: "target", Value: a.String(), Remedy: "give the name of an interface of this host after the %"}
	}
	return uint32(i.Index), nil
}

// run sends all requests and waits for their fates.
func (f *family) run(ctx context.Context) (err error) {
	if closed := f.conn.Control(func(fd uintptr) { err = f.loop(ctx, int(fd)) }); closed != nil {
		return closed
	}
	return err
}

// Where the next request is due within quiet, what comes in meanwhile is read when that one leaves: the kernel has stamped it, so that nothing
// is lost by it but wake-ups, which cost more than the packets. A pause is the least wait, in which at high rates several requests become due:
// with 2,000/s, one of 1 ms takes 7 % of a processor where one of 0.25 ms takes 11 %, and more than 1 ms wins nothing. The context is looked
// at once within attention.
const (
	quiet     = 2 * time.Millisecond
	pause     = time.Millisecond
	attention = 20 * time.Millisecond
)

func (f *family) loop(ctx context.Context, fd int) error {
	l := &f.ledger
	l.began = time.Now()
	for ctx.Err() == nil {
		more, err := f.sendDue(fd)
		if err != nil {
			return err
		}
		if err := f.hear(fd); err != nil {
			return err
		}
		now := time.Since(l.began)
		until := now + attention
		if end, open := l.expire(now); open {
			until = min(until, end)
		}
		ended := l.plan.ended(l.next)
		if ended && l.open == 0 {
			return nil
		}
		if more {
			continue
		}
		sends := !ended && !l.full()
		if sends {
			until = min(until, l.plan.due(l.next))
		}
		left := until - time.Since(l.began)
		soon := sends && left < quiet
		if soon {
			left = max(left, pause)
		}
		if err := wait(fd, !soon, max(0, left)); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}
