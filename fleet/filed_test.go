package fleet

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
)

func results(r ...*measure.Result) []*measure.Result { return r }

// Exactly the Results that were filed are named.
func TestFiledNamesWhatIsFiled(t *testing.T) {
	m, _, a := lonelyMesh(t, time.Now)
	want := map[string]bool{}
	for range 1000 {
		id := ulid.Make().String()
		want[id] = true
		a.add(testResult("ucl", testRun("ucl", id, 5)))
	}
	waitFor(t, "the spool is empty", func() bool { return a.waiting() == 0 })
	m.archive.mu.Lock()
	defer m.archive.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(m.archive.results) != len(want) {
		t.Errorf("%d results filed, want %d", len(m.archive.results), len(want))
	}
	for _, id := range a.filed {
		if m.archive.results[id] == nil {
			t.Errorf("%s is named as filed and is not", id)
		}
	}
}

// A plan that the agent could not keep is sent again, without anybody's doing.
func TestPlanComesAgain(t *testing.T) {
	m, _, a := lonelyMesh(t, time.Now)
	m.archive.until(t, "ucl is there", func() bool { return m.archive.status["ucl"].Host != "" })
	a.mu.Lock()
	a.full = true
	a.mu.Unlock()
	m.plan(t, "ucl", 4)
	waitFor(t, "the plan came", func() bool { _, plans := a.counts(); return len(plans) > 0 })
	a.mu.Lock()
	a.full = false
	a.mu.Unlock()
	m.hub.mu.Lock()
	kept := m.hub.plans["ucl"]
	kept.sent = kept.sent.Add(-planPatience) // as if it were long ago
	m.hub.plans["ucl"] = kept
	m.hub.mu.Unlock()
	m.reports(t, "ucl", 4)
}

func TestPlanThatNoMessageHolds(t *testing.T) {
	m, _, _ := lonelyMesh(t, time.Now)
	p := Plan{Host: "ucl", Number: 1, Runs: []measure.Run{{ID: strings.Repeat(noise(maxPlanPacked/24), 3*24)}}}
	// A block is longer than the compressor remembers, so that the repetition does not help it.
	if err := m.hub.Plan(within(t), p); err == nil || !strings.Contains(err.Error(), "plan fewer hours at once") {
		t.Errorf("a plan that is too long: %v", err)
	}
	if err := m.hub.Plan(within(t), Plan{Host: "nowhere"}); !errors.Is(err, ErrAway) {
		t.Errorf("a plan for a host without keys: %v", err)
	}
}
