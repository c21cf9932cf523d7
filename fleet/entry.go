package fleet

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pathwise-net/pathwise/admission"
)

const (
	// maxConnections of all addresses together: a mesh of some thousand hosts.
	maxConnections = 8192
	// maxFromAddress leaves room for the hosts behind one NAT, and takes from one address the means to keep out all others.
	maxFromAddress = 512
	// entryBuffer is carried at once, each way. It is held for each connection.
	entryBuffer = 16 << 10
	// maxInfo in bytes is above what a NATS server says of itself.
	maxInfo = 4 << 10
)

// entry is the port that agents come to: it counts connections, by address and in all, before anything is spent on them, does
// TLS, and joins each to the NATS server in this process.
type entry struct {
	listener net.Listener
	tls      *tls.Config
	dial     Dial
	log      *slog.Logger
	refused  tally
	open     *admission.Connections
	group    sync.WaitGroup
	joining  atomic.Pointer[Joining] // nil: no host joins by an invitation
	ended    chan struct{}           // closed when none is let in any more
}

func newEntry(listener net.Listener, c *tls.Config, dial Dial, log *slog.Logger, limits admission.Limits) *entry {
	return &entry{listener: listener, tls: c, dial: dial, log: log, ended: make(chan struct{}),
		open: admission.NewConnections(limits)}
}

// serve lets connections in until the entry is closed.
func (e *entry) serve() {
	defer close(e.ended)
	for {
		c, err := e.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as too many open files: what is open goes on
			e.refused.log(e.log, "message server: cannot take a connection", "error", err)
			time.Sleep(acceptAgain)
			continue
		}
		if _, err := e.open.Enter(c); err != nil {
			e.refused.log(e.log, "message server: connection refused", "from", c.RemoteAddr(), "why", err)
			c.Close()
			continue
		}
		e.group.Go(func() { e.carry(c) })
	}
}

// acceptAgain is how long to wait after a connection could not be taken.
const acceptAgain = 50 * time.Millisecond

// carry joins a connection to the server until either ends.
func (e *entry) carry(c net.Conn) {
	defer func() { c.Close(); e.open.Leave(c) }()
	in, err := e.dial(context.Background())
	if err != nil {
		return // the server ends
	}
	defer in.Close()
	secure, from, err := e.greet(c, in)
	if err != nil {
		e.log.Debug("message server: no handshake", "from", c.RemoteAddr(), "error", err)
		return
	}
	if secure.ConnectionState().NegotiatedProtocol == joinProtocol {
		in.Close()
		e.admit(secure)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		copyUntil(in, secure)
		in.Close()
	}()
	copyUntil(admission.WithWriteTimeout(secure, handshakeTime), from)
	c.Close()
	<-done
}

// greet passes on what the server says of itself, as NATS has it before TLS begins, and begins TLS. The server in this
// process thinks that it needs none.
func (e *entry) greet(c, in net.Conn) (secure *tls.Conn, from io.Reader, err error) {
	deadline := time.Now().Add(handshakeTime)
	if err := errors.Join(c.SetDeadline(deadline), in.SetReadDeadline(deadline)); err != nil {
		return nil, nil, err
	}
	r := bufio.NewReaderSize(in, maxInfo)
	line, err := r.ReadSlice('\n')
	if err != nil {
		return nil, nil, err
	}
	info, err := withTLS(line)
	if err != nil {
		return nil, nil, err
	}
	if _, err := c.Write(info); err != nil {
		return nil, nil, err
	}
	s := tls.Server(c, e.tls)
	if err := s.Handshake(); err != nil {
		return nil, nil, err
	}
	return s, r, errors.Join(c.SetDeadline(time.Time{}), in.SetReadDeadline(time.Time{}))
}

// withTLS makes the first line of a NATS server ask for TLS.
func withTLS(line []byte) ([]byte, error) {
	words, ok := bytes.CutPrefix(line, []byte("INFO "))
	var info map[string]json.RawMessage
	if err := json.Unmarshal(words, &info); !ok || err != nil {
		return nil, fmt.Errorf("read the server's greeting %.40q: %w", line, err)
	}
	info["tls_required"] = json.RawMessage("true")
	delete(info, "tls_available")
	out, err := json.Marshal(info)
	return append(append([]byte("INFO "), out...), "\r\n"...), err
}

func copyUntil(to io.Writer, from io.Reader) {
	// Plain Reader and Writer, so that the buffer is the one that is given.
	_, _ = io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, entryBuffer))
}

// close ends the listener and all connections that came by it, and returns when no goroutine of the entry runs.
func (e *entry) close() {
	e.listener.Close()
	<-e.ended // so that none is let in after those that are open were closed
	e.open.Close()
	e.group.Wait()
}
