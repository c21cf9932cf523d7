package control

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pathwise-net/pathwise/measure"
)

const (
	// mostNames bounds how many addresses are remembered: routers that 10,000 pairs of hosts find, and some of a week ago.
	mostNames = 20_000
	// nameHolds is how long a name is taken for what it was; names of routers change when somebody rebuilds a network.
	nameHolds = 24 * time.Hour
	// namelessHolds is how long an address that has no name is not asked for again: the server of names may have been away.
	namelessHolds = time.Hour
	// nameTimeout is how long one question may take: two tries of five seconds, as resolvers make by default.
	nameTimeout = 10 * time.Second
	// nameAsked is how many questions are out at a time.
	nameAsked = 4
	// longestName is how many characters a name of DNS may have (RFC 1035, section 2.3.4).
	longestName = 253
)

// names are what routers are called, by the address with which they answered a trace. They are looked up in the background, and kept on
// disk: what a page shows of a month ago does not hang on a server of names.
type names struct {
	find func(ctx context.Context, address string) string // "": it has none
	now  func() time.Time
	due  chan struct{} // has an element when some are wanted

	mu     sync.Mutex // of what follows
	known  map[string]name
	wanted map[string]bool
}

// name is what one address is called.
type name struct {
	Name string    `json:"name,omitempty"` // none: it has none that is known
	At   time.Time `json:"at"`             // when it was asked for last
}

func newNames(find func(context.Context, string) string, now func() time.Time) *names {
	return &names{find: find, now: now, due: make(chan struct{}, 1), known: map[string]name{}, wanted: map[string]bool{}}
}

// want asks for the names of addresses, of which those are looked up that are not known or no longer hold.
func (n *names) want(addresses []string) {
	if n.find == nil {
		return
	}
	now := n.now()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, a := range addresses {
		if _, err := netip.ParseAddr(a); err != nil || n.known[a].holds(now) || len(n.wanted) >= mostNames {
			continue
		}
		n.wanted[a] = true
		select {
		case n.due <- struct{}{}:
		default:
		}
	}
}

func (n name) holds(now time.Time) bool {
	age := now.Sub(n.At)
	if n.Name == "" {
		return age < namelessHolds
	}
	return age < nameHolds
}

// of adds to named the names of those addresses that have one.
func (n *names) of(addresses []string, named map[string]string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, a := range addresses {
		if known := n.known[a].Name; known != "" {
			named[a] = known
		}
	}
}

// lookUp asks for all that is wanted.
func (n *names) lookUp(ctx context.Context) {
	var asked errgroup.Group
	asked.SetLimit(nameAsked)
	for _, a := range n.taken() {
		asked.Go(func() error {
			timed, cancel := context.WithTimeout(ctx, nameTimeout)
			defer cancel()
			found := n.find(timed, a)
			if ctx.Err() == nil {
				n.note(a, found)
			}
			return nil
		})
	}
	_ = asked.Wait() // none of them fails
}

// taken are the addresses that are wanted, which then are wanted no more: but those that were looked up meanwhile.
func (n *names) taken() (all []string) {
	now := n.now()
	n.mu.Lock()
	defer n.mu.Unlock()
	for a := range n.wanted {
		if !n.known[a].holds(now) {
			all = append(all, a)
		}
	}
	clear(n.wanted)
	return all
}

// note takes an answer. Where there is none, a name that was known stays, and is asked for again as if it were none.
func (n *names) note(address, found string) {
	if !printable(found) {
		found = ""
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	one := name{found, n.now()}
	if old := n.known[address].Name; found == "" && old != "" {
		one = name{old, one.At.Add(namelessHolds - nameHolds)}
	}
	n.known[address] = one
	if len(n.known) > mostNames {
		n.forgetOldest()
	}
}

// forgetOldest makes room: what no trace has shown for longest was not asked for since.
func (n *names) forgetOldest() {
	oldest := ""
	for a, one := range n.known {
		if oldest == "" || one.At.Before(n.known[oldest].At) {
			oldest = a
		}
	}
	delete(n.known, oldest)
}

// printable says whether a name has the form of a host's. Whoever has an address writes its name, so others are taken for none.
func printable(name string) bool {
	return len(name) <= longestName && strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-._") == ""
}

// answeredBy are the addresses that answered a trace.
func answeredBy(r *measure.Result) (addresses []string) {
	for _, h := range r.Samples.Hops {
		addresses = append(addresses, h.Addresses...)
	}
	return addresses
}

// nameRouters looks up what is wanted until ctx ends, and keeps each lot of it.
func (c *Control) nameRouters(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.names.due:
			c.names.lookUp(ctx)
			c.attempt("keep names", c.names.write(c.config.Data))
		}
	}
}

// Names are what hosts of the mesh and routers are called that have some addresses, as far as is known. What is not known yet is looked
// up for the next who asks.
func (c *Control) Names(addresses []string) map[string]string {
	c.names.want(addresses)
	named, asked := map[string]string{}, map[string]bool{}
	for _, a := range addresses {
		asked[a] = true
	}
	c.names.of(addresses, named)
	for _, h := range c.Mesh().Hosts {
		for _, i := range h.Interfaces {
			for _, a := range i.Addresses {
				if at, err := netip.ParseAddr(a); err == nil && asked[at.String()] {
					named[at.String()] = h.Name
				}
			}
		}
	}
	return named
}
