package control

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// lookups is a server of names that notes what it is asked.
type lookups struct {
	mu    sync.Mutex
	names map[string]string
	asked map[string]int
}

func (l *lookups) find(_ context.Context, address string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked[address]++
	return l.names[address]
}

// took returns what was asked since the last time.
func (l *lookups) took() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	asked := l.asked
	l.asked = map[string]int{}
	return asked
}

// Routers that traces show are asked for once a day, those without a name each hour; names outlive a server of names that is gone, and a
// restart. Hosts of the mesh have the names of the mesh file.
func TestNamesOfRouters(t *testing.T) {
	server := &lookups{asked: map[string]int{}, names: map[string]string{
		"10.9.0.1": "core1.example.net", "10.9.0.3": "<script>", "10.0.0.1": "dhcp-17.example.net",
	}}
	b := newBench(t, threeHosts)
	b.named = server.find
	b.restart()
	trace := &measure.Result{Samples: measure.Samples{Hops: []measure.Hop{
		{TTL: 1, Addresses: []string{"10.9.0.1"}}, {TTL: 2, Addresses: []string{}}, {TTL: 3, Addresses: []string{"10.9.0.2", "10.9.0.3"}},
		{TTL: 4, Addresses: []string{"a host of which a program told the name"}},
	}}}
	turn := func(after time.Duration, want map[string]int) {
		t.Helper()
		b.now = b.now.Add(after)
		b.names.want(answeredBy(trace))
		b.names.lookUp(t.Context())
		if diff := cmp.Diff(want, server.took()); diff != "" {
			t.Errorf("asked after %s (-want +got):\n%s", after, diff)
		}
	}
	turn(0, map[string]int{"10.9.0.1": 1, "10.9.0.2": 1, "10.9.0.3": 1})
	turn(time.Minute, map[string]int{})
	turn(time.Hour, map[string]int{"10.9.0.2": 1, "10.9.0.3": 1})
	server.names = nil
	turn(24*time.Hour, map[string]int{"10.9.0.1": 1, "10.9.0.2": 1, "10.9.0.3": 1})
	turn(time.Hour, map[string]int{"10.9.0.1": 1, "10.9.0.2": 1, "10.9.0.3": 1})

	if err := b.names.write(b.folder); err != nil {
		t.Fatal(err)
	}
	b.restart()
	want := map[string]string{"10.9.0.1": "core1.example.net", "10.0.0.1": "a"}
	if diff := cmp.Diff(want, b.Names([]string{"10.9.0.1", "10.9.0.2", "10.9.0.3", "10.0.0.1"})); diff != "" {
		t.Errorf("names after a restart (-want +got):\n%s", diff)
	}
	if err := os.WriteFile(filepath.Join(b.folder, namesFile), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.restart()
	if got := b.Names([]string{"10.9.0.1"})["10.9.0.1"]; got != "" {
		t.Errorf("a file of another sort names %q", got)
	}
}

// A trace that is filed has its routers looked up.
func TestFiledTraceIsNamed(t *testing.T) {
	server := &lookups{asked: map[string]int{}}
	b := newBench(t, twoHosts)
	b.named = server.find
	b.restart()
	r := measure.NewResult("trace", b.now)
	r.ID, r.Source.Name, r.Target.Name, r.Tool = "01KAG0000000000000000000BA", "a", "b", "route"
	r.Samples.Hops = []measure.Hop{{TTL: 1, Addresses: []string{"10.9.0.1"}}}
	if err := (receiver{b.Control}).File(t.Context(), "a", []*measure.Result{r}); err != nil {
		t.Fatal(err)
	}
	b.names.lookUp(t.Context())
	if diff := cmp.Diff(map[string]int{"10.9.0.1": 1}, server.took()); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

// Past mostNames the one is forgotten that was asked for longest ago.
func TestNamesAreBounded(t *testing.T) {
	now := noon
	n := newNames(func(context.Context, string) string { return "" }, func() time.Time { return now })
	n.known["10.0.0.1"] = name{"first", now.Add(-time.Hour)}
	for i := range mostNames - 1 {
		n.known[string(rune(i+0x10000))] = name{"", now}
	}
	n.note("10.0.0.2", "last")
	_, first := n.known["10.0.0.1"]
	if got := n.known["10.0.0.2"].Name; len(n.known) != mostNames || first || got != "last" {
		t.Errorf("%d are known, the first %t, the last %q; want %d, false, last", len(n.known), first, got, mostNames)
	}
}
