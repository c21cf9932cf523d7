package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/packet"
)

// Gateway is an emulated link between two interfaces. Its methods may be used from several goroutines.
type Gateway struct {
	// Warnings are for the user: what works, but perhaps not as intended.
	Warnings []string

	names   [2]string
	ports   [2]*port
	poller  poller
	start   time.Time // virtual time 0
	stopped atomic.Bool
	spin    spinBudget
	look    int64 // when to look at interfaces that are down; 0: at once, if there are any

	mu       sync.Mutex // guards what follows
	closed   bool
	ended    int64 // when it was closed
	path     *path
	incoming batch
	outgoing batch
	leaving  [2]departure // by interface
	late     [2]lateness  // by direction
	refusals uint64
}

// departure is what waits to be written to one port.
type departure struct {
	packets []*packet.Packet
	notes   []note
}

type note struct {
	due     int64
	counted bool // it crossed the link
}

// Open prepares a gateway: frames wait from now on, and what of the link depends on time counts from now. The first
// interface is where packets of Config.Forward come in. Errors that the caller can mend have BadInput() true; a lack of
// privilege has not.
func Open(first, second string, c Config) (*Gateway, error) {
	if err := link.CheckPair(c.Forward, c.Reverse); err != nil {
		return nil, err
	}
	g := &Gateway{names: [2]string{first, second}, start: time.Now()}
	found, warnings, err := findInterfaces(g.names)
	if err != nil {
		return nil, err
	}
	g.Warnings = warnings
	var own [2]address
	for i, a := range found {
		own[i] = address(a.HardwareAddr)
		if g.ports[i], err = openPort(a.Name, a.Index, own[i]); err != nil {
			break
		}
	}
	if err == nil {
		g.poller, err = openPoller(g.ports)
	}
	if err != nil {
		g.Close()
		return nil, err
	}
	g.path = newPath(c, own, g.gather)
	g.incoming.pool = &g.path.pool
	return g, nil
}

// Close ends the gateway, once Run has returned. What is still under way is lost. Snapshot goes on telling how it ended.
func (g *Gateway) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return
	}
	g.closed, g.ended = true, g.now()
	for _, d := range g.ports {
		if d != nil {
			d.close()
		}
	}
	g.poller.close()
}

// Run carries frames until the context ends, which is no error, or an interface is gone. It may be called once.
func (g *Gateway) Run(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- g.carry() }()
	stop := context.AfterFunc(ctx, g.stop)
	defer stop()
	return <-done
}

func (g *Gateway) stop() {
	g.stopped.Store(true)
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.poller.poke()
	}
}

// Set changes the link while packets cross it. What the shapes do not set stays as it is; packets in flight keep their
// fate. If something is wrong nothing changes, and the error is a *notation.Error.
func (g *Gateway) Set(forward, reverse link.Shape) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return errors.New("the gateway has ended")
	}
	g.advance()
	if err := g.path.set(g.now(), forward, reverse); err != nil {
		return err
	}
	g.poller.poke()
	return nil
}

// Change is Set for settings as a user writes them, such as "loss=1%" or "reverse.rate=10mbit": all or none.
func (g *Gateway) Change(settings ...string) error {
	c, err := Config{}.merge(settings)
	if err != nil {
		return err
	}
	return g.Set(c.Forward, c.Reverse)
}

// Snapshot says what the gateway has done so far.
func (g *Gateway) Snapshot() *Report {
	g.mu.Lock()
	defer g.mu.Unlock()
	taken := g.ended
	if !g.closed {
		g.advance()
		taken = g.now()
	}
	r := &Report{Schema: ReportSchema, Seconds: seconds(taken), Interfaces: g.names, Seed: g.path.seed}
	for i := range g.path.ways {
		w := &g.path.ways[i]
		r.Shapes[i] = w.shape.String()
		r.Links[i] = w.truth(&g.late[i], g.path.medium != nil)
		r.Links[i].Between, r.Links[i].Direction = g.names, [2]string{"forward", "reverse"}[i]
		r.Passed[i] = w.passed
	}
	r.Emulator = judge(&g.late, g.ports[0].overflowed()+g.ports[1].overflowed(), g.refusals)
	return r
}

func (g *Gateway) now() int64 { return int64(time.Since(g.start)) }

// carry is what Run's thread does.
func (g *Gateway) carry() error {
	if err := ownThread(); err != nil {
		return err
	}
	for !g.stopped.Load() {
		due, pending, err := g.turn()
		if err != nil {
			return err
		}
		if err := g.sleep(due, pending); err != nil {
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
		if !g.poller.ready(i) {
			continue
		}
		if err := g.empty(i); errors.Is(err, unix.ENETDOWN) {
			d.down, g.look = true, 0
		} else if err != nil {
			return 0, false, fmt.Errorf("read from %s: %w", d.name, err)
		}
	}
	g.poller.forget()
	if err := g.lookForPorts(); err != nil {
		return 0, false, err
	}
	due, pending = g.path.due()
	if g.look > 0 && (!pending || g.look < due) {
		due, pending = g.look, true
	}
	return due, pending, nil
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
