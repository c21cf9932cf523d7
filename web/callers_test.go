package web

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/account"
)

func (b *bench) token(name string) string {
	b.t.Helper()
	scopes := []account.Scope{account.Read, account.Run}
	token, err := b.Accounts.NewToken(account.Actor{Identity: account.Owner()}, account.TokenSpec{Name: name, Scopes: scopes})
	if err != nil {
		b.t.Fatal(err)
	}
	return token
}

// Who has a token gets what the mesh file says; every refusal is one line, with a status of its own.
func TestCallers(t *testing.T) {
	b := newBench(t)
	alice, bob, carol := b.token("alice"), b.token("bob"), b.token("carol")
	b.run()
	closed := b.serve(b.Handler(public))
	as := func(token string) []string { return []string{"Authorization", "Bearer " + token} }
	for _, c := range []struct {
		headers []string
		body    string
		want    int
		has     string
	}{
		{nil, rtt, 401, "or a token"},
		{as("wrong"), rtt, 401, "no such token"},
		{as(""), rtt, 401, "no such token"},
		{[]string{"Authorization", "Basic " + alice}, rtt, 401, "or a token"},
		{as(bob), rtt, 403, `caller: \"bob from 127.0.0.1\": want one to whom controller.callers`},
		{as(alice), `{"source": "a", "target": "b", "tool": "throughput"}`, 403, `class staff: tools: \"throughput\": want one of rtt, trace`},
		{as(carol), rtt, 429, "class little: daily_bytes"},
		{as(alice), `{"source": "a"}`, 422, `target`},
		{as(alice), `{"source": "nobody", "target": "b", "tool": "rtt"}`, 422, "a host of the mesh"},
	} {
		b.expect(http.MethodPost, "/api/v1/runs", c.body, c.want, c.has, c.headers...)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answer := b.call(ctx, http.MethodPost, "/api/v1/runs", rtt, as(alice)...)
	defer answer.Body.Close()
	lines := json.NewDecoder(answer.Body)
	var line RunLine
	if err := lines.Decode(&line); err != nil || line.Begins == nil {
		t.Fatalf("%s: %+v, %v", answer.Status, line, err)
	}
	b.expect(http.MethodPost, "/api/v1/runs", rtt, 429, `class staff: parallel: \"2\": want at most 1 at a time`, as(alice)...)
	close(b.hub.held)
	if _, err := io.Copy(io.Discard, io.MultiReader(lines.Buffered(), answer.Body)); err != nil {
		t.Error(err)
	}
	if err := closed(); err != nil {
		t.Error(err)
	}
	for _, token := range []string{alice, bob, carol} {
		if strings.Contains(b.said.String(), token) {
			t.Error("a token is in the log")
		}
	}
	if n := strings.Count(b.said.String(), " denied"); n != 9 {
		t.Errorf("%d denials are logged, want 9:\n%s", n, b.said)
	}
	if n := strings.Count(b.said.String(), "test accepted"); n != 1 || !strings.Contains(b.said.String(), "caller=alice from=127.0.0.1") {
		t.Errorf("%d tests are logged as accepted, want 1:\n%s", n, b.said)
	}
}

// What is made is in the audit log, and what is denied; what could not be is not. What cannot be written down is not made.
func TestTestsAreNoted(t *testing.T) {
	b := newBench(t)
	close(b.hub.held)
	b.run()
	b.serve(b.Handler(public))
	alice := []string{"Authorization", "Bearer " + b.token("alice")}
	b.expect(http.MethodPost, "/api/v1/runs", `{"source": "nobody", "target": "b", "tool": "rtt"}`, 422, "", alice...)
	b.expect(http.MethodPost, "/api/v1/runs", `{"source": "a", "target": "b", "tool": "throughput"}`, 403, "", alice...)
	b.expect(http.MethodPost, "/api/v1/runs", rtt, 200, `"result":`, alice...)
	page, err := b.Accounts.Audit("", 10)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range page.Entries {
		if e.Who == "alice" {
			got = append(got, e.What+" "+e.On+": "+e.Outcome)
		}
	}
	if want := []string{"run rtt from a to b: asked", "run throughput from a to b: denied"}; !slices.Equal(got, want) {
		t.Errorf("the audit log has %q, want %q", got, want)
	}
	log := filepath.Join(b.folder, "audit")
	if err := errors.Join(os.RemoveAll(log), os.WriteFile(log, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	_, text, _ := b.ask(http.MethodPost, "/api/v1/runs", rtt, alice...)
	if !strings.Contains(text, `"error":"write down who asks`) || strings.Contains(text, `"progress"`) {
		t.Errorf("without a log: %s", text)
	}
}

// Where others can listen in, no token is looked at.
func TestNoTokenInTheOpen(t *testing.T) {
	b := newBench(t)
	b.run()
	b.serve(fromFar(b.Handler(Listener{Public: anybody})))
	b.expect(http.MethodPost, "/api/v1/runs", rtt, 403, "want HTTPS", "Authorization", "Bearer "+b.token("alice"))
	b.expect(http.MethodGet, "/api/v1/health", "", 200, "ok")
}

// HTTPS speaks with the certificate that is on disk, also after that was renewed, and keeps the last one if that fails.
func TestTLS(t *testing.T) {
	b := newBench(t)
	file, key := filepath.Join(b.folder, "tls.crt"), filepath.Join(b.folder, "tls.key")
	if _, err := TLS(file, key, b.Log); err == nil || !strings.Contains(err.Error(), "tls.crt") {
		t.Errorf("without a certificate: %v", err)
	}
	serial := int64(0)
	renew := func() {
		t.Helper()
		serial++
		makeCertificate(t, file, key, serial)
	}
	renew()
	settings, err := TLS(file, key, b.Log)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.serveOn(tls.NewListener(l, settings), "https", b.Handler(public))
	expect := func() {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(b.folder, "known.crt"))
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(text)
		client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}}
		answer, err := client.Get(b.url + "/api/v1/health")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if got := answer.TLS.PeerCertificates[0].SerialNumber.Int64(); got != serial || answer.StatusCode != http.StatusOK {
			t.Errorf("certificate %d, %s; want %d", got, answer.Status, serial)
		}
	}
	expect()
	renew()
	expect()
	if err := os.WriteFile(file, []byte("spoilt"), 0o600); err != nil {
		t.Fatal(err)
	}
	expect()
	expect()
	if n := strings.Count(b.said.String(), "last certificate stays"); n != 1 {
		t.Errorf("it is logged %d times that the certificate cannot be read", n)
	}
}

// makeCertificate writes a certificate of 127.0.0.1 that signs itself, and a copy of it as known.crt.
func makeCertificate(t *testing.T, file, key string, serial int64) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "test"}, IsCA: true,
		BasicConstraintsValid: true, NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	public, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	crt := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: public})
	for path, text := range map[string][]byte{
		file: crt, key: pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}),
		filepath.Join(filepath.Dir(file), "known.crt"): crt,
	} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		written := time.Now().Add(time.Duration(serial) * time.Second) // not all file systems tell apart what is quick
		if err := os.Chtimes(path, written, written); err != nil {
			t.Fatal(err)
		}
	}
}
