package ndt7

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/sock"
)

// Keys of the query. Others are metadata, which the server passes over.
const (
	tokenKey      = "access_token"        // as the servers of Measurement Lab have it
	durationKey   = "pathwise_duration"   // of Pathwise: how long the test is to take, such as 2.5s
	congestionKey = "pathwise_congestion" // of Pathwise: congestion control of the server's end
	mostQuery     = 4096                  // bytes
)

// request is what a client asks for in its query.
type request struct {
	token      string
	duration   time.Duration // 0: it does not say
	congestion string
}

// parseRequest reads a query. The first of several values of a key counts.
func parseRequest(query string) (r request, err error) {
	if len(query) > mostQuery {
		return r, fmt.Errorf("a query of more than %d bytes", mostQuery)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return r, err
	}
	if text := values.Get(durationKey); text != "" {
		if r.duration, err = time.ParseDuration(text); err != nil || r.duration <= 0 {
			return r, fmt.Errorf("%s %q is no time", durationKey, text)
		}
	}
	r.token, r.congestion = values.Get(tokenKey), values.Get(congestionKey)
	return r, nil
}

// test answers a request for a test: it is refused, or is a WebSocket until the test is over.
func (s *Server) test(w http.ResponseWriter, r *http.Request, test string) {
	v := r.Context().Value(visitorKey{}).(*visitor)
	asked, err := parseRequest(r.URL.RawQuery)
	switch {
	case err != nil:
		http.Error(w, "query: "+err.Error(), http.StatusBadRequest)
		return
	case !slices.Equal(r.Header.Values("Sec-WebSocket-Protocol"), []string{Subprotocol}):
		http.Error(w, "want a WebSocket with the subprotocol "+Subprotocol, http.StatusBadRequest)
		return
	case asked.duration > s.Policy.Longest:
		http.Error(w, fmt.Sprintf("%s: a test takes at most %v here", durationKey, s.Policy.Longest), http.StatusBadRequest)
		return
	}
	if err := s.choose(v, asked.congestion); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !s.takePlace(r.Context(), asked.token) {
		s.Log.Info("ndt7 turned away", "client", v.RemoteAddr(), "test", test)
		w.Header().Set("Retry-After", fmt.Sprint(int(usualTest.Seconds())))
		http.Error(w, "busy with another test", http.StatusServiceUnavailable)
		return
	}
	defer func() { <-s.places }()
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{Subprotocol}})
	if err != nil {
		return // it has been answered
	}
	defer v.end()
	t := &serving{Server: s, ws: ws, visitor: v, name: test, began: time.Now(), lasts: cmp.Or(asked.duration, min(usualTest, s.Policy.Longest))}
	_, _ = rand.Read(t.id[:]) // never fails, as crypto/rand says
	err = t.do()
	s.Log.Info("ndt7 done", "client", v.RemoteAddr(), "test", test, "bytes", t.bytes.Load(), "error", err)
	if s.OnTest != nil {
		s.OnTest(Tested{Client: endpoint.AddrPort(v.RemoteAddr()), Bytes: t.bytes.Load(), Err: err})
	}
}

// choose sets the congestion control of a connection: what the client asks for, or the policy, or bbr where there is one.
func (s *Server) choose(v *visitor, asked string) error {
	name := cmp.Or(asked, s.Policy.Congestion)
	raw, err := v.Conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return err
	}
	if has, err := sock.AvailableCongestion(); err == nil && !slices.Contains(has, cmp.Or(name, "bbr")) {
		if name == "" {
			return nil
		}
		return fmt.Errorf("congestion control %q: this host has %v", name, has)
	}
	return sock.SetCongestion(raw, cmp.Or(name, "bbr"))
}

// sameSecret compares in a time that says nothing of where they differ.
func sameSecret(a, b string) bool {
	one, other := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(one[:], other[:]) == 1
}

// serving is one test at the server.
type serving struct {
	*Server
	ws      *websocket.Conn
	visitor *visitor
	name    string
	id      [8]byte
	began   time.Time // when the handshake was over
	lasts   time.Duration
	bytes   atomic.Int64 // of binary messages
}

