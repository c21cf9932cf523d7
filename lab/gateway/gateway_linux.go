package gateway

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/packet"
	"github.com/pathwise-net/pathwise/lab/wait"
)

// Gateway is an emulated link between two interfaces. Its methods may be used from several goroutines.
type Gateway struct {
	// Warnings are for the user: what works, but perhaps not as intended.
	Warnings []string

	names   [2]string
	ports   [2]*port
	waiter  *wait.Waiter
	start   time.Time // virtual time 0
	stopped atomic.Bool
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
		g.waiter, err = waitFor(g.ports)
	}
	if err != nil {
		g.Close()
		return nil, err
	}
	g.path = newPath(c, own, g.gather)
	g.incoming.pool = &g.path.pool
	return g, nil
}

// waitFor makes a Waiter for both ports, each under its number.
func waitFor(ports [2]*port) (*wait.Waiter, error) {
	w, err := wait.Open()
	if err != nil {
		return nil, err
	}
	for i, d := range ports {
		if err := w.Add(d.socket, int32(i)); err != nil {
			w.Close()
			return nil, err
		}
	}
	return w, nil
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
	if g.waiter != nil {
		g.waiter.Close()
	}
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
		g.waiter.Poke()
	}
}

// Set changes the link while packets cross it. What the shapes do not set stays as it is; packets in flight keep their
// fate. If something is wrong nothing changes, and the error is a *document.Error.
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
	g.waiter.Poke()
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
	r := &Report{Schema: ReportSchema, Seconds: time.Duration(taken).Seconds(), Interfaces: g.names, Seed: g.path.seed}
	for i := range g.path.ways {
		w := &g.path.ways[i]
		r.Shapes[i] = w.shape.String()
		r.Links[i] = lab.TruthOf(taken, w.link, g.path.ways[1-i].link, &g.late[i].times, w.tooBig)
		r.Links[i].Between, r.Links[i].Direction = g.names, [2]string{"forward", "reverse"}[i]
		r.Passed[i] = w.passed
	}
	r.Emulator = judge(&g.late, g.ports[0].overflowed()+g.ports[1].overflowed(), g.refusals)
	return r
}
