package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/secret"
	"github.com/pathwise-net/pathwise/web"
	"github.com/pathwise-net/pathwise/web/edit"
	"github.com/pathwise-net/pathwise/web/labs"
)

func serveCommand(s *session) *cobra.Command {
	var data, reach string
	c := &cobra.Command{
		Use: "serve [FILE]", Short: "Run a mesh: plan its tests, gather and keep their results", Args: cobra.MaximumNArgs(1),
		Long: "Run the mesh that a file or folder describes, until interrupted: plan, tell the hosts' agents, file what they\n" +
			"measure, answer `pathwise mesh` commands of the same user, and show Prometheus what is newest. Changes of the file\n" +
			"take effect by themselves; one with errors changes nothing.\n\n" +
			"Without FILE it is mesh.yaml; or, if there is none here, a mesh of this host and its gateway, which is kept in a folder\n" +
			"of the user's and measured from here at once, and which other hosts join by an invitation (docs/home.md).",
		Example: "  pathwise serve\n  pathwise serve --reach 192.0.2.5\n  pathwise serve mesh.yaml\n" +
			"  pathwise serve /etc/pathwise/mesh.d --data /var/lib/pathwise",
		RunE: func(c *cobra.Command, args []string) error {
			at, err := parseReach(reach)
			if err != nil {
				return err
			}
			file, err := fileToServe(args)
			if err != nil {
				return err
			}
			var own *home
			if file != "" && at.IsValid() {
				return badFlag("reach", fmt.Errorf("want it without a mesh file: %s says it as controller: {nats: {listen: ...}}", file))
			} else if file == "" {
				if own, err = s.openHome(data, at); err != nil {
					return err
				}
				file, data = own.mesh(), own.folder
			}
			if err := edit.Recover(file); err != nil {
				return err
			}
			m, err := s.loadMesh(file)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(dataFolder(data, m), 0o700); err != nil && data != "" {
				return badFlag("data", err)
			}
			return s.serve(c.Context(), file, dataFolder(data, m), m, own, resolved)
		},
	}
	c.Flags().StringVar(&data, "data", "", "folder for keys, messages and archive (default: what the mesh file says; docs/home.md without one)")
	c.Flags().StringVar(&reach, "reach", "", "without FILE: address of this machine by which other hosts reach it to join (default: this machine alone)")
	return c
}

// serve wires a controller's parts together and runs them until ctx ends or one of them cannot go on. Own is the mesh that nobody wrote a
// file of, or nil. Of routers nameOf is what they are called.
func (s *session) serve(ctx context.Context, file, data string, m *config.Mesh, own *home, nameOf func(context.Context, string) string) error {
	log := s.serverLog()
	known, err := openLookup(m.Controller.Lookup)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return input.Errorf("%w", err)
	}
	messages, err := openMessaging(ctx, data, m, log)
	if err != nil {
		return err
	}
	defer messages.close()
	credentials, err := own.credentials(messages)
	if err != nil {
		return err
	}
	store, err := archive.Open(ctx, archiveURL(m, data), archive.Options{Retention: retention(m.Controller.Retention), Log: log})
	if err != nil {
		return err
	}
	defer store.Close()
	group, ctx := errgroup.WithContext(ctx)
	out, err := openOutlets(ctx, data, m, store, log)
	if err != nil {
		return err
	}
	people, err := s.openAccounts(data, log)
	if err != nil {
		return err
	}
	defer people.Close()
	var controller *control.Control // which tells the book of each mesh that it takes
	book, err := openBook(file, data, m, func() *control.Rates { return controller.Rates() }, log)
	if err != nil {
		return err
	}
	hosts := newSSHHosts(ctx, messages, data, log)
	defer hosts.wait()
	var api *web.Server
	controller, err = control.New(control.Config{
		Mesh: file, Data: data, Hub: messages.hub, Archive: store, Log: log,
		// The history first: what hosts follow costs what cannot be taken back.
		Changed: func(m *config.Mesh) error { return book.Follow(m, hosts.follow) },
		Observe: out.observe, Missed: out.collector.Missed, NameOf: nameOf,
		Judge: func(ctx context.Context) (*control.Worse, error) { return api.Judge(ctx) },
	})
	if err != nil {
		return err
	}
	metrics, err := out.metrics(controller, store)
	if err != nil {
		return err
	}
	hosts.drained = controller.Emptied
	api = &web.Server{Control: controller, Archive: store, Accounts: people, Config: book, Metrics: metrics, Version: version(), Log: log,
		Labs: openLabs(&m.Controller), Known: known.find, Listed: known.listed, Backup: (&backup{mesh: file, data: data, archive: archiveURL(m, data), store: store}).write}
	group.Go(func() error { return controller.Run(ctx) })
	group.Go(func() error { return messages.watchKeys(ctx) })
	group.Go(func() error { people.Keep(ctx); return nil })
	out.run(ctx, group)
	if own != nil {
		api.Joining = s.atHome(ctx, group, own, credentials, messages, book, log)
	}
	if err := s.answer(ctx, group, api, data, &m.Controller); err != nil {
		group.Go(func() error { return err })
	}
	return group.Wait()
}

