package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"
)

// connect dials the host, makes sure that it is the one that is known, and logs in.
func (s *SSH) connect(ctx context.Context) (*ssh.Client, error) {
	address := s.Address
	if _, _, err := net.SplitHostPort(address); err != nil {
		address = net.JoinHostPort(strings.Trim(address, "[]"), "22")
	}
	known, err := knownhosts.New(s.KnownHosts...)
	if err != nil {
		return nil, fmt.Errorf("read known hosts: %w", err)
	}
	signers, done, err := s.signers(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	conn, err := (&net.Dialer{Timeout: handshakeTime}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("connect to %s by SSH: %w", s.Host, err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if err := conn.SetDeadline(time.Now().Add(2 * handshakeTime)); err != nil { // it takes some six round trips
		conn.Close()
		return nil, err
	}
	var shown ssh.PublicKey
	c, channels, requests, err := ssh.NewClientConn(conn, address, &ssh.ClientConfig{
		User: s.User,
		Auth: []ssh.AuthMethod{ssh.PublicKeys(signers...)},
		HostKeyCallback: func(name string, remote net.Addr, key ssh.PublicKey) error {
			shown = key
			return known(name, remote, key)
		},
		HostKeyAlgorithms: algorithms(known, address, conn.RemoteAddr()),
	})
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("connect to %s by SSH: %w", s.Host, s.explain(err, address, shown, signers))
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		conn.Close()
		return nil, err
	}
	return ssh.NewClient(c, channels, requests), nil
}

// signers reads the private keys. done ends what the ssh-agent needs, after the handshake.
func (s *SSH) signers(ctx context.Context) (all []ssh.Signer, done func(), err error) {
	for _, file := range s.Keys {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, nil, fmt.Errorf("read SSH key: %w", err)
		}
		key, err := ssh.ParsePrivateKey(data)
		var locked *ssh.PassphraseMissingError
		if errors.As(err, &locked) {
			return nil, nil, input.Errorf("ssh: keys: %s has a passphrase: add it to an ssh-agent, or name a key without", file)
		}
		if err != nil {
			return nil, nil, input.Errorf("ssh: keys: %s: %v", file, err)
		}
		all = append(all, key)
	}
	if s.Agent == "" {
		return all, func() {}, nil
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", s.Agent)
	if err != nil {
		return nil, nil, fmt.Errorf("ask ssh-agent: %w", err)
	}
	more, err := agent.NewClient(conn).Signers()
	if err != nil {
		conn.Close()
		return nil, nil, fmt.Errorf("ask ssh-agent: %w", err)
	}
	return append(all, more...), func() { conn.Close() }, nil
}

// algorithms are those of the keys that are known of a host, so that it shows one of these and not another that it has
// as well; nil for a host that is not known.
func algorithms(known ssh.HostKeyCallback, address string, remote net.Addr) (all []string) {
	var key *knownhosts.KeyError
	if !errors.As(known(address, remote, noKey{}), &key) {
		return nil
	}
	for _, w := range key.Want {
		if t := w.Key.Type(); t == ssh.KeyAlgoRSA {
			all = append(all, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
		} else {
			all = append(all, t)
		}
	}
	return all
}

// noKey is no host's key: asking for it tells which are known.
type noKey struct{}

func (noKey) Type() string                        { return "none" }
func (noKey) Marshal() []byte                     { return []byte("none") }
func (noKey) Verify([]byte, *ssh.Signature) error { return io.ErrUnexpectedEOF }

// explain adds to an error of the handshake what its reader can do. shown is the key that the host showed, if it came so
// far.
func (s *SSH) explain(err error, address string, shown ssh.PublicKey, signers []ssh.Signer) error {
	var unknown *knownhosts.KeyError
	var revoked *knownhosts.RevokedError
	switch {
	case errors.As(err, &revoked):
		return fmt.Errorf("%w: its key is marked as revoked", err)
	case errors.As(err, &unknown) && len(unknown.Want) > 0:
		w := unknown.Want[0]
		return fmt.Errorf("the host key is not the known one: either somebody is between, or the host has a new key; "+
			"if its owner says that it is %s, put it in place of line %d of %s: %w",
			ssh.FingerprintSHA256(shown), w.Line, w.Filename, err)
	case errors.As(err, &unknown):
		return fmt.Errorf("the host key is not known; if its owner says that it is %s, add this line to %s: %s: %w",
			ssh.FingerprintSHA256(shown), s.KnownHosts[0], knownhosts.Line([]string{address}, shown), err)
	case strings.Contains(err.Error(), "unable to authenticate"): // the library has no type for it
		offered := make([]string, len(signers))
		for i, k := range signers {
			offered[i] = ssh.FingerprintSHA256(k.PublicKey())
		}
		return fmt.Errorf("permission denied to %s: add one of these keys to authorized_keys there: %s: %w",
			s.User, strings.Join(offered, " "), err)
	}
	return err
}

// newSession opens a session on a connection. The end of ctx, or of the connection, gives it up: x/crypto/ssh waits without end for the answer
// to a request that it sends just after it has told all sessions of the end.
func newSession(ctx context.Context, client *ssh.Client) (*ssh.Session, error) {
	type answer struct {
		session *ssh.Session
		err     error
	}
	answers, lost := make(chan answer, 1), make(chan struct{})
	go func() { // ends with the answer
		session, err := client.NewSession()
		answers <- answer{session, err}
	}()
	go func() { // ends with the connection
		_ = client.Wait() // whatever for
		close(lost)
	}()
	select {
	case a := <-answers:
		return a.session, a.err
	case <-lost:
		return nil, errConnectionLost
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

var errConnectionLost = errors.New("the connection is lost")
