package fleet

import (
	"bufio"
	"context"
	"net"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/admission"
)

// knock connects from an address and says whether it is let in: the server greets, or it closes.
func knock(t *testing.T, from, to string) (net.Conn, bool) {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := d.DialContext(within(t), "tcp", to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(c).ReadString('\n')
	return c, line != ""
}

// Silent connections of one address take that address's share of the port, and all addresses' together leave the server
// within its bound; who leaves makes room.
func TestConnectionsAreBounded(t *testing.T) {
	m := &mesh{keys: testKeyring(t), archive: newTestArchive()}
	s, credentials := testServer(t, m.keys, "127.0.0.1:0", []string{"ucl"}, func(c *ServerConfig) { c.limits = admission.Limits{All: 6, Each: 3} })
	m.serve(t, HubConfig{Keys: m.keys, Server: s, Log: testLog(t)})
	to := s.Addr().String()
	var open []net.Conn
	try := func(from string, want bool) {
		t.Helper()
		c, got := knock(t, from, to)
		if got != want {
			t.Errorf("a connection from %s let in: %v, want %v", from, got, want)
		}
		open = append(open, c)
	}
	for _, let := range []bool{true, true, true, false, false} {
		try("127.0.0.2", let)
	}
	startAgent(t, LinkConfig{Credentials: credentials["ucl"], Log: testLog(t)}) // from 127.0.0.1
	m.archive.until(t, "a host of another address is there", func() bool { return m.archive.status["ucl"].Host != "" })
	for _, let := range []bool{true, true, false} { // six in all
		try("127.0.0.3", let)
	}
	open[0].Close()
	waitFor(t, "the server notices", func() bool {
		return s.entry.open.Now() == 5
	})
	try("127.0.0.2", true)
}

// The entry ends with its server, whatever is open.
func TestEntryEnds(t *testing.T) {
	k := testKeyring(t)
	ctx, cancel := context.WithCancel(t.Context())
	s, err := StartServer(ctx, ServerConfig{Keys: k, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	c, _ := knock(t, "127.0.0.1", s.Addr().String())
	cancel()
	s.Close()
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("a connection goes on")
	}
}
