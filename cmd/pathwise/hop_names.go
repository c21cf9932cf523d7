package main

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/lookup"
)

// hopNames are the names of those who answer a trace, each looked up once, while the trace goes on, and again where no server said anything.
type hopNames struct {
	find    nameFinder
	finding sync.WaitGroup
	now     func() time.Time

	mu    sync.Mutex
	known map[string]hopName // by address
}

// nameFinder finds the name of an address, "" if it has none. It ends by itself, or with ctx; answered is false where no server said anything.
type nameFinder func(ctx context.Context, address string) (name string, answered bool)

// hopName is what is known of the name of an address.
type hopName struct {
	name  string
	again time.Time // when it may be looked for again; zero: not
}

func newHopNames(find nameFinder) *hopNames {
	return &hopNames{find: find, now: time.Now, known: map[string]hopName{}}
}

// begin looks for the name of an address that was not looked for yet, or that no server told lookup.AskAgain ago and longer. It returns at once; over, if it is not nil, is
// called when the search has ended.
func (n *hopNames) begin(ctx context.Context, address string, over func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if was, begun := n.known[address]; begun && (was.again.IsZero() || n.now().Before(was.again)) || ctx.Err() != nil {
		return
	}
	n.known[address] = hopName{}
	n.finding.Go(func() {
		name, answered := n.find(ctx, address)
		found := hopName{name: name}
		if !answered {
			found.again = n.now().Add(lookup.AskAgain)
		}
		n.keep(address, found)
		if over != nil {
			over()
		}
	})
}

func (n *hopNames) keep(address string, found hopName) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.known[address] = found
}

// set says what the name of an address is.
func (n *hopNames) set(address, name string) { n.keep(address, hopName{name: name}) }

// of is the name of an address; "": it is not known, or not yet.
func (n *hopNames) of(address string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.known[address].name
}

// wait waits for what was begun.
func (n *hopNames) wait() { n.finding.Wait() }

// nameFinder is how a call finds names of hops: as --names says, or else as this host does.
func (s *session) nameFinder() nameFinder {
	if s.known != nil && s.known.names != "" {
		return s.known.name
	}
	return resolvedSoon
}

// nameTime is how long this host may take to find the name of a hop: a server of names that does not answer shall not keep anybody waiting.
const nameTime = time.Second

// resolvedSoon is the name of an address as this host finds it within nameTime: see nameFinder.
func resolvedSoon(ctx context.Context, address string) (name string, answered bool) {
	ctx, cancel := context.WithTimeout(ctx, nameTime)
	defer cancel()
	return systemName(ctx, address)
}

// resolved is the name of an address as this host finds it; "": it finds none.
func resolved(ctx context.Context, address string) string {
	name, _ := systemName(ctx, address)
	return name
}

// systemName is the name of an address as this host finds it: see nameFinder.
func systemName(ctx context.Context, address string) (name string, answered bool) {
	names, err := net.DefaultResolver.LookupAddr(ctx, address)
	if err != nil || len(names) == 0 {
		var said *net.DNSError
		return "", err == nil || errors.As(err, &said) && said.IsNotFound
	}
	return strings.TrimSuffix(names[0], "."), true
}
