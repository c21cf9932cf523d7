package fleet

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/oklog/ulid/v2"
)

// Within what its key allows, a stolen key cannot pass Results off as another's, nor hold up the others.
func TestPoison(t *testing.T) {
	m := &mesh{keys: testKeyring(t), archive: newTestArchive()}
	s, credentials := testServer(t, m.keys, "127.0.0.1:0", []string{"ucl", "ral"})
	m.serve(t, HubConfig{Keys: m.keys, Server: s, Log: testLog(t)})
	nc, _ := stolen(t, credentials["ucl"])
	js, err := nc.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	own, others := ulid.Make().String(), ulid.Make().String()
	batch, err := encode(results(testResult("ral", testRun("ral", others, 1)), testResult("ucl", testRun("ucl", own, 1))))
	if err != nil {
		t.Fatal(err)
	}
	bomb := m.hub.packer.compress(make([]byte, maxUnpacked+1))
	for _, msg := range []*nats.Msg{
		{Data: []byte("no frame of zstd")},
		{Data: bomb},
		{Data: m.hub.packer.compress([]byte("no JSON\n"))},
		{Data: m.hub.packer.compress([]byte("{}\n"))},
		{Data: []byte("x"), Header: nats.Header{headerPiece: {"id 1 2"}}},
		{Data: []byte("x"), Header: nats.Header{headerPiece: {"nonsense"}}},
		{Data: []byte("x"), Header: nats.Header{headerPiece: {"id 0 1000000"}}},
		{Data: m.hub.packer.compress(batch[0])},
	} {
		msg.Subject = subjectResult + "ucl"
		if _, err := js.PublishMsg(msg); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.Publish(subjectStatus+"ucl", []byte(`{"host": "ral", "plan": 9}`)); err != nil {
		t.Fatal(err)
	}
	m.archive.until(t, "its own result is filed", func() bool { return m.archive.results[own] != nil })
	waitFor(t, "nine are counted", func() bool { return m.hub.Poison() == 9 })
	m.archive.mu.Lock()
	defer m.archive.mu.Unlock()
	if diff := cmp.Diff(map[string]string{own: "ucl"}, m.archive.from); diff != "" {
		t.Errorf("filed (-want +got):\n%s", diff)
	}
	if got := m.archive.status["ral"]; got.Plan != 0 {
		t.Errorf("ral's status by ucl's key: %+v", got)
	}
	info, err := m.hub.js.Stream(within(t), streamResults)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "nothing is left in the stream", func() bool {
		i, err := info.Info(within(t))
		return err == nil && i.State.Msgs == 0
	})
}

// One host that runs wild fills its own share of the stream and no more.
func TestOneHostCannotFillTheStream(t *testing.T) {
	k := testKeyring(t)
	s, credentials := testServer(t, k, "127.0.0.1:0", []string{"ucl", "ral"})
	h, err := OpenHub(within(t), HubConfig{Keys: k, Server: s})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close() // it never serves: nothing is filed
	full := func(host string) (n int, err error) {
		nc, _ := stolen(t, credentials[host])
		js, err := nc.JetStream()
		for err == nil && n <= resultsPerHost {
			_, err = js.Publish(subjectResult+host, []byte("x"))
			n++
		}
		return n - 1, err
	}
	if n, err := full("ucl"); n != resultsPerHost || err == nil {
		t.Errorf("the wild one stored %d messages, then %v; want %d", n, err, resultsPerHost)
	}
	l, err := NewLink(LinkConfig{Credentials: credentials["ucl"]})
	if err != nil {
		t.Fatal(err)
	}
	runAgent(t, newTestAgent("ucl", l), l)
	waitFor(t, "the link is there", func() bool { return l.current() != nil })
	if err := l.Deliver(within(t), results(testResult("ucl", testRun("ucl", "r", 1)))); !errors.Is(err, ErrBehind) {
		t.Errorf("deliver into a full stream: %v, want ErrBehind", err)
	}
	if n, err := full("ral"); n != resultsPerHost || err == nil {
		t.Errorf("the other stored %d messages, then %v; want %d", n, err, resultsPerHost)
	}
}
