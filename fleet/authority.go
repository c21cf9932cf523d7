package fleet

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"github.com/pathwise-net/pathwise/durable"
	"github.com/pathwise-net/pathwise/input"
)

// authority is the certificate authority of one controller. It signs that controller's server and nothing else, and
// agents trust it and nothing else: neither names nor dates decide, the key does.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

// serverName is in the certificate of every embedded server: agents ask for it whatever address they dial.
const serverName = "pathwise-controller"

// The certificates are valid whatever a host's clock says: one without a battery starts in the past, and has to reach
// the controller before anybody can tell it the time.
var (
	notBefore = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	notAfter  = time.Date(2099, 12, 31, 0, 0, 0, 0, time.UTC)
)

func openAuthority(owner durable.Owner, folder string) (*authority, error) {
	certPath, keyPath := filepath.Join(folder, "ca.pem"), filepath.Join(folder, "ca.key")
	if _, err := os.Stat(certPath); errors.Is(err, fs.ErrNotExist) {
		if err := newAuthority(owner, certPath, keyPath); err != nil {
			return nil, fmt.Errorf("make certificate authority: %w", err)
		}
	}
	pair, err := tls.LoadX509KeyPair(certPath, keyPath)
	if err != nil {
		return nil, fmt.Errorf("read certificate authority in %s: %w", folder, err)
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("read certificate authority in %s: its key is %T, not ECDSA", folder, pair.PrivateKey)
	}
	return &authority{cert: pair.Leaf, key: key,
		pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Leaf.Raw})}, nil
}

// newAuthority writes the key first: a certificate on disk says that all is there.
func newAuthority(owner durable.Owner, certPath, keyPath string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Pathwise controller CA"},
		NotBefore: notBefore, NotAfter: notAfter,
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	if err := owner.Write(keyPath, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret})); err != nil {
		return err
	}
	return owner.Write(certPath, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// server makes the certificate of a server, anew at each of its starts, and the settings that go with it.
func (a *authority) server() (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make server's key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)) // RFC 5280 allows 20 octets
	if err != nil {
		return nil, fmt.Errorf("make server's certificate: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: serverName}, DNSNames: []string{serverName},
		NotBefore: notBefore, NotAfter: notAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("make server's certificate: %w", err)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		NextProtos: []string{joinProtocol}, // who asks for nothing, as agents do, speaks NATS
		// The authority goes along for those who know it by its hash alone.
		Certificates: []tls.Certificate{{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: key}},
	}, nil
}

// tlsConfig is how an agent knows its server; nil where it goes by the URL alone.
func (r *Reach) tlsConfig() (*tls.Config, error) {
	if r.CA == "" {
		return nil, nil
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(r.CA)) {
		return nil, input.Errorf("credentials: ca: no certificate in PEM")
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: r.ServerName}, nil
}
