package gateway

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/lab/packet"
	"github.com/pathwise-net/pathwise/lab/wait"
)

func (g *Gateway) now() int64 { return int64(time.Since(g.start)) }

// carry is what Run's thread does.
func (g *Gateway) carry() error {
	defer g.waiter.Release()
	for !g.stopped.Load() {
		if err := g.waiter.Prefer(); err != nil {
			return err
		}
		due, pending, err := g.turn()
		if err != nil {
			return err
		}
		if err := g.waiter.Until(g.now, due, pending); err != nil {
			return err
		}
	}
	return nil
}

// turn does all that can be done now and returns when something is due next.
func (g *Gateway) turn() (due int64, pending bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.advance()
	for i, d := range g.ports {
		if !g.ready(i) {
			continue
		}
		if err := g.empty(i); errors.Is(err, unix.ENETDOWN) {
			d.down, g.look = true, 0
		} else if err != nil {
			return 0, false, fmt.Errorf("read from %s: %w", d.name, err)
		}
	}
	g.waiter.Forget()
	if err := g.lookForPorts(); err != nil {
		return 0, false, err
	}
	due, pending = g.path.due()
	if g.look > 0 && (!pending || g.look < due) {
		due, pending = g.look, true
	}
	return due, pending, nil
}

// ready reports whether a port has something to read, or an error to tell.
func (g *Gateway) ready(i int) bool {
	return slices.ContainsFunc(g.waiter.Events(), func(e wait.Event) bool { return e.Mark == int32(i) })
}

// lookInterval is how often a gateway looks whether an interface that went down is up again, or gone: that it went down
// is all that its socket tells.
const lookInterval = int64(time.Second)

// lookForPorts looks at the interfaces that are down, where it is time to.
func (g *Gateway) lookForPorts() error {
	if !g.ports[0].down && !g.ports[1].down || g.now() < g.look {
		return nil
	}
	g.look = 0
	for _, d := range g.ports {
		if !d.down {
			continue
		}
		up, err := isUp(d.index)
		if err != nil {
			return fmt.Errorf("interface %s: %w", d.name, err)
		}
		if d.down = !up; d.down {
			g.look = g.now() + lookInterval
		}
	}
	return nil
}

// advance brings the path up to now, and sends what came out.
func (g *Gateway) advance() {
	g.path.advance(g.now())
	for i := range g.leaving {
		g.flush(i)
	}
}

// turnShare is how many packets one port may bring in before it is the other's turn: batches alone would give 16
// super-packets one way as much as 16 acknowledgements the other way, which then wait.
const turnShare = 256

// empty takes in what a port holds, up to its share.
func (g *Gateway) empty(i int) error {
	for packets := 0; packets < turnShare; {
		frames, segments, err := g.read(i)
		if err != nil {
			return err
		}
		g.advance()
		if frames < batchSize {
			break
		}
		packets += segments
	}
	return nil
}

// read takes in a batch. A packet counts from when the kernel saw it, not from when this thread woke.
func (g *Gateway) read(i int) (frames, segments int, err error) {
	reading := time.Now()
	frames, err = g.ports[i].read(&g.incoming, func(p *packet.Packet, wall int64) {
		segments += p.Segments()
		t := int64(reading.Sub(g.start))
		if wall != 0 {
			t = max(0, min(t, t-(reading.UnixNano()-wall)))
		}
		g.path.arrive(t, i, p)
	})
	return frames, segments, err
}

// gather is the path's leave: collect packets for one system call.
func (g *Gateway) gather(iface int, due int64, p *packet.Packet, counted bool) {
	d := &g.leaving[iface]
	d.packets = append(d.packets, p)
	d.notes = append(d.notes, note{due, counted})
	if len(d.packets) == batchSize {
		g.flush(iface)
	}
}

// flush writes what waits for a port, in order.
func (g *Gateway) flush(iface int) {
	d := &g.leaving[iface]
	for k := 0; k < len(d.packets); {
		n := g.ports[iface].write(&g.outgoing, d.packets[k:])
		left := g.now()
		for _, one := range d.notes[k : k+n] {
			if one.counted {
				g.late[1-iface].add(left - one.due)
			}
		}
		k += n
		if n == 0 { // the kernel refuses this one
			g.refusals += uint64(d.packets[k].Segments())
			k++
		}
	}
	for _, p := range d.packets {
		g.path.pool.Put(p)
	}
	clear(d.packets)
	d.packets, d.notes = d.packets[:0], d.notes[:0]
}
