package fleet

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Who holds the NATS server, and so may publish and repeat anything, can still not make a host do what its controller
// did not say.
func TestForgedAndReplayedOrdersAreRefused(t *testing.T) {
	m, l, a := lonelyMesh(t, time.Now)
	stranger := testKeyring(t)
	ucl, err := m.keys.Agent("ucl")
	if err != nil {
		t.Fatal(err)
	}
	m.archive.until(t, "ucl is there", func() bool { return m.archive.status["ucl"].Host != "" })

	order := func(nonce string) []byte {
		body, err := m.hub.packer.pack(orderMessage{ID: "one", Nonce: nonce, Order: Order{Open: &Opening{Run: "r"}}})
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	sealed := func(k *Keyring, kind, host string, body []byte) []byte {
		data, err := k.seal(kind, host, ucl, body)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	nonce := l.nonces.fresh()
	genuine := sealed(m.keys, kindOrder, "ucl", order(nonce))
	mixed := &Keyring{signing: stranger.signing, sealing: m.keys.sealing} // as if the sealing key alone were stolen
	for _, c := range []struct {
		name    string
		data    []byte
		want    orderAnswer
		refused uint64 // more than before
	}{
		{"genuine", genuine, orderAnswer{}, 0},
		{"repeated", genuine, orderAnswer{Error: errReplayed.Error()}, 1},
		{"repeated, sealed anew", sealed(m.keys, kindOrder, "ucl", order(nonce)), orderAnswer{Error: errReplayed.Error()}, 1},
		{"stale", sealed(m.keys, kindOrder, "ucl", order("of yesterday")), orderAnswer{Nonce: nonce}, 0},
		{"of a stranger", sealed(stranger, kindOrder, "ucl", order(nonce)), orderAnswer{Error: errForged.Error()}, 1},
		{"signed by a stranger", sealed(mixed, kindOrder, "ucl", order(nonce)), orderAnswer{Error: errForged.Error()}, 1},
		{"for another host", sealed(m.keys, kindOrder, "ral", order(nonce)), orderAnswer{Error: errForged.Error()}, 1},
		{"another kind", sealed(m.keys, kindFiled, "ucl", order(nonce)), orderAnswer{Error: errForged.Error()}, 1},
		{"cut", genuine[:len(genuine)-1], orderAnswer{Error: errForged.Error()}, 1},
		{"nothing", nil, orderAnswer{Error: errForged.Error()}, 1},
	} {
		before := l.Refused()
		reply, err := m.hub.nc.RequestWithContext(within(t), subjectOrder+"ucl", c.data)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var got orderAnswer
		if err := json.Unmarshal(reply.Data, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if more := l.Refused() - before; more != c.refused {
			t.Errorf("%s: counted %d times, want %d", c.name, more, c.refused)
		}
	}
	if n, _ := a.counts(); n != 1 {
		t.Errorf("the agent did %d orders, want the genuine one", n)
	}
}

// lonelyMesh has one host, ucl, in this process.
func lonelyMesh(t *testing.T, now func() time.Time) (*mesh, *NATSLink, *testAgent) {
	t.Helper()
	m := &mesh{keys: testKeyring(t), archive: newTestArchive()}
	s, credentials := testServer(t, m.keys, "", []string{"ucl"})
	m.serve(t, HubConfig{Keys: m.keys, Server: s, Log: testLog(t)})
	l, err := NewLink(LinkConfig{Credentials: credentials["ucl"], Dial: s.Dial, Now: now, Log: testLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	a := newTestAgent("ucl", l)
	runAgent(t, a, l)
	return m, l, a
}

// An order that is kept back dies with its nonce; the hub then uses the next by itself.
func TestOrderAfterTheClockWasSet(t *testing.T) {
	clock := newTestClock()
	m, _, a := lonelyMesh(t, clock.now)
	m.archive.until(t, "ucl is there", func() bool { return m.archive.status["ucl"].Host != "" })
	for i, step := range []time.Duration{0, time.Hour, -2 * time.Hour, nonceTurn, nonceTurn, nonceLife, 24 * time.Hour} {
		clock.step(step)
		if err := m.hub.Order(within(t), "ucl", Order{Open: &Opening{Run: "r"}}); err != nil {
			t.Errorf("order after a step of %v: %v", step, err)
		}
		if n, _ := a.counts(); n != i+1 {
			t.Fatalf("after a step of %v: %d orders done, want %d", step, n, i+1)
		}
	}
}

func TestPlansThatAreNotTheNewest(t *testing.T) {
	m, l, a := lonelyMesh(t, time.Now)
	m.plan(t, "ucl", 7)
	m.reports(t, "ucl", 7)
	old := m.hub.plans["ucl"].sealed
	m.plan(t, "ucl", 8)
	m.reports(t, "ucl", 8)
	if err := m.hub.nc.Publish(subjectPlan+"ucl", old); err != nil {
		t.Fatal(err)
	}
	if err := m.hub.nc.Publish(subjectFiled+"ucl", []byte("forged")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "both are refused", func() bool { return l.Refused() == 2 })
	if _, got := a.counts(); !slices.Contains(got, 8) || got[len(got)-1] != 8 {
		t.Errorf("plans that the agent got: %v; the last should be 8", got)
	}
}

func TestNonces(t *testing.T) {
	clock := newTestClock()
	n := newNonces(clock.now)
	first := n.fresh()
	type step struct {
		wait  time.Duration
		nonce string
		order string
		want  error
	}
	for i, s := range []step{
		{0, first, "a", nil},
		{0, first, "a", errReplayed},
		{0, first, "b", nil},
		{0, "another", "c", errStale},
		{0, "", "c", errStale},
		{nonceTurn, first, "a", errReplayed}, // former now
		{nonceTurn - 1, first, "d", nil},
		{1, first, "e", errStale},
	} {
		clock.step(s.wait)
		if got := n.take(s.nonce, s.order); got != s.want {
			t.Errorf("step %d: order %s: %v, want %v", i, s.order, got, s.want)
		}
	}
	second := n.fresh()
	clock.step(10 * nonceLife) // nobody asked for a nonce meanwhile
	if got := n.take(second, "f"); got != errStale {
		t.Errorf("an order after ten lives: %v, want %v", got, errStale)
	}
	third := n.fresh()
	clock.step(-time.Hour)
	if got := n.take(third, "g"); got != errStale {
		t.Errorf("an order after the clock was set back: %v, want %v", got, errStale)
	}
	if n.fresh() == third || n.fresh() == first {
		t.Error("a nonce came twice")
	}
	last := n.fresh()
	for i := range maxSeen {
		if err := n.take(last, strconv.Itoa(i)); err != nil {
			t.Fatalf("order %d under one nonce: %v", i, err)
		}
	}
	if got := n.take(last, "one too many"); got != errReplayed {
		t.Errorf("an order beyond the bound: %v, want %v", got, errReplayed)
	}
}
