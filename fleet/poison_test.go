package fleet

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
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
	bomb := m.hub.packer.compress(make([]byte, maxResults+1))
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
}

// One host that runs wild fills its own share of what waits for the archive and no more, whatever the length of its messages.
func TestOneHostCannotFillTheIntake(t *testing.T) {
	const long = pieceBytes
	m := &mesh{keys: testKeyring(t), archive: newTestArchive()}
	m.archive.fails = 1 << 30 // the disk takes nothing
	s, credentials := testServer(t, m.keys, "127.0.0.1:0", []string{"ucl", "ral"})
	m.serve(t, HubConfig{Keys: m.keys, Server: s})
	data := make([]byte, long)
	copy(data, m.hub.packer.compress([]byte("{}"))) // of no result, but whole
	nc, _ := stolen(t, credentials["ucl"])
	js, err := nc.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	first := testResult("ucl", testRun("ucl", "first", 1))
	batch, err := encode(results(first))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(subjectResult+"ucl", m.hub.packer.compress(batch[0])); err != nil {
		t.Fatal(err)
	}
	m.archive.until(t, "the archive refuses it", func() bool { return m.archive.calls > 0 })
	n := 0
	for ; err == nil && n <= 2*shareBytes/long; n++ {
		_, err = js.Publish(subjectResult+"ucl", data)
	}
	if n-1 > shareBytes/long || n < shareBytes/long/2 || err == nil {
		t.Errorf("%d messages of %d bytes got in, then %v; the share is %d bytes", n-1, long, err, shareBytes)
	}
	l, err := NewLink(LinkConfig{Credentials: credentials["ucl"]})
	if err != nil {
		t.Fatal(err)
	}
	runAgent(t, newTestAgent("ucl", l), l)
	waitFor(t, "the link is there", func() bool { return l.current() != nil })
	full := testResult("ucl", testRun("ucl", "r", 1))
	full.Samples.Output = &measure.Output{Stdout: noise(2 * pieceBytes)}
	if err := l.Deliver(within(t), results(full)); !errors.Is(err, ErrBehind) {
		t.Errorf("deliver beyond the share: %v, want ErrBehind", err)
	}
	other, _ := stolen(t, credentials["ral"])
	if js, err = other.JetStream(); err == nil {
		_, err = js.Publish(subjectResult+"ral", data)
	}
	if err != nil {
		t.Errorf("the other is held up: %v", err)
	}
}
