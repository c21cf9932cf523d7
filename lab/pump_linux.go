package lab

import (
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/lab/packet"
	"github.com/pathwise-net/pathwise/lab/wait"
)

// pump moves packets between a Network and devices in real time: read what has come, hand on
// what is due, sleep until something is due or comes.
type pump struct {
	start   time.Time    // virtual time 0
	devices []device     // by interface; nil where a router is
	waiter  *wait.Waiter // for every device, and for what the control side changes

	looking  sync.Mutex // guards the devices' counts of what overflowed
	mu       sync.Mutex // guards what follows, against the control side
	network  *Network
	batch    *batch
	leaving  []departure // by interface
	waiting  []int       // interfaces with something leaving
	refusals uint64
	behind   int64   // ns, at most, that the network was behind with its own work
	arrival  int     // interface that is being read
	emptied  []int64 // by interface: when it held nothing; what is read came later, whatever the wall clock was set to
	reading  time.Time
	handled  int64 // packets that came in and went out
	pace     pace
}

// departure is what waits to be written to one device.
type departure struct {
	list  []leave
	batch []*packet.Packet
}

type leave struct {
	direction int
	due       int64
}

func newPump(p *Plan, devices map[int]device, mtu int) (*pump, error) {
	u := &pump{start: time.Now(), devices: make([]device, len(p.Interfaces)), leaving: make([]departure, len(p.Interfaces)),
		emptied: make([]int64, len(p.Interfaces))}
	network, err := NewNetwork(p, u.deliver)
	if err != nil {
		return nil, err
	}
	u.network = network
	network.Pool.Reserve = hugeMemory
	u.batch = newBatch(&network.Pool, mtu, p.Offload)
	if u.waiter, err = wait.Open(); err != nil {
		return nil, err
	}
	for id, d := range devices {
		u.devices[id] = d
		if err := u.waiter.Add(d.fd(), int32(id)); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// run works until the process ends.
func (u *pump) run() error {
	for {
		if err := u.waiter.Prefer(); err != nil {
			return err
		}
		due, pending, busy := u.turn()
		if err := u.sleep(due, pending, busy); err != nil {
			return err
		}
	}
}

// sleep waits until a packet comes or something is due; or, when there is much to do, a fixed while, to do it in one go.
func (u *pump) sleep(due int64, pending, busy bool) error {
	if busy {
		return u.waiter.Rest(moderation)
	}
	return u.waiter.Until(u.now, due, pending)
}

// poke makes the pump look again, after the control side changed something.
func (u *pump) poke() { u.waiter.Poke() }

// turn does all that can be done now and returns when something is due next, and whether packets come so fast that they
// are better gathered.
func (u *pump) turn() (due int64, pending, busy bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.advance() { // what comes meanwhile waits in the kernel's buffers, and overflows if this goes on
		for _, e := range u.waiter.Events() {
			u.serve(e)
		}
		u.waiter.Forget()
	}
	due, pending = u.network.Due()
	u.batch.join = u.pace.busy(u.now(), u.handled)
	return due, pending, u.batch.join
}

// serve reads what a device holds, up to a limit. One that has failed, as when a command took its interface away, would
// wake the pump for ever.
func (u *pump) serve(e wait.Event) {
	for range readTurns {
		n := u.readFrom(int(e.Mark))
		if !u.advance() || n < batchSize {
			break
		}
	}
	if e.Failed {
		u.waiter.Remove(u.devices[e.Mark].fd())
	}
}

func (u *pump) now() int64 { return int64(time.Since(u.start)) }

// advance brings the network towards now, and hands over what came out. It reports whether it got there.
func (u *pump) advance() bool {
	now := u.now()
	done := u.network.AdvanceSome(now, advanceSteps)
	if !done {
		at, _ := u.network.Due()
		u.behind = max(u.behind, now-at)
	}
	u.flushAll()
	return done
}

// advanceSteps bounds how long the control side waits for the network: a few milliseconds, where a batch of packets takes
// some tens of steps.
const advanceSteps = 10_000

// flushAll writes what waits for devices.
func (u *pump) flushAll() {
	for _, i := range u.waiting {
		u.flush(i)
	}
	u.waiting = u.waiting[:0]
}

// readTurns batches are read from one device before the others get their turn.
const readTurns = 8

// readFrom injects a batch of what a device holds. A packet counts from when the kernel saw it, not from when this thread
// woke.
func (u *pump) readFrom(id int) int {
	u.arrival, u.reading = id, time.Now()
	n := u.devices[id].read(u.batch, u.inject)
	if n < batchSize {
		u.emptied[id] = int64(u.reading.Sub(u.start))
	}
	return n
}

func (u *pump) inject(p *packet.Packet, stamp int64) {
	u.handled++
	t := int64(u.reading.Sub(u.start))
	if stamp != 0 {
		// It may have come after reading began, if this thread was held up there; but not after now, whatever the wall
		// clock was set to in between.
		if t += stamp - u.reading.UnixNano(); t > int64(u.reading.Sub(u.start)) {
			t = min(t, u.now())
		}
	}
	u.network.Inject(max(u.emptied[u.arrival], t), u.arrival, p)
}

// deliver is the Network's Deliver: gather packets for one system call.
func (u *pump) deliver(iface, dir int, due int64, p *packet.Packet) {
	u.handled++
	d := &u.leaving[iface]
	if len(d.list) == 0 {
		u.waiting = append(u.waiting, iface)
	}
	d.list = append(d.list, leave{dir, due})
	d.batch = append(d.batch, p)
	if len(d.list) == batchSize {
		u.flush(iface)
	}
}

// flush writes what waits for a device, and tells the network when it left.
func (u *pump) flush(iface int) {
	d := &u.leaving[iface]
	for k := 0; k < len(d.batch); {
		began := u.now()
		n := u.devices[iface].write(u.batch, d.batch[k:])
		took := u.now() - began
		if n == 0 { // the kernel refuses this one
			u.refusals++
			u.network.Handed(d.batch[k], d.list[k].direction, d.list[k].due, began+took, true)
			k++
			continue
		}
		// Each has its share of the call, in the middle of which the kernel takes it.
		for i := range n {
			left := began + took*int64(2*i+1)/int64(2*n)
			u.network.Handed(d.batch[k+i], d.list[k+i].direction, d.list[k+i].due, left, false)
		}
		k += n
	}
	clear(d.batch)
	d.list, d.batch = d.list[:0], d.batch[:0]
}
