package main

import (
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
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/secret"
)

func TestOutside(t *testing.T) {
	n := config.NATS{URLs: []string{"tls://a:4222", "tls://b"}, CAFile: "ca", CertFile: "cert", KeyFile: "key",
		Credentials: "jwt", Nkey: "nk", Replicas: 3}
	want := &fleet.Outside{URL: "tls://a:4222,tls://b", CA: "ca", Cert: "cert", Key: "key", Credentials: "jwt", Nkey: "nk"}
	if diff := cmp.Diff(want, outside(&n)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := outside(&config.NATS{Listen: ":4222"}); got != nil {
		t.Errorf("our own server: %+v", got)
	}
}

// A controller that logs in by an nkey that the mesh file names, and an agent that knows the private authority by its
// credentials alone, meet at a NATS server that speaks TLS only. A Result goes through it.
func TestMeshByOutsideServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	seed, public := newNkey(t)
	address := freeAddress(t)
	secrets := string(secret.In(path("data")))
	if err := os.MkdirAll(secrets, 0o700); err != nil {
		t.Fatal(err)
	}
	writeText(t, filepath.Join(secrets, "nats.nk"), seed)
	writeText(t, path("ca.pem"), "none yet")
	mesh := func() string {
		writeText(t, path("mesh.yaml"), fmt.Sprintf(`
controller:
  data: DIR/data
  listen: %s
  nats: {url: tls://%s, ca_file: DIR/ca.pem, cert_file: DIR/controller.pem, key_file: DIR/data/secrets/controller.key, nkey_file: nats.nk}
hosts: {a: 127.0.0.2}
tools: {load: {probe: host}}
groups: {own: {list: [a]}}
tests: [{tool: load, group: own, schedule: {every: 2s}}]
`, freeAddress(t), address), "DIR", dir)
		return path("mesh.yaml")
	}
	file := mesh()
	if status, _, complaint := pathwise(t, "mesh", "deploy", file, "--out", dir); status != exitBadCall || !strings.Contains(complaint, "ca_file") {
		t.Errorf("authorities that are none: exit status %d: %s", status, complaint)
	}
	writeCertificates(t, dir)
	if err := os.Rename(path("controller.key"), filepath.Join(secrets, "controller.key")); err != nil {
		t.Fatal(err)
	}
	if status, _, complaint := pathwise(t, "mesh", "deploy", file, "--out", dir); status != exitDone {
		t.Fatal(complaint)
	}
	keys, err := fleet.OpenKeyring(path("data/keys"))
	if err != nil {
		t.Fatal(err)
	}
	users, err := os.ReadFile(path("nats.conf"))
	if err != nil {
		t.Fatal(err)
	}
	writeText(t, path("nats.conf"), fmt.Sprintf("listen: %q\n"+
		"tls: {cert_file: DIR/server.pem, key_file: DIR/server.key, ca_file: DIR/ca.pem}\n%s", address,
		strings.ReplaceAll(string(users), keys.Public().Login, public)), "DIR", dir)
	startOutside(t, path("nats.conf"))

	begin(t, "serve", mesh())
	begin(t, "agent", "--credentials", path("a.credentials"), "--state", path("state"))
	filed := ""
	for late := time.Now().Add(time.Minute); !strings.Contains(filed, "host_memory_available_bytes"); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("no result in a minute: %s", filed)
		}
		_, filed, _ = pathwise(t, "mesh", "export", "--data", path("data"))
	}
}

// startOutside runs a NATS server, as who has a cluster configures it, until the test ends.
func startOutside(t *testing.T, file string) {
	t.Helper()
	options, err := server.ProcessConfigFile(file)
	if err != nil {
		t.Fatal(err)
	}
	options.NoSigs, options.NoLog = true, true
	s, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the NATS server is not ready")
	}
}

// writeCertificates makes a private authority, and what it signs for the server on 127.0.0.1 and for the controller.
func writeCertificates(t *testing.T, dir string) {
	t.Helper()
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true}
	authority := template
	authority.IsCA, authority.KeyUsage = true, x509.KeyUsageCertSign
	authorityKey := writeCertificate(t, dir, "ca", &authority, &authority, nil)
	leaf := template
	leaf.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	writeCertificate(t, dir, "server", &leaf, &authority, authorityKey)
	writeCertificate(t, dir, "controller", &template, &authority, authorityKey)
}

// writeCertificate writes NAME.pem and NAME.key, signed by the key of a parent, or its own if that is nil.
func writeCertificate(t *testing.T, dir, name string, c, parent *x509.Certificate, by *ecdsa.PrivateKey) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if by == nil {
		by = key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writeText(t, filepath.Join(dir, name+".pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	writeText(t, filepath.Join(dir, name+".key"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	return key
}

// newNkey makes a user's key.
func newNkey(t *testing.T) (seed, public string) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	secret, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	if public, err = pair.PublicKey(); err != nil {
		t.Fatal(err)
	}
	return string(secret), public
}

// writeText writes a file, with words replaced as strings.NewReplacer does.
func writeText(t *testing.T, path, text string, replace ...string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.NewReplacer(replace...).Replace(text)), 0o600); err != nil {
		t.Fatal(err)
	}
}
