package admission

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// Connections counts those that are open.
type Connections struct {
	count *Count

	mu   sync.Mutex
	open map[net.Conn]netip.Addr
}

// NewConnections counts from none.
func NewConnections(l Limits) *Connections {
	return &Connections{count: NewCount(l), open: map[net.Conn]netip.Addr{}}
}

// Enter counts a connection, as Take does. One that is in counts until it leaves.
func (c *Connections) Enter(conn net.Conn) (in bool, err error) {
	from := addressOf(conn)
	if in, err = c.count.Take(from); in {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open[conn] = from
	}
	return in, err
}

// Leave counts a connection no more. It may be called again, and with one that is not in.
func (c *Connections) Leave(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if from, in := c.open[conn]; in {
		delete(c.open, conn)
		c.count.GiveBack(from)
	}
}

// Now is how many are open.
func (c *Connections) Now() int { return c.count.Now() }

// Close closes all that are open; each still has to leave.
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
