package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pathwise-net/pathwise/lab"
)

// Mesh is a mesh to look at: a lab, a controller outside of it, and an agent on each of its hosts. All of it lives in this process,
// in the lab that ends with it, and in a folder that is taken away.
type Mesh struct {
	Screen
	Out    io.Writer // where it is told how to reach the pages: the outcome
	Listen string    // where the pages are: an Address

	// Serve runs the controller of a mesh file, whose folder is data, until ctx ends or it cannot go on, and writes to said what it has
	// to say. Of routers nameOf is what they are called.
	Serve func(ctx context.Context, file, data string, nameOf func(context.Context, string) string, said io.Writer) error
	// Invite makes the link on these pages by which the first administrator of a controller's folder sets a password. It takes the place
	// of earlier ones.
	Invite func(data string, page *url.URL) (link string, err error)
}

// runningMesh is a mesh that is kept.
type runningMesh struct {
	*Mesh
	folder string
	nats   string // address
	plan   *lab.Plan
	lab    *lab.Lab
	said   *os.File // what controller and agents say
}

// Keep stands the mesh up, says where its pages are, and keeps it until ctx ends, which is no error.
func (m *Mesh) Keep(ctx context.Context) (err error) {
	r := runningMesh{Mesh: m}
	if r.nats, err = unusedAddress("127.0.0.1:0"); err != nil {
		return err
	}
	if r.folder, err = os.MkdirTemp("", "pathwise-demo-"); err != nil {
		return fmt.Errorf("create folder: %w", err)
	}
	if err := errors.Join(r.live(ctx), os.RemoveAll(r.folder)); err != nil {
		return err
	}
	m.Say("\nthe demo mesh has ended; nothing of it is left")
	return nil
}

// live stands everything up, and takes down what is not in the folder when ctx ends or something fails.
func (m *runningMesh) live(ctx context.Context) (err error) {
	if m.said, err = os.Create(m.path("said")); err != nil {
		return fmt.Errorf("create log: %w", err)
	}
	defer m.said.Close()
	if err := m.standUp(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.lab.Close()) }()
	if err := m.run(ctx); ctx.Err() == nil {
		return errors.Join(err, m.lastSaid())
	}
	return nil
}

// lastSaid is the last of what controller and agents said, as an error to go with what ended them.
func (m *runningMesh) lastSaid() error {
	text, err := os.ReadFile(m.said.Name())
	if err != nil || len(text) == 0 {
		return err
	}
	const shown = 2000 // bytes; some ten lines
	return fmt.Errorf("they said last: %s", bytes.TrimSpace(text[max(0, len(text)-shown):]))
}

func (m *runningMesh) path(name string) string { return filepath.Join(m.folder, name) }

// standUp makes the lab, the mesh file and the past.
func (m *runningMesh) standUp(ctx context.Context) error {
	spec, err := labOfMesh()
	if err != nil {
		return err
	}
	m.plan = lab.NewPlan(spec)
	if err := os.WriteFile(m.path("mesh.yaml"), []byte(meshFile(m.plan, m.path("data"), m.Listen, m.nats)), 0o600); err != nil {
		return fmt.Errorf("write mesh file: %w", err)
	}
	if err := os.Mkdir(m.path("data"), 0o700); err != nil {
		return fmt.Errorf("create folder: %w", err)
	}
	stop := m.Ticking("making up a day of history")
	err = fillPast(ctx, m.path("data/archive.sqlite"), m.plan, time.Now())
	stop()
	if err != nil {
		return err
	}
	m.Progress("standing up %d hosts and the network between them…", len(members))
	m.lab, err = lab.Start(ctx, spec, lab.Options{Name: "demo"}) // `pathwise lab show --name demo` finds it
	if errors.Is(err, lab.ErrRunning) {
		m.lab, err = lab.Start(ctx, spec, lab.Options{})
	}
	m.Progress("")
	return err
}

// run runs controller and agents until ctx ends or one of them does.
func (m *runningMesh) run(ctx context.Context) error {
	hosts := agents{lab: m.lab, nats: m.nats, folder: m.folder, said: m.said}
	if err := hosts.issue(m.path("data/keys")); err != nil { // before the server starts, which then knows them at once
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return m.Serve(ctx, m.path("mesh.yaml"), m.path("data"), nameIn(m.plan), m.said) })
	group.Go(func() error {
		if err := m.answers(ctx); err != nil {
			return err
		}
		for _, h := range members {
			group.Go(func() error { return hosts.keep(ctx, h.name) })
		}
		return m.tell()
	})
	return group.Wait()
}

// answers returns when the controller does.
func (m *runningMesh) answers(ctx context.Context) error {
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.page().String()+"/api/v1/health", nil)
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

func (m *runningMesh) page() *url.URL { return &url.URL{Scheme: "http", Host: m.Listen} }

// tell says where everything is, which is the outcome of the command. The controller has made a link for the first
// administrator, too, which only its log has: this one takes its place.
func (m *runningMesh) tell() error {
	link, err := m.Invite(m.path("data"), m.page())
	if err != nil {
		return err
	}
	fmt.Fprintf(m.Out, told, len(members), m.page(), link, m.labPage(), time.Now().Format("15:04"))
	for _, ill := range illnesses {
		fmt.Fprintf(m.Out, "  %-8s %s\n", ill.host, ill.what)
	}
	fmt.Fprintln(m.Out, "\nCtrl-C ends all of it; nothing is left.")
	return nil
}

// labPage is where the lab is seen, with the link that loses packets chosen.
func (m *runningMesh) labPage() string {
	node, _ := m.plan.NodeByName(lossy)
	return fmt.Sprintf("%s/#/lab/%s?link=%d", m.page(), m.lab.Name, m.plan.Nodes[node].Interfaces[0]/2)
}

// told is what Out is told; it wants how many hosts, the page, the invitation, the lab's page, the time.
const told = `
A mesh of %d hosts runs in an emulated network on this machine. Anyone on this
machine may look at its pages:

  %s/

Tests and diagnoses need somebody who signed in. Who opens this link sets the
administrator's password, once:

  %s

The network itself is there, too. Who signed in takes its fault from this link,
which loses packets, by "Fix it in the lab":

  %s

What is older than %s is generated, nobody measured it, and the pages say so;
since then something is measured every few seconds. Three hosts are sick on
purpose. The first page names them, and in a minute or so why:

`