// do makes the test and closes its connection. It returns no later than overtime after the test's time.
func (t *serving) do() error {
	defer time.AfterFunc(t.lasts+overtime, func() { t.visitor.Close() }).Stop()
	ctx, cancel := context.WithCancel(context.Background()) // the connection is closed when the server ends
	defer cancel()
	t.ws.SetReadLimit(mostMessage)
	read := make(chan error, 1)
	go func() { read <- t.read(ctx) }() // ends with the connection
	var err error
	if t.name == Download {
		err = t.send(ctx)
	} else {
		err = t.tell(ctx, read)
	}
	t.ending.Add(1)
	defer t.ending.Add(-1)
	if err == nil {
		_ = t.ws.Close(websocket.StatusNormalClosure, "") // a client that does not answer it has had its test
	}
	_ = t.ws.CloseNow() // so that read ends
	switch unread := <-read; {
	case errors.Is(unread, errUnexpected):
		return unread
	case endsTest(websocket.CloseStatus(unread)):
		return nil
	}
	return err
}

// endsTest reports whether a client that closes with a status has had what it wanted.
func endsTest(s websocket.StatusCode) bool {
	return s == websocket.StatusNormalClosure || s == websocket.StatusGoingAway || s == websocket.StatusNoStatusRcvd
}

// errUnexpected is of a client that sends data in a download.
var errUnexpected = errors.New("a binary message in a download")

// read takes what the client sends until the connection is closed. Text is for who wants it, and here nobody does.
func (t *serving) read(ctx context.Context) error {
	buffer := make([]byte, 256<<10)
	for {
		kind, message, err := t.ws.Reader(ctx)
		if err != nil {
			return err
		}
		if kind == websocket.MessageBinary && t.name == Download {
			t.visitor.Close()
			return errUnexpected
		}
		for {
			n, err := message.Read(buffer)
			if kind == websocket.MessageBinary {
				t.bytes.Add(int64(n))
			}
			if err != nil {
				break // of the message, or of the connection, which the next Reader says
			}
		}
	}
}

// send sends data and measurements until the test's time is over.
func (t *serving) send(ctx context.Context) error {
	next := t.began.Add(sayEvery)
	for size := firstMessage; ; {
		now := time.Now()
		if now.Sub(t.began) >= t.lasts {
			return t.say(ctx)
		}
		if !now.Before(next) {
			if err := t.say(ctx); err != nil {
				return err
			}
			next = now.Add(sayEvery)
		}
		if err := t.ws.Write(ctx, websocket.MessageBinary, t.payload[:size]); err != nil {
			return err
		}
		size = nextSize(size, t.bytes.Add(int64(size)))
	}
}

// tell sends measurements until the test's time is over, or what is read has ended.
func (t *serving) tell(ctx context.Context, read chan error) error {
	tick := time.NewTicker(sayEvery)
	defer tick.Stop()
	over := time.NewTimer(time.Until(t.began.Add(t.lasts)))
	defer over.Stop()
	for {
		select {
		case err := <-read:
			read <- err // for who waits for its end
			return err
		case <-over.C:
			return t.say(ctx)
		case <-tick.C:
			if err := t.say(ctx); err != nil {
				return err
			}
		}
	}
}

// say sends a measurement.
func (t *serving) say(ctx context.Context) error {
	m := Measurement{Origin: OriginServer, Test: t.name,
		AppInfo: &AppInfo{ElapsedTime: time.Since(t.began).Microseconds(), NumBytes: t.bytes.Load()},
		ConnectionInfo: &ConnectionInfo{Client: endpoint.AddrPort(t.visitor.RemoteAddr()).String(), Server: endpoint.AddrPort(t.visitor.LocalAddr()).String(),
			UUID: fmt.Sprintf("%x", t.id), StartTime: t.began.UTC().Format(time.RFC3339Nano)}}
	if info, err := sock.InfoOf(t.visitor.Conn); err == nil {
		m.TCPInfo = TCPInfoOf(info, time.Since(t.began))
	}
	text, err := Encode(m)
	if err != nil {
		return err
	}
	return t.ws.Write(ctx, websocket.MessageText, text)
}
