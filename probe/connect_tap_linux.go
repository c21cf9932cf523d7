package probe

import (
	"net/netip"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// portTap gathers the first packets of connections to a port, and what answers them, at all interfaces of this host.
type portTap struct {
	tap     *sock.Tap
	began   time.Time
	wanted  portFilter
	names   map[int]string // of interfaces
	packets []measure.PortPacket
	reading sync.WaitGroup
}

// portFilter says of the ends of a segment whether it is wanted.
type portFilter func(near, far netip.AddrPort) bool

// mostPortPackets is more than the tries of a check have packets; those of a flood are left out.
const mostPortPackets = 4096

func newPortTap(port uint16, began time.Time, wanted portFilter) (*portTap, error) {
	tap, err := sock.OpenTap(port)
	if err != nil {
		return nil, err
	}
	t := &portTap{tap: tap, began: began, wanted: wanted, names: map[int]string{}}
	t.reading.Go(func() { // until finish
		for {
			seen, err := tap.Receive()
			if err != nil {
				return
			}
			t.take(seen, port)
		}
	})
	return t, nil
}

// take keeps a packet that is wanted. The far end of a segment is the one at the port.
func (t *portTap) take(seen sock.Tapped, port uint16) {
	kind := packetKind(seen)
	near, far := seen.From, seen.To
	if far.Port() != port {
		near, far = far, near
	}
	if kind == "" || !t.wanted(near, far) || far.Port() != port || len(t.packets) == mostPortPackets {
		return
	}
	name, known := t.names[seen.Interface]
	if !known {
		name = sock.InterfaceName(seen.Interface)
		t.names[seen.Interface] = name
	}
	t.packets = append(t.packets, measure.PortPacket{Seconds: time.Since(t.began).Seconds(), Interface: name, Out: seen.Out, Kind: kind,
		Near: near.String(), From: seen.Sender.String(), TTL: seen.TTL, Hops: hopsOf(seen.TTL)})
}

// finish ends the gathering, and returns what was seen. It is called once.
func (t *portTap) finish() []measure.PortPacket {
	t.tap.Finish()
	t.reading.Wait()
	_ = t.tap.Close() // nothing was written
	return t.packets
}
