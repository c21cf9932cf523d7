package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/netip"
	"time"
)

// dialApp opens a connection to a service, and notes what that took.
func dialApp(ctx context.Context, to netip.AddrPort, a *appAnswer) (conn net.Conn, began time.Time, err error) {
	began = time.Now()
	conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", to.String())
	a.connect = time.Since(began)
	return conn, began, err
}

// appCertificate is what the certificate of a server says, for this host.
type appCertificate struct {
	expires time.Time
	fault   string // why it would not be trusted; "": it is
}

// secureAs does the handshake of TLS as a client of a name. A certificate that is not to be trusted ends nothing: no secret is sent, and what is
// wrong with it is what was asked.
func (a *appAnswer) secureAs(ctx context.Context, conn net.Conn, name string, roots *x509.CertPool) (*tls.Conn, error) {
	began := time.Now()
	secret := tls.Client(conn, &tls.Config{ServerName: name, NextProtos: []string{"http/1.1"}, InsecureSkipVerify: true})
	if err := secret.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	a.secure = time.Since(began)
	a.certificate = judgeCertificate(secret.ConnectionState().PeerCertificates, name, roots)
	return secret, nil
}

// judgeCertificate verifies a server's chain of certificates, its own first; nil of none.
func judgeCertificate(chain []*x509.Certificate, name string, roots *x509.CertPool) *appCertificate {
	if len(chain) == 0 {
		return nil
	}
	c := &appCertificate{expires: chain[0].NotAfter}
	between := x509.NewCertPool()
	for _, one := range chain[1:] {
		between.AddCert(one)
	}
	if _, err := chain[0].Verify(x509.VerifyOptions{DNSName: name, Roots: roots, Intermediates: between}); err != nil {
		c.fault = err.Error()
	}
	return c
}

// tlsScheme opens a connection and does the handshake of TLS. The round trip is of both. A completed handshake is an answer, whatever the
// certificate is worth.
func tlsScheme() appScheme {
	return appScheme{name: schemeTLS, port: portHTTPS, takes: []string{"name"}, ahead: 1500, back: 5500,
		remedy: "does a server that speaks TLS listen there?", service: func(p App) (appService, error) { return tlsService{p.Name, p.Roots}, nil }}
}

const schemeTLS = "tls"

type tlsService struct {
	name  string
	roots *x509.CertPool
}

func (s tlsService) exchange(ctx context.Context, to netip.AddrPort) (a appAnswer, err error) {
	conn, began, err := dialApp(ctx, to, &a)
	if err != nil {
		return a, err
	}
	defer conn.Close()
	secret, err := a.secureAs(ctx, conn, s.name, s.roots)
	if err != nil {
		return a, err
	}
	a.rtt, a.said = time.Since(began), tls.VersionName(secret.ConnectionState().Version)
	return a, nil
}
