package flows

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/sock"
	"github.com/pathwise-net/pathwise/traffic"
)

// knockEvery is how often a client says again where flows in reverse go to, until the far end knows: a knock may be lost.
const knockEvery = 100 * time.Millisecond

// ErrNoWay: no datagram of a client came to the responder, which so does not know where to send to.
var ErrNoWay = errors.New("the far end answers, and no datagram to it arrives: a firewall may let TCP to the port and not UDP")

// inlets are the sockets at which a client receives flows in reverse, by flow. A knock and what it brings have the same two ports, so that firewalls and
// address translators let both pass.
type inlets struct {
	all     map[int]*sock.Answering
	readers sync.WaitGroup
	once    sync.Once
}

func (t *Test) openInlets(script *traffic.Script) (*inlets, error) {
	in := &inlets{all: map[int]*sock.Answering{}}
	for i := range script.Flows {
		if !script.Flows[i].Reverse {
			continue
		}
		from := t.Local.Addr().WithZone(t.Remote.Addr().Zone())
		one, err := sock.ListenAnswering(context.Background(), netip.AddrPortFrom(from, 0).String())
		if err != nil {
			in.close()
			return nil, fmt.Errorf("open flow in reverse: %w", err)
		}
		in.all[i] = one
	}
	return in, nil
}

// knock says where the flows go to until the far end knows.
func (in *inlets) knock(ctx context.Context, t *Test) error {
	limit := time.NewTimer(t.client.Timeout)
	defer limit.Stop()
	again := time.NewTicker(knockEvery)
	defer again.Stop()
	b := make([]byte, headerBytes)
	for {
		for flow, one := range in.all {
			datagram{number: t.number, flow: flow}.encode(b)
			_ = one.Answer(b, sock.Asked{From: t.Remote}, 0) // one that does not leave is as one that is lost
		}
		select {
		case <-t.open:
			return nil
		case <-again.C:
		case <-limit.C:
			return ErrNoWay
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// receive takes what comes until the inlets are closed.
func (in *inlets) receive(t *Test) {
	for flow, one := range in.all {
		in.readers.Go(func() {
			for {
				p, err := one.Receive()
				if err != nil {
					return
				}
				t.receive(flow, p)
			}
		})
	}
}

// receive notes a packet that came to the socket of a flow in reverse.
func (t *Test) receive(flow int, p sock.Asked) {
	d := datagram{flow: -1}
	if p.From == t.Remote && len(p.Data) >= headerBytes {
		if d = decodeDatagram(p.Data); d.number != t.number || d.flow != flow {
			d.flow = -1
		}
	}
	t.near.take(d, len(p.Data), arrivalOf(p), dscpOf(p))
}

// close ends the readers, after which nothing more comes, and closes the sockets.
func (in *inlets) close() {
	in.once.Do(func() {
		for _, one := range in.all {
			one.Interrupt()
		}
		in.readers.Wait()
		for _, one := range in.all {
			one.Close()
		}
	})
}
