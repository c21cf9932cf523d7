package fleet

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

func TestKeysComeAndGoWhileRunning(t *testing.T) {
	t.Parallel()
	m := &mesh{keys: testKeyring(t), archive: newTestArchive()}
	s, credentials := testServer(t, m.keys, "127.0.0.1:0", []string{"ucl", "ral"})
	m.serve(t, HubConfig{Keys: m.keys, Server: s, Log: testLog(t)})
	set := func() {
		t.Helper()
		agents, err := m.keys.Agents()
		if err == nil {
			err = s.SetAgents(agents)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	serve := func(c *Credentials) (*NATSLink, chan error) {
		l, err := NewLink(LinkConfig{Credentials: c, LongestWait: 200 * time.Millisecond, Log: testLog(t)})
		if err != nil {
			t.Fatal(err)
		}
		over := make(chan error, 1)
		go func() { over <- newTestAgent(c.Host, l).run(t.Context(), l) }()
		return l, over
	}
	stays, staysOver := serve(credentials["ral"])
	_, uclOver := serve(credentials["ucl"])
	there := func(host string) func() bool { return func() bool { return m.archive.status[host].Host != "" } }
	m.archive.until(t, "ral is there", there("ral"))
	m.archive.until(t, "ucl is there", there("ucl"))
	session := stays.current()

	fresh := issue(t, m.keys, "cern", credentials["ral"].Reach)
	set()
	_, cernOver := serve(fresh)
	m.archive.until(t, "cern is there", there("cern"))

	if err := m.keys.Withdraw("ucl"); err != nil {
		t.Fatal(err)
	}
	set()
	select {
	case err := <-uclOver:
		if !errors.Is(err, ErrKeyRefused) {
			t.Errorf("the link whose key was withdrawn: %v, want ErrKeyRefused", err)
		}
	case <-time.After(patience):
		t.Error("the link whose key was withdrawn goes on")
	}
	if stays.current() != session {
		t.Error("the host that stayed lost its connection")
	}
	for _, over := range []chan error{staysOver, cernOver} {
		select {
		case err := <-over:
			t.Errorf("a link ended: %v", err)
		default:
		}
	}
}

// Somebody who answers at the controller's address with a certificate of his own learns nothing.
func TestForeignServerIsNotTrusted(t *testing.T) {
	other := testKeyring(t)
	s, _ := testServer(t, other, "127.0.0.1:0", nil)
	mine := testKeyring(t)
	c := issue(t, mine, "ucl", mine.Embedded(s.Addr().String()))
	if err := s.SetAgents(map[string]AgentKeys{"ucl": mustAgent(t, mine, "ucl")}); err != nil { // it even knows the key
		t.Fatal(err)
	}
	l, err := NewLink(LinkConfig{Credentials: c, Once: true})
	if err != nil {
		t.Fatal(err)
	}
	err = l.Serve(within(t), newTestAgent("ucl", l))
	if err == nil || !strings.Contains(err.Error(), "certificate signed by unknown authority") {
		t.Errorf("link to a foreign server: %v", err)
	}
}

func mustAgent(t *testing.T, k *Keyring, host string) AgentKeys {
	t.Helper()
	keys, err := k.Agent(host)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestServerSaysWhyItCannotStart(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, err = StartServer(t.Context(), ServerConfig{Keys: testKeyring(t), Listen: taken.Addr().String()})
	if err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("server on a port that is taken: %v", err)
	}
}