// controlSocket is the name of the socket in the controller's folder that `pathwise mesh` commands talk to: only who owns
// the folder can.
const controlSocket = "control.sock"

// answer opens the controller's two listeners: a socket in its folder, for its owner; and an address, for who shows a session or a token, or for everybody.
func (s *session) answer(ctx context.Context, group *errgroup.Group, api *web.Server, data string, c *config.Controller) error {
	path := filepath.Join(data, controlSocket)
	_ = os.Remove(path) // of one that was killed; a second controller does not get here, see archive.ErrInUse
	own, err := net.Listen("unix", path)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return errors.Join(fmt.Errorf("listen: %w", err), own.Close())
	}
	inside := web.Listener{Owner: true}
	group.Go(func() error { return inside.Serve(ctx, own, api.Handler(inside), api.Log) })
	if c.Listen == "" {
		s.say("serving, without HTTP")
		return nil
	}
	open, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w; see controller.listen in the mesh file", err)
	}
	scheme, secure := "http", open.Addr().(*net.TCPAddr).IP.IsLoopback()
	if c.TLS.Certificate != "" {
		key := c.TLS.Key
		if err := locate(secret.In(data), &key); err != nil {
			return errors.Join(fmt.Errorf("controller.tls: %w", err), open.Close())
		}
		settings, err := web.TLS(c.TLS.Certificate, key, api.Log)
		if err != nil {
			return errors.Join(err, open.Close())
		}
		open, scheme, secure = tls.NewListener(open, settings), "https", true
	}
	s.say("serving on %s://%s", scheme, open.Addr())
	at := open.Addr().(*net.TCPAddr)
	page := pageURL(scheme, at, c.Proxies)
	if !secure && len(c.Proxies) == 0 {
		page = s.sayHowToSignIn(at)
	}
	if err := s.inviteFirst(api.Accounts, page); err != nil {
		return errors.Join(err, open.Close())
	}
	public := func() bool { return api.Control.Mesh().Controller.Public } // as the mesh file has it by then
	outside := web.Listener{Secure: secure, Public: public, Proxies: c.Proxies}
	group.Go(func() error { return outside.Serve(ctx, open, api.Handler(outside), api.Log) })
	return nil
}

// archiveURL is where the archive is: what the mesh file says, or a file in the controller's folder.
func archiveURL(m *config.Mesh, data string) string {
	if m.Controller.Archive != "" {
		return m.Controller.Archive
	}
	return filepath.Join(data, "archive.sqlite")
}

// retention is what the mesh file says of how long things are kept, as one rule of the archive, which reckons in the same times:
// 0 leaves it to the archive, and config.Forever is archive.Forever.
func retention(r config.Retention) []archive.Rule {
	rule := archive.Rule{Results: r.Results, Samples: r.Results, Points: r.Points}
	for i, step := range []string{"1m", "5m", "1h", "1d"} {
		rule.Rollups[i] = r.Rollups[step]
	}
	return []archive.Rule{rule}
}

// openLabs is the labs that the pages show: those of this user on this machine, if the mesh file says so; else nil.
func openLabs(c *config.Controller) *labs.Labs {
	if !c.Labs {
		return nil
	}
	return &labs.Labs{Program: lab.Self()}
}
