package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/lab"
)

// demoMesh is the mesh that `demo --keep` leaves running: a lab, a controller outside of it, and an agent on each of its hosts.
// All of it lives in this process, in the lab that ends with it, and in a folder that is taken away.
type demoMesh struct {
	s            *session
	folder       string
	listen, nats string // addresses
	plan         *lab.Plan
	lab          *lab.Lab
	said         *os.File // what controller and agents say
}

// demoListen is where the pages of the demo mesh are, if nobody else is there.
const demoListen = "127.0.0.1:8080"

// keepDemo stands the demo mesh up, says where its pages are, and keeps it until ctx ends.
func (s *session) keepDemo(ctx context.Context, listen string) error {
	d := &demoMesh{s: s}
	var err error
	if d.listen, err = demoAddress(listen); err != nil {
		return err
	}
	if d.nats, err = unusedAddress("127.0.0.1:0"); err != nil {
		return err
	}
	if d.folder, err = os.MkdirTemp("", "pathwise-demo-"); err != nil {
		return fmt.Errorf("create folder: %w", err)
	}
	if err := errors.Join(d.live(ctx), os.RemoveAll(d.folder)); err != nil {
		return err
	}
	s.say("\nthe demo mesh has ended; nothing of it is left")
	return nil
}

// live stands everything up, and takes down what is not in the folder when ctx ends or something fails.
func (d *demoMesh) live(ctx context.Context) (err error) {
	if d.said, err = os.Create(d.path("said")); err != nil {
		return fmt.Errorf("create log: %w", err)
	}
	defer d.said.Close()
	if err := d.standUp(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.lab.Close()) }()
	if err := d.run(ctx); ctx.Err() == nil {
		return errors.Join(err, d.lastSaid())
	}
	return nil
}

// lastSaid is the last of what controller and agents said, as an error to go with what ended them.
func (d *demoMesh) lastSaid() error {
	text, err := os.ReadFile(d.said.Name())
	if err != nil || len(text) == 0 {
		return err
	}
	const shown = 2000 // bytes; some ten lines
	return fmt.Errorf("they said last: %s", bytes.TrimSpace(text[max(0, len(text)-shown):]))
}

func (d *demoMesh) path(name string) string { return filepath.Join(d.folder, name) }

// standUp makes the lab, the mesh file and the past.
func (d *demoMesh) standUp(ctx context.Context) error {
	spec, err := demoMeshLab()
	if err != nil {
		return err
	}
	d.plan = lab.NewPlan(spec)
	if err := os.WriteFile(d.path("mesh.yaml"), []byte(demoMeshFile(d.plan, d.path("data"), d.listen, d.nats)), 0o600); err != nil {
		return fmt.Errorf("write mesh file: %w", err)
	}
	if err := os.Mkdir(d.path("data"), 0o700); err != nil {
		return fmt.Errorf("create folder: %w", err)
	}
	stop := d.s.ticking("making up a day of history")
	err = fillDemoPast(ctx, d.path("data/archive.sqlite"), d.plan, time.Now())
	stop()
	if err != nil {
		return err
	}
	d.s.progress("standing up %d hosts and the network between them…", len(demoHosts))
	d.lab, err = lab.Start(ctx, spec, lab.Options{Name: "demo"}) // `pathwise lab show --name demo` finds it
	if errors.Is(err, lab.ErrRunning) {
		d.lab, err = lab.Start(ctx, spec, lab.Options{})
	}
	d.s.progress("")
	return err
}

// run runs controller and agents until ctx ends or one of them does.
func (d *demoMesh) run(ctx context.Context) error {
	mesh, err := d.s.loadMesh(d.path("mesh.yaml"))
	if err != nil {
		return err
	}
	agents := demoAgents{lab: d.lab, nats: d.nats, folder: d.folder, said: d.said}
	if err := agents.issue(d.path("data/keys")); err != nil { // before the server starts, which then knows them at once
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	server := &session{in: d.s.in, out: d.said, err: d.said, quiet: true}
	group.Go(func() error { return server.serve(ctx, d.path("mesh.yaml"), d.path("data"), mesh) })
	group.Go(func() error {
		if err := d.answers(ctx); err != nil {
			return err
		}
		for _, h := range demoHosts {
			group.Go(func() error { return agents.keep(ctx, h.name) })
		}
		return d.tell()
	})
	return group.Wait()
}

// answers returns when the controller does.
func (d *demoMesh) answers(ctx context.Context) error {
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.page().String()+"/api/v1/health", nil)
		if err != nil {
			return err
		}
		if answer, err := http.DefaultClient.Do(request); err == nil {
			answer.Body.Close()
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (d *demoMesh) page() *url.URL { return &url.URL{Scheme: "http", Host: d.listen} }

// tell says where everything is, which is the outcome of the command. The controller has made a link for the first
// administrator, too, which only its log has: this one takes its place.
func (d *demoMesh) tell() error {
	book, err := account.Open(d.path("data"), account.Options{})
	if err != nil {
		return err
	}
	invitation, err := book.InviteFirst("admin")
	if err := errors.Join(err, book.Close()); err != nil {
		return err
	}
	out := d.s.out
	if d.s.json {
		out = d.s.err
	}
	fmt.Fprintf(out, demoTold, len(demoHosts), d.page(), welcomeLink(d.page(), invitation), time.Now().Format("15:04"))
	for _, ill := range demoIlls {
		fmt.Fprintf(out, "  %-8s %s\n", ill.host, ill.what)
	}
	fmt.Fprintln(out, "\nCtrl-C ends all of it; nothing is left.")
	return nil
}

// demoTold is told of: how many hosts, the page, the link, the time.
const demoTold = `
A mesh of %d hosts runs in an emulated network on this machine. Anyone on this machine may look at its pages:

  %s/

Tests and diagnoses need somebody who signed in. Who opens this link sets the administrator's password, once:

  %s

What is older than %s is generated, nobody measured it, and the pages say so; since then something is measured every
few seconds. Three hosts are sick on purpose: diagnose the path from ucl to one of them.

`

// demoAddress is where the pages are to be: where the user says, or else the usual place, or any other if that is taken.
func demoAddress(wanted string) (string, error) {
	if wanted != "" {
		at, err := unusedAddress(wanted)
		if err == nil && !netip.MustParseAddrPort(at).Addr().IsLoopback() { // anybody may look at these pages
			err = fmt.Errorf("%q: want an address of this machine alone, such as %s", wanted, demoListen)
		}
		if err != nil {
			return "", badFlag("listen", err)
		}
		return at, nil
	}
	if at, err := unusedAddress(demoListen); err == nil {
		return at, nil
	}
	return unusedAddress("127.0.0.1:0")
}

// unusedAddress is an address that nobody listens on, with a port in place of 0.
func unusedAddress(address string) (string, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", fmt.Errorf("listen: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}
