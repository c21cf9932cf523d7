package iperf3

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// authKey is a key for all tests: making one takes a while.
var authKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// A password with a space is more than iperf3 3.12 reads.
const authName, authPassword = "ann", "correct-horse"

// usersFile is a file of users with one.
func usersFile() string {
	hash := passwordHash(authName, authPassword)
	return authName + "," + hex.EncodeToString(hash[:]) + "\n"
}

func serverAuth(t *testing.T) *ServerAuth {
	t.Helper()
	users, err := ReadUsers(strings.NewReader("# who may test\n\n" + usersFile()))
	if err != nil {
		t.Fatal(err)
	}
	return &ServerAuth{Key: authKey(), Users: users}
}

func TestTokens(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for name, c := range map[string]struct {
		auth ClientAuth
		at   time.Time
		want bool
	}{
		"OAEP":           {ClientAuth{Username: authName, Password: authPassword}, now, true},
		"PKCS1":          {ClientAuth{Username: authName, Password: authPassword, PKCS1: true}, now, true},
		"wrong password": {ClientAuth{Username: authName, Password: "x"}, now, false},
		"unknown":        {ClientAuth{Username: "bob", Password: authPassword}, now, false},
		"another's hash": {ClientAuth{Username: "an", Password: "n" + authPassword}, now, false},
		"late":           {ClientAuth{Username: authName, Password: authPassword}, now.Add(11 * time.Second), false},
		"early":          {ClientAuth{Username: authName, Password: authPassword}, now.Add(-11 * time.Second), false},
		"nearly late":    {ClientAuth{Username: authName, Password: authPassword}, now.Add(9 * time.Second), true},
	} {
		c.auth.Key = &authKey().PublicKey
		token, err := c.auth.token(now)
		if err != nil {
			t.Fatal(err)
		}
		server := serverAuth(t)
		if got := server.admits(token, c.at); got != c.want {
			t.Errorf("%s: admitted %v, want %v", name, got, c.want)
		}
		if server.admits(token, c.at) {
			t.Errorf("%s: the same token is admitted twice", name)
		}
	}
	for _, token := range []string{"", "x", strings.Repeat("A", 344)} {
		if serverAuth(t).admits(token, now) {
			t.Errorf("%q is admitted", token)
		}
	}
}

func TestReadUsers(t *testing.T) {
	for _, text := range []string{"ann", "ann,12", ",", "ann," + strings.Repeat("z", 64)} {
		if users, err := ReadUsers(strings.NewReader(text)); err == nil {
			t.Errorf("%q is read as %v", text, users)
		}
	}
	if _, err := ReadPublicKey([]byte("x")); err == nil {
		t.Error("a public key of an x")
	}
	if _, err := ReadPrivateKey([]byte("x")); err == nil {
		t.Error("a private key of an x")
	}
}

func FuzzToken(f *testing.F) {
	f.Add("user: ann\npwd:  x\nts:   5")
	f.Fuzz(func(t *testing.T, text string) {
		a := ServerAuth{Key: authKey()}
		if a.knows(text, time.Unix(5, 0)) {
			t.Errorf("%q is somebody", text)
		}
	})
}

// Whoever does not show name and password is told so; whoever does tests, with either padding.
func TestAuthentication(t *testing.T) {
	addr := serve(t, Policy{Auth: serverAuth(t)})
	login := func(password string, pkcs1 bool) *ClientAuth {
		return &ClientAuth{Username: authName, Password: password, Key: &authKey().PublicKey, PKCS1: pkcs1}
	}
	for _, pkcs1 := range []bool{false, true} {
		run(t, addr, Config{Bytes: 1000, Auth: login(authPassword, pkcs1)})
	}
	for _, auth := range []*ClientAuth{nil, login("x", false)} {
		_, err := (&Client{Addr: addr, Config: Config{Bytes: 1000, Auth: auth}}).Run(t.Context())
		var refused *PeerError
		if !errors.As(err, &refused) || refused.Code != codeUnauthorized {
			t.Errorf("%v: %v, want that it is not authorized", auth, err)
		}
	}
}

// keyFiles writes both halves of the key and the users, as a stock iperf3 wants them.
func keyFiles(t *testing.T) (private, public, users string) {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(&authKey().PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string][]byte{
		"private": pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(authKey())}),
		"public":  pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}),
		"users":   []byte(usersFile()),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "private"), filepath.Join(dir, "public"), filepath.Join(dir, "users")
}

func TestAuthenticationOfStockClient(t *testing.T) {
	_, public, _ := keyFiles(t)
	addr := serve(t, Policy{Auth: serverAuth(t)})
	t.Setenv("IPERF3_PASSWORD", authPassword)
	r, status := stockClient(t, addr, "-n", "1M", "--username", authName, "--rsa-public-key-path", public)
	if status != 0 || r.Error != "" {
		t.Errorf("status %d, error %q", status, r.Error)
	}
	t.Setenv("IPERF3_PASSWORD", "x")
	if r, _ := stockClient(t, addr, "-n", "1M", "--username", authName, "--rsa-public-key-path", public); !strings.Contains(r.Error, "authorization failed") {
		t.Errorf("with a wrong password it says %q", r.Error)
	}
}

func TestAuthenticationAtStockServer(t *testing.T) {
	private, public, users := keyFiles(t)
	text, err := os.ReadFile(public)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ReadPublicKey(text)
	if err != nil {
		t.Fatal(err)
	}
	addr, _ := stockServer(t, "--rsa-private-key-path", private, "--authorized-users-path", users)
	admitted := 0
	for _, pkcs1 := range []bool{true, false} { // a version knows one of the two
		auth := &ClientAuth{Username: authName, Password: authPassword, Key: key, PKCS1: pkcs1}
		eventually(t, func() error {
			_, err := (&Client{Addr: addr, Config: Config{Bytes: 100_000, Auth: auth}}).Run(t.Context())
			var refused *PeerError
			if errors.As(err, &refused) && refused.Code == codeUnauthorized {
				return nil
			}
			if err == nil {
				admitted++
			}
			return starting(err)
		})
	}
	if admitted != 1 {
		t.Errorf("%d of two paddings were admitted, want 1", admitted)
	}
}
