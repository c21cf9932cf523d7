package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/pathwise-net/pathwise/archive/postgrestest"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/lab"
)

// A mesh whose messages go through a NATS server, and whose archive is in a PostgreSQL server, that are neither of them the
// controller's: each is killed under load, and an agent, and comes back after a while.
func TestMeshWithoutServers(t *testing.T) {
	t.Parallel()
	m := newMeshLab(t, faultLab)
	postgres, err := postgrestest.Start(t.Context())
	if errors.Is(err, postgrestest.ErrNone) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := postgres.Stop(); err != nil {
			t.Error(err)
		}
	})
	database, err := postgres.Create(t.Context(), "mesh")
	if err != nil {
		t.Fatal(err)
	}
	database = strings.Replace(database, "@/", "@localhost/", 1) // the mesh file wants a host, the socket's folder overrules it
	address := m.addresses["controller"] + ":4222"
	m.deploy(faultMesh, fmt.Sprintf("horizon: 10m, archive: %q, nats: {url: %q}", database, "nats://"+address))
	config := m.natsConfig(address)
	nats := m.startNATS(config)
	m.startServe()
	m.startAgents()
	m.filedAfter(time.Now())

	began := time.Now()
	for range faultRounds(1) {
		time.Sleep(m.span(0, faultEvery))
		m.kill(m.agents["a"])
		time.Sleep(m.span(0, 2*faultEvery)) // some of its runs are to come and go
		m.startAgent("a")

		time.Sleep(m.span(0, faultEvery))
		m.kill(nats)
		time.Sleep(m.span(0, 2*faultEvery))
		nats = m.startNATS(config)
		m.filedAfter(time.Now())

		time.Sleep(m.span(0, faultEvery))
		postgres.Kill()
		time.Sleep(m.span(faultEvery, 3*faultEvery))
		if err := postgres.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		m.filedAfter(time.Now())
	}
	m.settled(began, time.Now(), asPlanned("a"))
}

// natsConfig is what an operator gives a NATS server for a mesh.
func (m *meshLab) natsConfig(listen string) (path string) {
	m.t.Helper()
	keys, err := fleet.OpenKeyring(filepath.Join(m.data, "keys"))
	if err != nil {
		m.t.Fatal(err)
	}
	agents, err := keys.Agents()
	if err != nil {
		m.t.Fatal(err)
	}
	text := fmt.Sprintf("listen: %q\njetstream: {store_dir: %q}\n%s", listen, m.path("jetstream"),
		fleet.ServerSnippet(keys.Public(), agents))
	if err := os.WriteFile(m.path("nats.conf"), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
	return m.path("nats.conf")
}

func (m *meshLab) startNATS(config string) *lab.Process {
	m.t.Helper()
	self, err := os.Executable()
	if err != nil {
		m.t.Fatal(err)
	}
	_ = os.Remove(config + ready)
	p := m.run("controller", "/usr/bin/env", natsVariable+"="+config, self)
	m.eventually("the NATS server is ready", func() bool { _, err := os.Stat(config + ready); return err == nil })
	return p
}

// natsVariable makes this program a NATS server, by the file of its configuration.
const natsVariable = "PATHWISE_TEST_NATS"

// ready is what the file is called by besides that the server makes when it can be spoken to.
const ready = ".ready"

// beNATS is a NATS server, a process of its own, until it is killed.
func beNATS(config string) error {
	options, err := server.ProcessConfigFile(config)
	if err != nil {
		return err
	}
	options.NoSigs = true
	s, err := server.NewServer(options)
	if err != nil {
		return err
	}
	s.ConfigureLogger()
	s.Start()
	if !s.ReadyForConnections(time.Minute) {
		return errors.New("not ready")
	}
	if err := os.WriteFile(config+ready, nil, 0o600); err != nil {
		return err
	}
	s.WaitForShutdown()
	return nil
}
