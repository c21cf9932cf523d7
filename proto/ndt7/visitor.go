package ndt7

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// visitor is a connection that came to a Server, until it is closed and what was done for it is over.
type visitor struct {
	net.Conn
	first []byte                   // was read of it already
	syn   func() (sock.SYN, error) // that it began with

	once  sync.Once
	ended chan struct{}
}

// tlsRecord is the first byte of a TLS connection (RFC 8446, 5.1: content type handshake), and of no HTTP request.
const tlsRecord = 22

// greet finds out whether a connection speaks TLS or HTTP, hands it to the HTTP server, and returns when that is done with it.
func (s *Server) greet(ctx context.Context, conn net.Conn) {
	v := &visitor{Conn: conn, first: make([]byte, 1), ended: make(chan struct{}),
		syn: sync.OnceValues(func() (sock.SYN, error) { return sock.SavedSYN(conn) })} // the kernel tells it once
	_ = conn.SetReadDeadline(time.Now().Add(s.Policy.Idle))
	if _, err := conn.Read(v.first); err != nil {
		return
	}
	if v.first[0] == '{' && s.Lines != nil {
		_ = conn.SetReadDeadline(time.Time{})
		s.Lines(ctx, v)
		return
	}
	if c := v.first[0]; s.Plain != nil && c != tlsRecord && (c < 'A' || c > 'Z') { // methods of HTTP are in capitals
		s.plainly(v)
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	var served net.Conn = v
	if v.first[0] == tlsRecord && s.tls != nil {
		served = tls.Server(v, s.tls)
	}
	if s.handed.give(served) {
		<-v.ended
	}
}

// Who speaks neither TLS nor HTTP is written to and closed: a person with netcat has sent a line, of which no more than mostLine is awaited.
const (
	plainTimeout = time.Second
	mostLine     = 4096
)

func (s *Server) plainly(v *visitor) {
	syn, err := v.syn()
	if err != nil {
		return
	}
	_ = v.SetDeadline(time.Now().Add(plainTimeout))
	_, _ = io.WriteString(v.Conn, s.Plain(syn)) // to who may be gone
	_ = v.Conn.(*net.TCPConn).CloseWrite()
	_, _ = io.CopyN(io.Discard, v.Conn, mostLine) // what is unread when a connection closes would reset it, and take the text with it
}

// SYNOf is what the connection began with that a request to a page came by.
func SYNOf(r *http.Request) (sock.SYN, error) {
	v, is := r.Context().Value(visitorKey{}).(*visitor)
	if !is {
		return sock.SYN{}, errors.ErrUnsupported
	}
	return v.syn()
}

// SYNOfLines is what the connection began with that Server.Lines has to serve.
func SYNOfLines(conn net.Conn) (sock.SYN, error) {
	v, is := conn.(*visitor)
	if !is {
		return sock.SYN{}, errors.ErrUnsupported
	}
	return v.syn()
}

// Read reads what came first, and then what comes.
func (v *visitor) Read(p []byte) (int, error) {
	if len(v.first) > 0 {
		n := copy(p, v.first)
		v.first = v.first[n:]
		return n, nil
	}
	return v.Conn.Read(p)
}

// end says that nothing more is done for a visitor.
func (v *visitor) end() { v.once.Do(func() { close(v.ended) }) }

// visitorOf is the visitor whose connection the HTTP server has.
func visitorOf(conn net.Conn) *visitor {
	if secure, is := conn.(*tls.Conn); is {
		conn = secure.NetConn()
	}
	return conn.(*visitor) // it gets no others
}

type visitorKey struct{}

func keepVisitor(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, visitorKey{}, visitorOf(conn))
}

// noteClosed ends a visitor whose connection was closed by the HTTP server. One that is a WebSocket is ended by who made it that.
func noteClosed(conn net.Conn, state http.ConnState) {
	if state == http.StateClosed {
		visitorOf(conn).end()
	}
}

// handover is the listener of the HTTP server: its connections are those that are given to it.
type handover struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

// give hands a connection over. It reports whether that was taken.
func (h *handover) give(conn net.Conn) bool {
	select {
	case h.conns <- conn:
		return true
	case <-h.closed:
		return false
	}
}

func (h *handover) Accept() (net.Conn, error) {
	select {
	case conn := <-h.conns:
		return conn, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

func (h *handover) Close() error   { h.once.Do(func() { close(h.closed) }); return nil }
func (h *handover) Addr() net.Addr { return &net.TCPAddr{} }
