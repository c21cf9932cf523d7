package echo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/pathwise-net/pathwise/input"
)

// Pinger sends echo requests to many targets, one to each in every interval, by one socket for IPv4 and one for IPv6, and tells what became
// of each. Requests are spread evenly over the interval; the targets take turns in a random order that stays the same.
//
// A request is answered when its reply comes within Timeout, from whatever address; a later one is lost (RFC 2680 section 2.4).
type Pinger struct {
	Targets  []netip.Addr  // required; each once, at most MostTargets
	Count    int           // requests to each; 0: until the context ends
	Interval time.Duration // between two requests to one target; 0: 1 s; at least 1 ms, and 10 µs for each target
	Timeout  time.Duration // 0: 2 s; at most 60 s, and so that at most 2,097,152 requests are kept
	Size     int           // payload bytes after the ICMP header; 0: 56; at least MarkBytes

	Mark func(syscall.RawConn) error // sets options of each socket, such as sock.SetDSCP; nil: none
	Rand *rand.Rand                  // the order of targets, and what tells replies to us; nil: a random seed

	// Tell is called for each event, one at a time, with the events of a target in order, by the goroutines of Run; nil: by nobody. What comes
	// meanwhile waits in the kernel.
	Tell func(Event)
}

// Defaults and limits of Pinger.
const (
	defaultInterval = time.Second
	leastInterval   = time.Millisecond      // as that of a ping of one target
	leastGap        = 10 * time.Microsecond // between two requests: what one processor can send and hear
	defaultTimeout  = 2 * time.Second       // over two satellite hops, a round trip takes 1.2 s
	mostTimeout     = time.Minute
	defaultSize     = 56      // with headers 84 bytes of IPv4, what every ping sends
	mostSize        = 65507   // what IPv4 carries beside its own header and that of ICMP
	mostKept        = 1 << 21 // requests, of 32 bytes each: 64 MB
)

// Validate says what is wrong with the parameters, as an input.Error, or returns nil.
func (p Pinger) Validate() error {
	given := p
	p = p.withDefaults()
	bad := func(field string, value any, remedy string, a ...any) error {
		return &input.Error{Field: field, Value: fmt.Sprint(value), Remedy: fmt.Sprintf(remedy, a...)}
	}
	most, gap := len(p.Targets), max(leastInterval, time.Duration(len(p.Targets))*leastGap)
	switch {
	case most == 0 || most > MostTargets:
		return bad("targets", most, "give 1 to %d", MostTargets)
	case given.Count < 0:
		return bad("count", given.Count, "give a number of requests, or 0 for no end")
	case p.Interval < gap || p.Interval > time.Hour:
		return bad("interval", p.Interval, "give a time from %v to 1h for %d targets", gap, most)
	case p.Timeout < time.Millisecond || p.Timeout > mostTimeout:
		return bad("timeout", p.Timeout, "give a time from 1ms to %v", mostTimeout)
	case ringLength(most, p.Interval, p.Timeout) > mostKept:
		return bad("timeout", p.Timeout, "at this interval at most %v for %d targets", p.Interval*time.Duration(mostKept/most-1), most)
	case p.Size < MarkBytes || p.Size > mostSize:
		return bad("size", p.Size, "give a number from %d to %d", MarkBytes, mostSize)
	}
	return p.validateTargets()
}

func (p Pinger) validateTargets() error {
	seen := make(map[netip.Addr]bool, len(p.Targets))
	for _, a := range p.Targets {
		if !a.IsValid() || a.Is4In6() {
			return &input.Error{Field: "target", Value: a.String(), Remedy: "give an IPv4 or IPv6 address"}
		}
		if err := single(a, a.String()); err != nil {
			return err
		}
		if seen[a] {
			return &input.Error{Field: "target", Value: a.String(), Remedy: "give each address once"}
		}
		seen[a] = true
	}
	return nil
}

func (p Pinger) withDefaults() Pinger {
	p.Interval = cmp.Or(p.Interval, defaultInterval)
	p.Timeout = cmp.Or(p.Timeout, defaultTimeout)
	p.Size = cmp.Or(p.Size, defaultSize)
	if p.Rand == nil {
		p.Rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	return p
}

// Run sends all requests, and ends when the fate of each is known. It returns the counts of each target by its index, also where it fails and
// where the context ends, whose cause is its error then.
func (p Pinger) Run(ctx context.Context) ([]Counts, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	p = p.withDefaults()
	counts := make([]Counts, len(p.Targets))
	var telling sync.Mutex // one event at a time
	tell := func(e Event) {
		counts[e.Target].add(e) // its family alone has it
		if p.Tell != nil {
			telling.Lock()
			p.Tell(e)
			telling.Unlock()
		}
	}
	var families []*family
	defer func() {
		for _, f := range families {
			f.socket.Close()
		}
	}()
	token := p.Rand.Uint64()
	for _, ipv6 := range []bool{false, true} {
		indices := inOrder(p.Targets, ipv6, p.Rand)
		if len(indices) == 0 {
			continue
		}
		f, err := openFamily(p, ipv6, indices, token)
		if err != nil {
			return counts, err
		}
		f.ledger.tell = func(place uint32, e Event) { e.Target = indices[place]; tell(e) }
		f.ledger.late = func(place uint32) { counts[indices[place]].Late++ }
		families = append(families, f)
	}
	return counts, runAll(ctx, families)
}

// runAll runs the families side by side; the first that fails ends the others.
func runAll(ctx context.Context, families []*family) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	errs := make([]error, len(families))
	var all sync.WaitGroup
	for i, f := range families {
		all.Go(func() {
			if errs[i] = f.run(ctx); errs[i] != nil {
				cancel(errs[i])
			}
		})
	}
	all.Wait()
	for i, err := range errs {
		if i > 0 && errors.Is(err, errs[0]) {
			errs[i] = nil // ended by the other
		}
	}
	return errors.Join(errs...)
}

// inOrder returns the indices of the targets of a family, in a random order.
func inOrder(targets []netip.Addr, ipv6 bool, random *rand.Rand) (indices []int) {
	for i, a := range targets {
		if a.Is6() == ipv6 {
			indices = append(indices, i)
		}
	}
	random.Shuffle(len(indices), func(i, j int) { indices[i], indices[j] = indices[j], indices[i] })
	return indices
}
