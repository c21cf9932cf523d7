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
	"net/netip"
	"sync"
	"time"
)

const (
	// maxConnections of all addresses together: a mesh of some thousand hosts.
	maxConnections = 8192
	// maxFromAddress leaves room for the hosts behind one NAT, and takes from one address the means to keep out all others.
	maxFromAddress = 512
	// doorBuffer is carried at once, each way. It is held for each connection.
	doorBuffer = 16 << 10
	// maxInfo in bytes is above what a NATS server says of itself.
	maxInfo = 4 << 10
)

// door is the port that agents come to: it counts connections, by address and in all, before anything is spent on them, does
// TLS, and joins each to the NATS server in this process.
type door struct {
	listener net.Listener
	tls      *tls.Config
	dial     Dial
	log      *slog.Logger
	refused  tally
	all      int // at most
	each     int // of one address, at most

	mu    sync.Mutex
	open  map[net.Conn]netip.Prefix
	from  map[netip.Prefix]int
	group sync.WaitGroup
}

func newDoor(listener net.Listener, c *tls.Config, dial Dial, log *slog.Logger) *door {
	return &door{listener: listener, tls: c, dial: dial, log: log, all: maxConnections, each: maxFromAddress,
		open: map[net.Conn]netip.Prefix{}, from: map[netip.Prefix]int{}}
}

// serve lets connections in until the door is closed.
func (d *door) serve() {
	for {
		c, err := d.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as too many open files: what is open goes on
			d.refused.log(d.log, "message server: cannot take a connection", "error", err)
			time.Sleep(acceptAgain)
			continue
		}
		if err := d.enter(c); err != nil {
			d.refused.log(d.log, "message server: connection refused", "from", c.RemoteAddr(), "why", err)
			c.Close()
			continue
		}
		go d.carry(c)
	}
}

// acceptAgain is how long to wait after a connection could not be taken.
const acceptAgain = 50 * time.Millisecond

// enter counts a connection, or says why it is one too many.
func (d *door) enter(c net.Conn) error {
	from := network(c.RemoteAddr())
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case len(d.open) >= d.all:
		return fmt.Errorf("%d connections are open, as many as may be", len(d.open))
	case d.from[from] >= d.each:
		return fmt.Errorf("%d connections of %v are open, as many as may be of one address", d.from[from], from)
	}
	d.open[c] = from
	d.from[from]++
	d.group.Add(1)
	return nil
}

func (d *door) leave(c net.Conn) {
	c.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	from := d.open[c]
	delete(d.open, c)
	if d.from[from]--; d.from[from] == 0 {
		delete(d.from, from)
	}
	d.group.Done()
}

// network is who counts as one: an IPv4 address, or the /64 of an IPv6 one, which a host has for itself.
func network(a net.Addr) netip.Prefix {
	from, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Prefix{}
	}
	address, bits := from.Addr().Unmap().WithZone(""), 64
	if address.Is4() {
		bits = 32
	}
	p, _ := address.Prefix(bits) // the bits fit the family
	return p
}

// carry joins a connection to the server until either ends.
func (d *door) carry(c net.Conn) {
	defer d.leave(c)
	in, err := d.dial(context.Background())
	if err != nil {
		return // the server ends
	}
	defer in.Close()
	secure, from, err := d.greet(c, in)
	if err != nil {
		d.log.Debug("message server: no handshake", "from", c.RemoteAddr(), "error", err)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		copyUntil(in, secure)
		in.Close()
	}()
	copyUntil(patient{secure}, from)
	c.Close()
	<-done
}

// greet passes on what the server says of itself, as NATS has it before TLS begins, and begins TLS. The server in this
// process thinks that it needs none.
func (d *door) greet(c, in net.Conn) (secure net.Conn, from io.Reader, err error) {
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
	s := tls.Server(c, d.tls)
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

// patient gives a peer that takes nothing as long as the server in this process does.
type patient struct{ net.Conn }

func (p patient) Write(b []byte) (int, error) {
	if err := p.SetWriteDeadline(time.Now().Add(handshakeTime)); err != nil {
		return 0, err
	}
	return p.Conn.Write(b)
}

func copyUntil(to io.Writer, from io.Reader) {
	// Plain Reader and Writer, so that the buffer is the one that is given.
	_, _ = io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, doorBuffer))
}

// close ends the door with all connections, and returns when nothing of it runs.
func (d *door) close() {
	d.listener.Close()
	d.mu.Lock()
	for c := range d.open {
		c.Close()
	}
	d.mu.Unlock()
	d.group.Wait()
}
