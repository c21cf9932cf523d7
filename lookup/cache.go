package lookup

import (
	"context"
	"net/netip"
	"sync"
)

// Cache looks each address up once, however often it is asked for, and remembers for as long as it lives what was found, and of which nothing was. A caller may go on
// while addresses are looked up. Any goroutine may use it.
type Cache struct {
	sources Sources
	place   chan struct{} // for questions that wait for their answers

	mu    sync.Mutex
	known map[netip.Addr]*entry
}

// entry is what is known of an address. The lock of the cache guards it.
type entry struct {
	info     Info // what files say, until done is closed
	answered bool
	done     chan struct{} // closed when nothing more will be learned
}

// NewCache returns one that knows nothing yet.
func NewCache(s Sources) *Cache {
	return &Cache{sources: s, place: make(chan struct{}, atOnce), known: map[netip.Addr]*entry{}}
}

// Begin starts to look up those of the addresses that were not begun before, and waits for no server. What it starts ends within MostTime, or with ctx.
func (c *Cache) Begin(ctx context.Context, addresses []netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range addresses {
		if a = plain(a); !a.IsValid() || c.known[a] != nil {
			continue
		}
		e := &entry{info: c.sources.local(a), answered: c.sources.DNS == nil, done: make(chan struct{})}
		c.known[a] = e
		if e.answered {
			close(e.done)
			continue
		}
		go c.ask(ctx, a, e, e.info)
	}
}

// ask asks servers of an address, of which files know so much.
func (c *Cache) ask(ctx context.Context, a netip.Addr, e *entry, info Info) {
	defer close(e.done)
	ctx, cancel := context.WithTimeout(ctx, MostTime)
	defer cancel()
	select {
	case c.place <- struct{}{}:
	case <-ctx.Done():
		return
	}
	info, answered := c.sources.ask(ctx, a, info)
	<-c.place
	c.mu.Lock()
	defer c.mu.Unlock()
	e.info, e.answered = info, answered
}

// Now is what is known of an address by now; what was not begun is not known.
func (c *Cache) Now(a netip.Addr) Info {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.known[plain(a)]; e != nil {
		return e.info
	}
	return Info{}
}

// All begins what was not begun, and says what is known of addresses once it is all there, or within MostTime, or when ctx ends: see Sources.All.
func (c *Cache) All(ctx context.Context, addresses []netip.Addr) (all map[netip.Addr]Info, unanswered int) {
	c.Begin(ctx, addresses)
	all = map[netip.Addr]Info{}
	counted := map[*entry]bool{}
	for _, a := range addresses {
		a = plain(a)
		c.mu.Lock()
		e := c.known[a]
		c.mu.Unlock()
		if e == nil || counted[e] {
			continue
		}
		counted[e] = true
		select {
		case <-e.done:
		case <-ctx.Done():
		}
		c.mu.Lock()
		if e.info != (Info{}) {
			all[a] = e.info
		}
		if !e.answered {
			unanswered++
		}
		c.mu.Unlock()
	}
	return all, unanswered
}
