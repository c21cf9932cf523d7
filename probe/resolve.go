package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// way is an address of a target, and this host's own towards it.
type way struct{ to, from netip.Addr }

// Resolve returns the address that a probe of target measures: the first in the order of sock.Addresses that this host has a
// route to.
func Resolve(ctx context.Context, target string, family sock.Family) (netip.Addr, error) {
	ways, err := waysTo(ctx, nil, target, family)
	return first(ways), err
}

// waysTo returns the ways to target for which this host has a route, in the order in which to try them; or why there is none
// to its first address.
func waysTo(ctx context.Context, find sock.Lookup, target string, family sock.Family) (ways []way, err error) {
	addresses, err := sock.Addresses(ctx, find, target, family)
	if err != nil {
		return nil, err
	}
	for _, to := range addresses {
		from, noRoute := sock.Source(to)
		if noRoute == nil {
			ways = append(ways, way{to, from})
		} else if err == nil {
			err = noRoute
		}
	}
	if len(ways) > 0 {
		return ways, nil
	}
	return nil, err
}

// Answering returns the address of target that answers on a TCP port, tried in the order of RFC 8305; where none does, or only
// one has a route, the first with one. It is for who makes several measurements that must all be of one path.
func Answering(ctx context.Context, target string, family sock.Family, port int) (netip.Addr, error) {
	ways, err := waysTo(ctx, nil, target, family)
	if err != nil || len(ways) == 1 {
		return first(ways), err
	}
	ends := make([]netip.AddrPort, len(ways))
	for i, w := range ways {
		ends[i] = netip.AddrPortFrom(w.to, uint16(port))
	}
	conn, err := sock.Connect(ctx, &net.Dialer{Timeout: answerTimeout}, ends)
	if err != nil {
		return first(ways), context.Cause(ctx)
	}
	defer conn.Close()
	return conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap(), nil
}

// answerTimeout is how long a connection may take: four attempts of TCP at doubling intervals, 1 + 2 + 4 + … s (RFC 6298).
const answerTimeout = 10 * time.Second

// Address returns the address that a Task will measure, which is of the family that its parameters ask for; the zero value for
// a Task without a target.
func Address(ctx context.Context, task measure.Task) (netip.Addr, error) {
	if task.Target == "" {
		return netip.Addr{}, nil
	}
	family, _ := task.Parameters["family"].(string)
	all, err := sock.Addresses(ctx, nil, task.Target, sock.Family(family))
	if err != nil {
		return netip.Addr{}, err
	}
	for _, a := range all {
		if _, err := sock.Source(a); err == nil {
			return a, nil
		}
	}
	return all[0], nil // measuring it will say why there is no way
}

// first is the address to try first, none if there is none.
func first(ways []way) netip.Addr {
	if len(ways) == 0 {
		return netip.Addr{}
	}
	return ways[0].to
}

// unreachableError says that a way ends before the target, so that another is to be tried.
type unreachableError struct{ why string }

func (e *unreachableError) Error() string { return e.why }

// tryWays measures over the first way that reaches its end. measure returns an unreachableError where the next is to be
// tried; it is told which way is the last, of which it has to make the best. The Result says what was tried before.
func tryWays(r *measure.Result, ways []way, measure func(w way, last bool) error) error {
	for i, w := range ways {
		r.Target.Address, r.Source.Address = w.to.String(), w.from.String()
		err := measure(w, i == len(ways)-1)
		var unreachable *unreachableError
		if !errors.As(err, &unreachable) {
			return err
		}
		r.Note(fmt.Sprintf("%s: %s; measured to %s instead", w.to, unreachable.why, ways[i+1].to))
	}
	return nil
}

// isUnreachable reports whether the kernel knows of no way to where a packet was to go.
func isUnreachable(err error) bool {
	return errors.Is(err, unix.ENETUNREACH) || errors.Is(err, unix.EHOSTUNREACH)
}

// noWay reports whether an ICMP error means that a packet cannot get to its address, whatever is asked of it.
func noWay(reason sock.Reason) bool {
	return reason == sock.NetUnreachable || reason == sock.HostUnreachable || reason == sock.Prohibited
}
