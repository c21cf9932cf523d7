package control

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// crowd is a path that counts how many runs of each kind are under way together. Transactions end when as many as it waits for have begun.
type crowd struct {
	*path
	awaits int

	mu    sync.Mutex
	now   map[string]int
	most  map[string]int
	begun int
	all   chan struct{}
}

func (c *crowd) Watch(ctx context.Context, host, run string, ready chan<- struct{}, each func(fleet.Progress)) error {
	kind := ""
	return c.path.Watch(ctx, host, run, ready, func(p fleet.Progress) {
		switch {
		case p.Line == "begun":
			kind = c.begin(run)
		case p.Result != nil && kind != "":
			if kind == "transact" {
				<-c.all
			}
			c.mu.Lock()
			c.now[kind]--
			c.mu.Unlock()
		}
		each(p)
	})
}

// begin notes that a run is under way, and returns its kind.
func (c *crowd) begin(id string) (kind string) {
	c.path.mu.Lock()
	for _, r := range c.runs {
		if r.ID == id {
			kind = r.Task.Kind
		}
	}
	c.path.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now[kind]++
	c.most[kind] = max(c.most[kind], c.now[kind])
	if kind == "transact" {
		if c.begun++; c.begun == c.awaits {
			close(c.all)
		}
	}
	return kind
}

// Light steps of a round are under way together, unless the caller's class may have one test at a time; those that fill a link are not. What is shown of how they
// ended, and their Results, stay in the order of the plan.
func TestDiagnoseRounds(t *testing.T) {
	for name, c := range map[string]struct {
		caller *Caller
		awaits int
		most   map[string]int
	}{
		"the owner":          {nil, 2, map[string]int{"ping": 1, "trace": 1, "transact": 2, "capacity": 1, "throughput": 1, "audit": 1}},
		"one test at a time": {caller("bob", "192.0.2.7"), 1, map[string]int{"ping": 1, "trace": 1, "transact": 1, "capacity": 1, "throughput": 1, "audit": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			b, p := newPath(t, twoHosts+strings.Replace(strings.Replace(someTests, "controller: {horizon: 30m}\n", callersOf, 1), "one:  {parent: all, parallel: 1}", "one:  {parallel: 1}", 1))
			hub := &crowd{path: p, awaits: c.awaits, now: map[string]int{}, most: map[string]int{}, all: make(chan struct{})}
			b.config.Hub = hub
			lines, err := b.diagnosis(t.Context(), DiagnosisRequest{Caller: c.caller, Patience: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.most, hub.most); diff != "" {
				t.Errorf("at the same time (-want +got):\n%s", diff)
			}
			want := []string{"8 steps", "ping done", "trace done", "transactions done", "connections done", "capacity done", "capacity-reverse done", "transfer done", "9 steps", "audit done",
				"10 steps", "audit-far done", "transfer-reverse done", "found receive-window-limited"}
			if diff := cmp.Diff(want, story(lines)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			var roles []measure.Role
			for _, r := range lines[len(lines)-1].Diagnosis.Results[2:4] {
				roles = append(roles, p.roleOf(r.ID))
			}
			id := lines[len(lines)-1].ID
			if diff := cmp.Diff([]measure.Role{measure.DiagnosisRole(id, "transactions"), measure.DiagnosisRole(id, "connections")}, roles); diff != "" {
				t.Errorf("Results (-want +got):\n%s", diff)
			}
			if n := b.callers.tests["one"]; n != 0 {
				t.Errorf("%d tests are not over", n)
			}
		})
	}
}

func (p *path) roleOf(run string) measure.Role {
	for _, r := range p.runs {
		if r.ID == run {
			return r.Role
		}
	}
	return ""
}
