package fleet

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
)

func TestConformance(t *testing.T) {
	for name, open := range map[string]func(*testing.T, []string) *mesh{
		"tls":        func(t *testing.T, hosts []string) *mesh { return embedded(t, "127.0.0.1:0", hosts) },
		"in-process": func(t *testing.T, hosts []string) *mesh { return embedded(t, "", hosts) },
		"outside":    outsideMesh,
		"ssh":        sshMesh,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conform(t, open)
		})
	}
}

// embedded is a mesh by a server in this process.
func embedded(t *testing.T, listen string, hosts []string) *mesh {
	t.Helper()
	m := &mesh{keys: testKeyring(t), archive: newTestArchive()}
	s, credentials := testServer(t, m.keys, listen, hosts)
	m.serve(t, HubConfig{Keys: m.keys, Server: s, Log: testLog(t)})
	m.start = func(t *testing.T, host string) func() {
		c := LinkConfig{Credentials: credentials[host], Log: testLog(t)}
		if listen == "" {
			c.Dial = s.Dial
		}
		return startAgent(t, c)
	}
	return m
}

func testKeyring(t *testing.T) *Keyring {
	t.Helper()
	k, err := OpenKeyring(filepath.Join(t.TempDir(), "keys"))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func testServer(t *testing.T, k *Keyring, listen string, hosts []string, change ...func(*ServerConfig)) (*Server, map[string]*Credentials) {
	t.Helper()
	credentials := map[string]*Credentials{}
	for _, host := range hosts {
		credentials[host] = issue(t, k, host, Reach{})
	}
	agents, err := k.Agents()
	if err != nil {
		t.Fatal(err)
	}
	c := ServerConfig{Keys: k, Agents: agents, Listen: listen, Log: testLog(t)}
	for _, f := range change {
		f(&c)
	}
	s, err := StartServer(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if listen != "" {
		for _, c := range credentials {
			c.Reach = k.Embedded(s.Addr().String())
		}
	}
	return s, credentials
}

func issue(t *testing.T, k *Keyring, host string, at Reach) *Credentials {
	t.Helper()
	c, err := k.Issue(host, at)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// serve opens the hub and serves it until the test ends.
func (m *mesh) serve(t *testing.T, c HubConfig) {
	t.Helper()
	h, err := OpenHub(within(t), c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- h.Serve(ctx, m.archive) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("hub: %v", err)
		}
		h.Close()
	})
	m.hub = h
}

// startAgent runs a testAgent over a Link of this process.
func startAgent(t *testing.T, c LinkConfig) (stop func()) {
	t.Helper()
	l, err := NewLink(c)
	if err != nil {
		t.Fatal(err)
	}
	return runAgent(t, newTestAgent(c.Credentials.Host, l), l)
}

func runAgent(t *testing.T, a *testAgent, l *NATSLink) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := a.run(ctx, l); err != nil {
			t.Errorf("link: %v", err)
		}
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

// outsideMesh is a mesh by a NATS server in another process, with the rights that we tell its operator.
func outsideMesh(t *testing.T, hosts []string) *mesh {
	m := &mesh{keys: testKeyring(t), archive: newTestArchive()}
	credentials := map[string]*Credentials{}
	for _, host := range hosts {
		credentials[host] = issue(t, m.keys, host, Reach{})
	}
	folder := t.TempDir()
	ca := selfSigned(t, folder)
	config := natsConfig(t, m.keys, "127.0.0.1:-1")
	tls := fmt.Sprintf("tls: {cert_file: %q, key_file: %q}\n", ca, ca+".key")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	write(t, config, tls+string(text))
	_, address := child(t, "nats", config, nil)
	o := &Outside{URL: "tls://" + address, CA: ca}
	m.serve(t, HubConfig{Keys: m.keys, Outside: o, Log: testLog(t)})
	m.start = func(t *testing.T, host string) func() {
		c := *credentials[host]
		if c.Reach, err = o.Reach(); err != nil {
			t.Fatal(err)
		}
		l := LinkConfig{Credentials: &c, Log: testLog(t)}
		if host == hosts[0] { // as if SSH were between
			l.Dial = o.Dial
		}
		return startAgent(t, l)
	}
	return m
}

// selfSigned writes the certificate of an operator's server on 127.0.0.1, and its key beside it.
func selfSigned(t *testing.T, folder string) (path string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: notBefore, NotAfter: notAfter, IsCA: true,
		BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(folder, "nats.pem")
	write(t, path, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	write(t, path+".key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	return path
}

// natsConfig writes the configuration of an outside server: what an operator has, and what ServerSnippet adds.
func natsConfig(t *testing.T, k *Keyring, listen string) (path string) {
	t.Helper()
	agents, err := k.Agents()
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "nats.conf")
	write(t, path, fmt.Sprintf("listen: %q\n%s", listen, ServerSnippet(k.Public(), agents)))
	return path
}
