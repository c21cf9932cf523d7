package main

import (
	"context"
	"net"
	"strings"
	"sync"
	"time"
)

// hopNames are the names of those who answer a trace, each looked up once, while the trace goes on.
type hopNames struct {
	find    func(ctx context.Context, address string) string // ends by itself, or with ctx; "": none was found
	finding sync.WaitGroup

	mu    sync.Mutex
	known map[string]string // by address; "": it is looked for, or has none
}

func newHopNames(find func(context.Context, string) string) *hopNames {
	return &hopNames{find: find, known: map[string]string{}}
}

// begin looks for the name of an address unless that was begun before, and calls found, if it is not nil, once it is over.
func (n *hopNames) begin(ctx context.Context, address string, found func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, begun := n.known[address]; begun || ctx.Err() != nil {
		return
	}
	n.known[address] = ""
	n.finding.Go(func() {
		n.set(address, n.find(ctx, address))
		if found != nil {
			found()
		}
	})
}

// set says what the name of an address is.
func (n *hopNames) set(address, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.known[address] = name
}

// of is the name of an address; "": it is not known, or not yet.
func (n *hopNames) of(address string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.known[address]
}

// wait waits for what was begun.
func (n *hopNames) wait() { n.finding.Wait() }

// nameFinder is how a call finds names of hops: as --names says, or else as this host does.
func (s *session) nameFinder() func(ctx context.Context, address string) string {
	if s.known != nil && s.known.names != "" {
		return s.known.name
	}
	return resolvedSoon
}

// nameTime is how long this host may take to find the name of a hop: a server of names that does not answer shall not keep anybody waiting.
const nameTime = time.Second

// resolvedSoon is resolved within nameTime.
func resolvedSoon(ctx context.Context, address string) string {
	ctx, cancel := context.WithTimeout(ctx, nameTime)
	defer cancel()
	return resolved(ctx, address)
}

// resolved is the name of an address; "": it has none.
func resolved(ctx context.Context, address string) string {
	names, err := net.DefaultResolver.LookupAddr(ctx, address)
	if err != nil || len(names) == 0 {
		return ""
	}
	return strings.TrimSuffix(names[0], ".")
}
