package probe

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/host"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// Sockets reads what this host's kernel knows of its TCP connections, and what their programs do, again and again for a time. It sends
// nothing, and needs no privilege; of programs of others only root sees more than the connection.
type Sockets struct {
	Target   string        // the other end; "": any
	Family   sock.Family   // zero: both
	Port     int           // at either end; 0: any
	State    string        // of the connections, such as "established"; "": any in which data may wait or move
	Duration time.Duration // from the first reading to the last; 0: 1 s
	Interval time.Duration // from one reading to the next; 0: 100 ms
	Most     int           // connections that are kept, those that moved most; 0: 50
}

// Defaults and limits of Sockets.
const (
	socketsDuration    = time.Second
	socketsInterval    = 100 * time.Millisecond
	socketsMinInterval = 10 * time.Millisecond // the kernel counts what held a connection in steps of 1 to 10 ms
	socketsMost        = 50
)

func socketsKind() Kind {
	return newKind(declaration[Sockets]{
		kind: Kind{Name: "sockets", Meaning: "the TCP connections that programs have, from this host's kernel", Text: socketsText, Usage: Usage{
			Hosts: "HOST[:PORT]", Optional: true, Short: "This host's TCP connections, from the kernel",
			Long: "Read what the kernel knows of this host's TCP connections, or of those with HOST or with a port at either end, for a second:\n" +
				"what they moved, what held them back, and what their programs did meanwhile. It sends nothing and needs no root, which\n" +
				"sees the programs of others, too.",
			Examples: []string{"sockets", "sockets carol -t 5", "sockets carol:5001 --json", "sockets --state close-wait"},
		}},
		target: func(p *Sockets) *string { return &p.Target },
		fields: socketsFields(),
	})
}

func socketsFields() []field[Sockets] {
	family := familyField(func(p *Sockets) *sock.Family { return &p.Family })
	family.Default, family.Meaning = "both", "ipv4 or ipv6: connections over this version of IP only"
	return []field[Sockets]{
		{Name: "port", Short: "p", Outward: true, Default: "any", Meaning: "at either end",
			binding: whole(func(p *Sockets) *int { return &p.Port }, 1, 65535)},
		{Name: "state", Default: "any in which data may wait or move", Meaning: "of the connections",
			binding: word(func(p *Sockets) *string { return &p.State }, openStates()...)},
		{Name: "duration", Short: "t", Flag: "time", Default: "1s", Meaning: "how long to watch",
			binding: span(func(p *Sockets) *time.Duration { return &p.Duration })},
		{Name: "interval", Short: "i", Default: "100ms", Meaning: "from one reading to the next",
			binding: span(func(p *Sockets) *time.Duration { return &p.Interval })},
		{Name: "most", Short: "n", Default: "50", Meaning: "connections to keep, those that moved most",
			binding: whole(func(p *Sockets) *int { return &p.Most }, 1, 10_000)},
		family,
	}
}

// openStates are the names of the states that can be asked for.
func openStates() (names []string) {
	for _, s := range sock.OpenStates {
		names = append(names, s.String())
	}
	return names
}

// Validate says what is wrong with the parameters, as an input.Error, or returns nil.
func (p *Sockets) Validate() error {
	return cmp.Or(p.Family.Validate(), checkRange("port", p.Port, 0, 65535), checkRange("most", p.Most, 0, 10_000),
		checkDuration("duration", p.Duration, socketsMinInterval, time.Hour),
		checkDuration("interval", p.Interval, socketsMinInterval, time.Hour))
}

func (p Sockets) withDefaults() Sockets {
	setDefault(&p.Duration, socketsDuration)
	setDefault(&p.Interval, socketsInterval)
	setDefault(&p.Most, socketsMost)
	return p
}

func (p *Sockets) equip(Options) {}

func (p *Sockets) demand() measure.Demand {
	return measure.Demand{DurationSeconds: p.withDefaults().Duration.Seconds()}
}

// resultBytes are those of four metrics and of two connections with one program, as two hosts that exchange data have; a reading of each
// took 50 to 80 when it was compressed.
func (p *Sockets) resultBytes() float64 {
	all := p.withDefaults()
	return 600 + 3*70*(all.Duration.Seconds()/all.Interval.Seconds()+1)
}

// Do reads until Duration is over, or ctx ends.
func (p *Sockets) Do(ctx context.Context) (*measure.Result, error) {
	return measured(ctx, "sockets", p.Target, p.measure)
}

