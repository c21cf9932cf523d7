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
	from := AddressOf(conn)
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

// Within ends each write to a connection whose peer takes nothing for so long.
func Within(conn net.Conn, silence time.Duration) net.Conn { return within{conn, silence} }

type within struct {
	net.Conn
	silence time.Duration
}

func (w within) Write(b []byte) (int, error) {
	if err := w.SetWriteDeadline(time.Now().Add(w.silence)); err != nil {
		return 0, err
	}
	return w.Conn.Write(b)
}
