package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/web"
	"github.com/pathwise-net/pathwise/web/edit"
)

// parseReach reads ADDRESS or ADDRESS:PORT of this machine; an invalid one for "", and port 0 where none is said.
func parseReach(text string) (netip.AddrPort, error) {
	if text == "" {
		return netip.AddrPort{}, nil
	}
	at, err := netip.ParseAddrPort(text)
	if alone, other := netip.ParseAddr(strings.Trim(text, "[]")); other == nil {
		at, err = netip.AddrPortFrom(alone, 0), nil
	}
	if err != nil || at.Addr().IsUnspecified() || at.Addr().IsMulticast() {
		return at, badFlag("reach", fmt.Errorf("%q: want an address of this machine by which other hosts reach it, such as 192.0.2.5 or 192.0.2.5:4222", text))
	}
	return at, nil
}

// openHome makes or opens the mesh of this host, and says what it found.
func (s *session) openHome(data string, reach netip.AddrPort) (*home, error) {
	here := thisMachine()
	h, news, err := openHome(data, here, reach)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(s.err, "no mesh file: the mesh is this host, %s, its gateway (%s) and hosts that join; it is kept in %s\n", h.state.Host, orNone(here.gateway), h.folder)
	for _, line := range news {
		fmt.Fprintln(s.err, "note:", line)
	}
	return h, nil
}

// atHome runs this host's own agent, which has credentials, and lets others join, until ctx ends.
func (s *session) atHome(ctx context.Context, group *errgroup.Group, h *home, own *fleet.Credentials, p *messaging, book *edit.Book, log *slog.Logger) *web.Joining {
	group.Go(func() error { return s.keepOwnAgent(ctx, h, own, p, log) })
	d := &door{home: h, messages: p, book: book, here: thisMachine().address}
	p.server.Let(&fleet.Joining{Invitations: &d.invitations, Admit: d.admit})
	return &web.Joining{At: h.state.Reach, Suggested: d.here, Invite: func(by string) (string, time.Time, error) {
		i, until, err := d.invitations.New(p.keys, h.state.Reach.String(), by)
		if err != nil {
			return "", time.Time{}, err
		}
		return i.Text(), until, nil
	}}
}

// door is where hosts join.
type door struct {
	home        *home
	messages    *messaging
	book        *edit.Book
	here        netip.Addr // of this machine
	invitations fleet.Invitations

	mu sync.Mutex // one host at a time
}

// admit adds a host to the mesh, by a file of its own, and makes its keys.
func (d *door) admit(ctx context.Context, a fleet.Applicant) (*fleet.Credentials, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		now, err := d.book.Read()
		if err != nil {
			return nil, err
		}
		m, err := config.Load(d.home.mesh(), probe.Catalogue{})
		if err != nil {
			return nil, errors.New("the controller's mesh file has errors, so nobody can join: its page Configuration shows them")
		}
		name, files := joined(m, now.Files, a, d.here)
		_, err = d.book.Save(ctx, edit.Change{From: now.Version, Files: files, By: "an invitation of " + a.By, Comment: name + " joined from " + a.Address.String()})
		switch {
		case errors.Is(err, edit.ErrStale):
			continue // somebody saved at the same moment
		case err != nil:
			return nil, fmt.Errorf("add host %s to the mesh: %w", name, err)
		}
		return d.messages.issue(name, d.messages.keys.Embedded(d.home.state.Reach.String()))
	}
}

// joined is the files of a mesh with a host more, under the name that it wants or, where there is such a host, with a number behind it.
func joined(m *config.Mesh, files []edit.File, a fleet.Applicant, here netip.Addr) (name string, with []edit.File) {
	a.Name = a.Name[:min(len(a.Name), longestHostName)]
	name = a.Name
	taken := func() bool {
		_, is := m.Host(name)
		return is || slices.ContainsFunc(files, func(f edit.File) bool { return f.Name == fileOfHost(name) })
	}
	for n := 2; taken(); n++ {
		suffix := fmt.Sprintf("-%d", n)
		name = a.Name[:min(len(a.Name), longestHostName-len(suffix))] + suffix
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Joined by an invitation of %s. Take this file away, and the host is none of the mesh any more.\n"+
		"hosts:\n  %s: {address: \"%s\"}\n", a.By, name, a.Address)
	if m.Tool("load") != nil {
		fmt.Fprintf(&b, "groups:\n  %s-itself: {list: [%s]}\ntests:\n  - {tool: load, group: %s-itself, schedule: {every: 1m}}\n", name, name, name)
	}
	if apart := apartFrom(m, a.Address, here); len(apart) > 0 {
		fmt.Fprintf(&b, "exclude: # those of the other IP version, and the gateway of elsewhere\n  - {source: %s, target: [%s]}\n"+
			"  - {source: [%s], target: %s}\n", name, strings.Join(apart, ", "), strings.Join(apart, ", "), name)
	}
	with = append(slices.Clone(files), edit.File{Name: fileOfHost(name), Text: b.String()})
	everyone := slices.ContainsFunc(files, func(f edit.File) bool { return f.Name == everybodyFile })
	if m.Tool("rtt") != nil && !everyone && len(m.Hosts) == 1 {
		with = append(with, edit.File{Name: everybodyFile, Text: everybody})
	}
	return name, with
}

// apartFrom are the hosts of a mesh that one at an address cannot be tested with: those of the other IP version; and, where it is not near
// this machine, the gateway, which answers nearby hosts alone.
func apartFrom(m *config.Mesh, at, here netip.Addr) (names []string) {
	for _, host := range m.Hosts {
		another, err := netip.ParseAddr(host.Interfaces[0].Addresses[0])
		if err == nil && another.Is4() != at.Is4() || host.Name == "gateway" && !near(at, here) {
			names = append(names, host.Name)
		}
	}
	return names
}

// longestHostName in bytes leaves room for "-itself" in the 63 that a name of the mesh file has.
const longestHostName = 56

func fileOfHost(name string) string { return "host-" + name + ".yaml" }

// near says whether a host is on a network of this machine, so that the gateway is its gateway, too: their addresses begin alike. A
// /24, or the /64 that IPv6 networks have, is what routers at home give.
func near(a, b netip.Addr) bool {
	bits := 24
	if a.Is6() {
		bits = 64
	}
	network, err := a.Prefix(bits)
	return err == nil && network.Contains(b)
}
