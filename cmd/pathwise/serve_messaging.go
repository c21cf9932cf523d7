package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/secret"
)

// messaging is how the controller speaks to agents: its keys, the NATS server, its own or an outside one, and the hub.
type messaging struct {
	keys    *fleet.Keyring
	server  *fleet.Server  // nil: an outside cluster
	outside *fleet.Outside // nil: our own
	hub     *fleet.NATSHub
	log     *slog.Logger
}

func openMessaging(ctx context.Context, data string, m *config.Mesh, log *slog.Logger) (_ *messaging, err error) {
	p := &messaging{log: log}
	if p.keys, err = fleet.OpenKeyring(filepath.Join(data, "keys")); err != nil {
		return nil, err
	}
	if p.outside = outside(&m.Controller.NATS); p.outside != nil {
		if err := locate(secret.In(data), &p.outside.Credentials, &p.outside.Nkey, &p.outside.Key); err != nil {
			return nil, fmt.Errorf("controller.nats: %w", err)
		}
	} else {
		agents, err := p.keys.Agents()
		if err != nil {
			return nil, err
		}
		p.server, err = fleet.StartServer(context.WithoutCancel(ctx), fleet.ServerConfig{
			Keys: p.keys, Agents: agents, Listen: m.Controller.NATS.Listen, Log: log,
		})
		if err != nil {
			return nil, err
		}
	}
	p.hub, err = fleet.OpenHub(ctx, fleet.HubConfig{Keys: p.keys, Server: p.server, Outside: p.outside,
		Aside: filepath.Join(data, "refused"), Log: log})
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// close ends the hub and the message server, which outlive the context of the rest so that the last Results find them.
func (p *messaging) close() {
	if p.hub != nil {
		p.hub.Close()
	}
	if p.server != nil {
		p.server.Close()
	}
}

// issue makes keys for a host, which count from then on, and those that it had before no more.
func (p *messaging) issue(host string, at fleet.Reach) (*fleet.Credentials, error) {
	credentials, err := p.keys.Issue(host, at)
	if err != nil || p.server == nil {
		return credentials, err
	}
	agents, err := p.keys.Agents()
	if err != nil {
		return nil, err
	}
	return credentials, p.server.SetAgents(agents)
}

// dial reaches the NATS server for an agent behind SSH.
func (p *messaging) dial(ctx context.Context) (net.Conn, error) {
	if p.server != nil {
		return p.server.Dial(ctx)
	}
	return p.outside.Dial(ctx)
}

// locate puts the places of secrets for their names; none stays none.
func locate(secrets secret.Folder, names ...*string) error {
	for _, name := range names {
		if *name == "" {
			continue
		}
		path, err := secrets.Path(*name)
		if err != nil {
			return err
		}
		*name = path
	}
	return nil
}

// outside is the cluster that the mesh file names; nil: the controller is to have a server of its own.
func outside(n *config.NATS) *fleet.Outside {
	if len(n.URLs) == 0 {
		return nil
	}
	return &fleet.Outside{
		URL: strings.Join(n.URLs, ","), Credentials: n.Credentials, Nkey: n.Nkey, CA: n.CAFile,
		Cert: n.CertFile, Key: n.KeyFile,
	}
}

// keysEvery is how often the keys on disk are looked at: `mesh deploy` makes new ones while the controller runs.
const keysEvery = 2 * time.Second

// watchKeys lets in the hosts that were deployed meanwhile, and cuts off those whose keys were withdrawn.
func (p *messaging) watchKeys(ctx context.Context) error {
	if p.server == nil {
		return nil // who runs the cluster decides who may come
	}
	tick := time.NewTicker(keysEvery)
	defer tick.Stop()
	known, err := p.keys.Agents()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		agents, readErr := p.keys.Agents()
		if readErr != nil {
			if err == nil {
				p.log.Error("read keys of agents", "error", readErr)
			}
			err = readErr
			continue
		}
		if err = nil; maps.Equal(agents, known) {
			continue
		}
		if err := p.server.SetAgents(agents); err != nil {
			p.log.Error("let agents in", "error", err)
			continue
		}
		known = agents
	}
}