func (p *Sockets) measure(ctx context.Context, r *measure.Result) error {
	setDefault(&r.Target.Name, r.Source.Name)
	if err := p.Validate(); err != nil {
		return err
	}
	all := p.withDefaults()
	r.Parameters = recorded(socketsFields(), &all)
	w := socketWatch{Sockets: all, seen: map[uint64]*socketSeen{}, programs: map[int]*programSeen{}}
	if p.Target != "" {
		ways, err := waysTo(ctx, nil, p.Target, p.Family)
		if err != nil {
			return err
		}
		r.Source.Address, r.Target.Address = ways[0].from.String(), ways[0].to.String()
		for _, way := range ways {
			w.peers = append(w.peers, way.to)
		}
	}
	tick := time.NewTicker(all.Interval)
	defer tick.Stop()
	for began := time.Now(); ; {
		elapsed := time.Since(began)
		if err := w.read(elapsed); err != nil {
			return err
		}
		if elapsed >= all.Duration {
			break
		}
		select {
		case <-ctx.Done():
			w.fill(r)
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	w.fill(r)
	if slices.ContainsFunc(r.Samples.Processes, func(p measure.Process) bool { return p.Encrypts() }) {
		if rate := host.FastestCipher(host.OwnCiphers()); rate > 0 {
			r.Metrics[measure.HostCipher] = rate
		}
	}
	return nil
}

// socketWatch is what was read so far.
type socketWatch struct {
	Sockets
	peers    []netip.Addr           // of Target; none: any
	seen     map[uint64]*socketSeen // by the kernel's number for a socket
	order    []*socketSeen          // as they came
	programs map[int]*programSeen   // by process
}

// socketSeen is a connection that was seen.
type socketSeen struct {
	measure.Connection
	inode uint64
}

// moved is the rate of its payload both ways, in bit/s, and waits what it holds at last that nobody took, in bytes.
func (s *socketSeen) moved() float64 {
	return measure.Rate(s.Readings, "bytes_acked") + measure.Rate(s.Readings, "bytes_received")
}

func (s *socketSeen) waits() float64 {
	return measure.Last(s.Readings)["unsent_bytes"] + measure.Last(s.Readings)["unread_bytes"]
}

// programSeen is a process that has connections.
type programSeen struct {
	measure.Process
	*sock.Program
}

// read takes one reading of everything that is watched.
func (w *socketWatch) read(elapsed time.Duration) error {
	all, err := sock.Connections()
	if err != nil {
		return err
	}
	known := len(w.order)
	for _, c := range all {
		if !w.wants(&c) {
			continue
		}
		s := w.seen[c.Cookie]
		if s == nil {
			s = &socketSeen{inode: c.Inode, Connection: measure.Connection{Local: c.Local.String(), Remote: c.Remote.String(),
				CongestionControl: c.Congestion}}
			w.seen[c.Cookie], w.order = s, append(w.order, s)
		}
		s.State = c.State.String()
		s.Readings = append(s.Readings, measure.Reading{ElapsedSeconds: elapsed.Seconds(), Values: c.Values()})
	}
	if len(w.order) > known {
		w.findPrograms()
	}
	for _, p := range w.programs {
		if values := p.Read(); values != nil {
			p.Readings = append(p.Readings, measure.Reading{ElapsedSeconds: elapsed.Seconds(), Values: values})
		}
	}
	return nil
}

// wants reports whether a socket is of those that are watched.
func (w *socketWatch) wants(c *sock.Connection) bool {
	return (len(w.peers) == 0 || slices.Contains(w.peers, c.Remote.Addr())) && w.Family.Has(c.Local.Addr()) &&
		(w.Port == 0 || int(c.Local.Port()) == w.Port || int(c.Remote.Port()) == w.Port) && (w.State == "" || c.State.String() == w.State)
}

// findPrograms looks for the processes of connections that have none yet.
func (w *socketWatch) findPrograms() {
	owners := sock.Owners()
	for _, s := range w.order {
		o, found := owners[s.inode]
		if !found || s.Process != 0 {
			continue
		}
		if send, receive, err := o.BuffersFixed(); err == nil {
			s.SendBufferFixed, s.ReceiveBufferFixed = &send, &receive
		}
		if program, err := o.Program(); err == nil && w.programs[o.PID] == nil {
			w.programs[o.PID] = &programSeen{measure.Process{ID: o.PID, Name: program.Name}, program}
		}
		s.Process = o.PID
	}
}

// fill puts what was read into a Result: the connections that moved most, or else hold most, and their processes.
func (w *socketWatch) fill(r *measure.Result) {
	sent, received, resent := 0.0, 0.0, 0.0
	for _, s := range w.order {
		again, _ := measure.Growth(s.Readings, "total_retrans_packets")
		sent, received = sent+measure.Rate(s.Readings, "bytes_acked"), received+measure.Rate(s.Readings, "bytes_received")
		resent += again
	}
	r.Metrics = map[measure.Metric]float64{measure.Sockets: float64(len(w.order)), measure.SocketsSent: sent,
		measure.SocketsReceived: received, measure.SocketsResent: resent}
	slices.SortStableFunc(w.order, func(a, b *socketSeen) int {
		return cmp.Or(cmp.Compare(b.moved(), a.moved()), cmp.Compare(b.waits(), a.waits()))
	})
	if left := len(w.order) - w.Most; left > 0 {
		r.Note(fmt.Sprintf("%d of %d connections moved least and are left out", left, len(w.order)))
		w.order = w.order[:w.Most]
	}
	for _, s := range w.order {
		r.Samples.Connections = append(r.Samples.Connections, s.Connection)
		if p := w.programs[s.Process]; p != nil {
			r.Samples.Processes = append(r.Samples.Processes, p.Process)
			delete(w.programs, s.Process) // once
		}
	}
}
