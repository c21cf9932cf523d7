package fleet

import (
	"context"
	"errors"
	"testing"

	"golang.org/x/crypto/ssh"
)

// silentConn is a connection on which nobody answers requests for sessions, and which is over when lost is closed.
type silentConn struct {
	ssh.Conn
	lost chan struct{}
}

func (c silentConn) OpenChannel(string, []byte) (ssh.Channel, <-chan *ssh.Request, error) { select {} }

func (c silentConn) Wait() error { <-c.lost; return nil }

// A session that nobody answers for is given up with the connection, or with who asked for it.
func TestNewSessionIsGivenUp(t *testing.T) {
	over, lost := silentConn{lost: make(chan struct{})}, silentConn{lost: make(chan struct{})}
	close(lost.lost)
	defer close(over.lost)
	stopped, stop := context.WithCancelCause(t.Context())
	stop(errStopped)
	for _, c := range []struct {
		ctx  context.Context
		conn ssh.Conn
		want error
	}{{t.Context(), lost, errConnectionLost}, {stopped, over, errStopped}} {
		if _, err := newSession(c.ctx, ssh.NewClient(c.conn, nil, nil)); !errors.Is(err, c.want) {
			t.Errorf("got %v, want %v", err, c.want)
		}
	}
}

var errStopped = errors.New("stopped")
