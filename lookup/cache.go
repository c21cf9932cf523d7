package lookup

import (
	"context"
	"net/netip"
	"sync"
	"time"
)

// Cache looks each address up once, however often it is asked for, and remembers for as long as it lives what was found, and of which nothing was. What a server
// did not answer is asked again, when somebody wants it AskAgain later or after that. A caller may go on while addresses are looked up. Any goroutine may use it.
type Cache struct {
	Most int // addresses that are remembered, set before the first question; of others files are read each time, and no server is asked. 0: any number

	sources Sources
	place   chan struct{} // for questions that wait for their answers
	now     func() time.Time

	mu    sync.Mutex
	known map[netip.Addr]*entry
}

// entry is what is known of an address. The lock of the cache guards it.
type entry struct {
	info     Info // what files say, until done is closed
	answered bool
	done     chan struct{} // closed when nothing more will be learned
	over     time.Time     // when that was; zero until then
}

// AskAgain is how long a server is left alone about an address of which it said nothing: one that is overloaded, or gone, gets two packets a minute.
const AskAgain = 30 * time.Second

// NewCache returns one that knows nothing yet.
func NewCache(s Sources) *Cache {
	return &Cache{sources: s, place: make(chan struct{}, atOnce), now: time.Now, known: map[netip.Addr]*entry{}}
}

// Begin starts to look up those of the addresses that were not begun before, or were not answered AskAgain ago, and waits for no server. Servers are asked of
// atOnce of them at a time; each question ends within MostTime of its turn, or with ctx.
func (c *Cache) Begin(ctx context.Context, addresses []netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range addresses {
		a = plain(a)
		was := c.known[a]
		if !a.IsValid() || was != nil && (was.answered || was.over.IsZero() || c.now().Sub(was.over) < AskAgain) {
			continue
		}
		if was == nil && c.Most > 0 && len(c.known) >= c.Most {
			continue
		}
		e := &entry{answered: c.sources.DNS == nil, done: make(chan struct{})}
		if was != nil {
			e.info = was.info
		} else {
			e.info = c.sources.local(a)
		}
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
	answered := false
	select {
	case c.place <- struct{}{}:
		ctx, cancel := context.WithTimeout(ctx, MostTime)
		info, answered = c.sources.ask(ctx, a, info)
		cancel()
		<-c.place
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e.info, e.answered, e.over = info, answered, c.now()
	close(e.done)
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

// All begins as Begin does, and says what is known of addresses once it is all there, or within MostTime, or when ctx ends: see Sources.All. Questions go on, for who asks later.
func (c *Cache) All(ctx context.Context, addresses []netip.Addr) (all map[netip.Addr]Info, unanswered int) {
	c.Begin(ctx, addresses)
	ctx, cancel := context.WithTimeout(ctx, MostTime)
	defer cancel()
	all = map[netip.Addr]Info{}
	told := map[netip.Addr]bool{}
	for _, a := range addresses {
		if a = plain(a); !a.IsValid() || told[a] {
			continue
		}
		told[a] = true
		info, answered := c.settled(ctx, a)
		if info != (Info{}) {
			all[a] = info
		}
		if !answered {
			unanswered++
		}
	}
	return all, unanswered
}

// settled is what is known of an address that was begun, once nothing more will be learned, or when ctx ends. Of one beyond Most it is what files say.
func (c *Cache) settled(ctx context.Context, a netip.Addr) (info Info, answered bool) {
	c.mu.Lock()
	e := c.known[a]
	c.mu.Unlock()
	if e == nil {
		return c.sources.local(a), c.sources.DNS == nil
	}
	select {
	case <-e.done:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return e.info, e.answered
}
