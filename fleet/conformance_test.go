package fleet

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
)

var (
	_ Hub  = (*NATSHub)(nil)
	_ Link = (*NATSLink)(nil)
)

// mesh is one way to reach hosts, with a controller that files to an archive of the test.
type mesh struct {
	keys    *Keyring
	hub     *NATSHub
	archive *testArchive
	// start brings an agent of a host to life; stop ends it and returns when it is gone.
	start func(t *testing.T, host string) (stop func())
}

// conform is what every Hub and Link owe, whatever is between them. It sees agents as the controller does: SSH's are in
// another process.
func conform(t *testing.T, open func(t *testing.T, hosts []string) *mesh) {
	hosts := []string{"ucl", "ral.example.org"} // a dot parts subjects
	m := open(t, hosts)
	for i, host := range hosts {
		t.Run(host, func(t *testing.T) {
			m.away(t, host)
			stop := m.plansArrive(t, host)
			m.orders(t, host)
			m.resultsUntilFiled(t, host)
			if i == 0 {
				m.longResult(t, host)
			}
			m.plansAfterReturn(t, host, stop)
		})
	}
}

func (m *mesh) away(t *testing.T, host string) {
	err := m.hub.Order(within(t), host, Order{Cancel: "x"})
	if !errors.Is(err, ErrAway) {
		t.Errorf("order to a host that is not there: %v, want ErrAway", err)
	}
}

func (m *mesh) plan(t *testing.T, host string, number uint64) {
	t.Helper()
	p := Plan{Host: host, Number: number, Runs: []measure.Run{*testRun(host, ulid.Make().String(), 1)}}
	if err := m.hub.Plan(within(t), p); err != nil {
		t.Fatal(err)
	}
}

func (m *mesh) reports(t *testing.T, host string, number uint64) {
	t.Helper()
	m.archive.until(t, fmt.Sprintf("%s reports plan %d", host, number), func() bool { return m.archive.status[host].Plan == number })
}

func (m *mesh) plansArrive(t *testing.T, host string) (stop func()) {
	m.plan(t, host, 1)
	m.plan(t, host, 2) // before it ever came: replaces the first
	stop = m.start(t, host)
	m.reports(t, host, 2)
	m.plan(t, host, 3)
	m.reports(t, host, 3)
	return stop
}

func (m *mesh) plansAfterReturn(t *testing.T, host string, stop func()) {
	stop()
	m.plan(t, host, 5)
	stop = m.start(t, host)
	defer stop()
	m.reports(t, host, 5)
}

func (m *mesh) orders(t *testing.T, host string) {
	run := testRun(host, ulid.Make().String(), 10)
	ctx, cancel := context.WithCancel(within(t))
	ready, watched := make(chan struct{}), make(chan error, 1)
	var seen []Progress
	go func() {
		watched <- m.hub.Watch(ctx, host, run.ID, ready, func(p Progress) { seen = append(seen, p) })
	}()
	<-ready
	if err := m.hub.Order(ctx, host, Order{Run: run}); err != nil {
		t.Fatalf("order: %v", err)
	}
	if err := <-watched; err != nil {
		t.Errorf("watch: %v", err)
	}
	cancel()
	want := testResult(host, run)
	if diff := cmp.Diff([]Progress{{Run: run.ID, Line: "begun"}, {Run: run.ID, Result: want}}, seen); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	m.archive.until(t, "the result is filed", func() bool { return m.archive.results[run.ID] != nil })
	got, from := m.archive.filed(run.ID)
	if diff := cmp.Diff(want, got); diff != "" || from != host {
		t.Errorf("result, filed as of host %q (-want +got):\n%s", from, diff)
	}
	var refused *Refusal
	if err := m.hub.Order(within(t), host, Order{Cancel: "x"}); !errors.As(err, &refused) {
		t.Errorf("an order that the agent would not do: %v, want a Refusal", err)
	} else if diff := cmp.Diff(&Refusal{host, "nothing of that ID runs"}, refused); diff != "" {
		t.Error(diff)
	}
}

func (m *mesh) resultsUntilFiled(t *testing.T, host string) {
	a := m.archive
	a.mu.Lock()
	a.fails = a.calls + 2
	a.mu.Unlock()
	run := testRun(host, ulid.Make().String(), 1)
	if err := m.hub.Order(within(t), host, Order{Run: run}); err != nil {
		t.Fatal(err)
	}
	a.until(t, "filed after two failures", func() bool { return a.results[run.ID] != nil })
	a.until(t, "the agent knows", func() bool { return a.status[host].Spooled == 0 })
}

// longResult is an output that does not compress to one message.
func (m *mesh) longResult(t *testing.T, host string) {
	run := testRun(host, ulid.Make().String(), 1)
	run.Task.Parameters["output"] = float64(3 * pieceBytes)
	if err := m.hub.Order(within(t), host, Order{Run: run}); err != nil {
		t.Fatal(err)
	}
	a := m.archive
	a.until(t, "the long result is filed", func() bool { return a.results[run.ID] != nil })
	if got, _ := a.filed(run.ID); !reflect.DeepEqual(testResult(host, run), got) { // a diff of so many takes too long
		t.Error("the long result is not what was sent")
	}
}
