package fleet

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"
)

// stallProxy is a network that can be cut: then it holds what it has and takes no more, and says nothing to anybody.
type stallProxy struct {
	net.Listener
	to  string
	mu  sync.Mutex
	cut chan struct{} // closed: the network is whole
}

func newStallProxy(t *testing.T, to string) *stallProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &stallProxy{Listener: l, to: to, cut: make(chan struct{})}
	close(p.cut)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.carry(t, c)
		}
	}()
	return p
}

func (p *stallProxy) set(whole bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if whole {
		close(p.cut)
	} else {
		p.cut = make(chan struct{})
	}
}

func (p *stallProxy) whole() chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut
}

func (p *stallProxy) carry(t *testing.T, c net.Conn) {
	<-p.whole()
	s, err := net.Dial("tcp", p.to)
	if err != nil {
		c.Close()
		return
	}
	context.AfterFunc(t.Context(), func() { c.Close(); s.Close() })
	go p.copy(c, s)
	p.copy(s, c)
}

func (p *stallProxy) copy(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		<-p.whole()
		if err != nil {
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

func TestNetworkCutAndReturn(t *testing.T) {
	t.Parallel()
	m := &mesh{keys: testKeyring(t), archive: newTestArchive()}
	s, credentials := testServer(t, m.keys, "127.0.0.1:0", []string{"ucl"})
	m.serve(t, HubConfig{Keys: m.keys, Server: s, Log: testLog(t)})
	p := newStallProxy(t, s.Addr().String())
	c := credentials["ucl"]
	c.Reach = m.keys.Embedded(p.Addr().String())
	l, err := NewLink(LinkConfig{Credentials: c, PingEvery: 500 * time.Millisecond, Log: testLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	a := newTestAgent("ucl", l)
	runAgent(t, a, l)
	m.plan(t, "ucl", 1)
	m.reports(t, "ucl", 1)

	p.set(false)
	a.add(testResult("ucl", testRun("ucl", "meanwhile", 1)))
	m.plan(t, "ucl", 2)
	waitFor(t, "the link notices", func() bool { return l.current() == nil })
	if m.archive.planOf("ucl") != 1 || a.waiting() != 1 {
		t.Error("the network was not cut")
	}
	p.set(true)
	m.reports(t, "ucl", 2)
	m.archive.until(t, "what was measured meanwhile is filed", func() bool { return m.archive.results["meanwhile"] != nil })
	waitFor(t, "the spool is empty", func() bool { return a.waiting() == 0 })
}

func TestAway(t *testing.T) {
	k := testKeyring(t)
	l, err := NewLink(LinkConfig{Credentials: issue(t, k, "ucl", k.Embedded("127.0.0.1:1"))})
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"deliver": l.Deliver(t.Context(), results(testResult("ucl", testRun("ucl", "r", 1)))),
		"report":  l.Report(t.Context(), Status{Host: "ucl"}),
		"live":    l.Live(t.Context(), Progress{Run: "r"}),
	} {
		if !errors.Is(err, ErrAway) {
			t.Errorf("%s without a connection: %v, want ErrAway", what, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := l.Serve(ctx, newTestAgent("ucl", l)); err != nil {
		t.Errorf("a link whose ctx ends while nobody is there: %v", err)
	}
}
