package admission

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// Connections counts the open connections of a server, in all and by network.
type Connections struct {
	count *Count

	mu   sync.Mutex
	open map[net.Conn]netip.Addr
}

// NewConnections returns a count of connections, of which none is open yet.
func NewConnections(l Limits) *Connections {
	return &Connections{count: NewCount(l), open: map[net.Conn]netip.Addr{}}
}

// Enter counts a connection if the limits let it in, as Count.Take does. One that was let in counts until Leave.
func (c *Connections) Enter(conn net.Conn) (in bool, err error) {
	from := addressOf(conn)
	if in, err = c.count.Take(from); in {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open[conn] = from
	}
	return in, err
}

// Leave makes room for another connection where this one was: to be called when a connection that Enter let in is closed. Of one that
// has left already, or was not let in, nothing is counted.
func (c *Connections) Leave(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if from, in := c.open[conn]; in {
		delete(c.open, conn)
		c.count.GiveBack(from)
	}
}

// Now returns how many connections are open.
func (c *Connections) Now() int { return c.count.Now() }

// Close closes all open connections. They count until Leave is called for each.
func (c *Connections) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		_ = conn.Close()
	}
}

// WithWriteTimeout returns a connection on which a write fails when it takes longer than the timeout, as to a peer that reads nothing.
func WithWriteTimeout(conn net.Conn, timeout time.Duration) net.Conn { return timedConn{conn, timeout} }

type timedConn struct {
	net.Conn
	timeout time.Duration
}

func (c timedConn) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}
