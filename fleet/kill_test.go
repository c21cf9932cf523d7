package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
)

// kills is how often a controller is killed: FLEET_KILLS=20 is the long form.
func kills(t *testing.T) int {
	n := 3
	if text := os.Getenv("FLEET_KILLS"); text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// The controller, with its server, is killed under load again and again. What agents were told is filed is in the
// archive's file; and all of it gets there, without anybody's doing.
func TestKilledControllerLosesNothing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	keys, err := OpenKeyring(filepath.Join(folder, "keys"))
	if err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	config, err := json.Marshal(controllerConfig{Folder: folder, Listen: address})
	if err != nil {
		t.Fatal(err)
	}
	agents, stopLoad := busyAgents(t, keys, keys.Embedded(address))
	archive := filepath.Join(folder, "archive")
	for i := range kills(t) {
		cmd, _ := child(t, "controller", string(config), nil)
		before := lineCount(t, archive)
		waitFor(t, fmt.Sprintf("controller %d files results", i), func() bool { return lineCount(t, archive) > before+100 })
		kill(cmd)
	}
	child(t, "controller", string(config), nil)
	stopLoad()
	waitFor(t, "every agent's spool is empty", func() bool { return empty(agents) })
	onDisk := map[string]bool{}
	data, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	for id := range strings.FieldsSeq(string(data)) {
		onDisk[id] = true
	}
	for _, a := range agents {
		filed := a.toldFiled()
		if len(filed) < 10 {
			t.Errorf("%s: only %d results: no load", a.host, len(filed))
		}
		for _, id := range filed { // every one: the spool forgets by this alone, and is empty
			if !onDisk[id] {
				t.Errorf("%s: %s was acknowledged and is lost", a.host, id)
			}
		}
	}
}

// busyAgents measure without end, until stop.
func busyAgents(t *testing.T, keys *Keyring, at Reach) (agents []*testAgent, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var load sync.WaitGroup
	for i := range 4 {
		c := issue(t, keys, fmt.Sprintf("host%d", i), at)
		l, err := NewLink(LinkConfig{Credentials: c, PingEvery: time.Second, LongestWait: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		a := newTestAgent(c.Host, l)
		agents = append(agents, a)
		runAgent(t, a, l)
		load.Go(func() { a.load(ctx) })
	}
	stop = func() { cancel(); load.Wait() }
	t.Cleanup(stop)
	return agents, stop
}

func empty(agents []*testAgent) bool {
	return !slices.ContainsFunc(agents, func(a *testAgent) bool { return a.waiting() > 0 })
}

// An outside NATS server is killed under load again and again. Hub and links come back by themselves, with plans
// and all.
func TestKilledOutsideServerLosesNothing(t *testing.T) {
	t.Parallel()
	m := &mesh{keys: testKeyring(t), archive: newTestArchive()}
	at := Reach{URLs: []string{"nats://" + freeAddress(t)}}
	agents, stopLoad := busyAgents(t, m.keys, at)
	start := func() *exec.Cmd {
		_, address, _ := strings.Cut(at.URLs[0], "//")
		cmd, _ := child(t, "nats", natsConfig(t, m.keys, address), nil)
		return cmd
	}
	cmd := start()
	m.serve(t, HubConfig{Keys: m.keys, Outside: &Outside{URL: at.URLs[0]}, Log: testLog(t)})
	for range kills(t) {
		before := m.archive.count()
		m.archive.until(t, "results are filed", func() bool { return len(m.archive.results) > before+100 })
		kill(cmd)
		cmd = start()
	}
	waitFor(t, "a plan can be given", func() bool { return m.hub.Plan(t.Context(), Plan{Host: "host0", Number: 9}) == nil })
	m.reports(t, "host0", 9)
	stopLoad()
	waitFor(t, "every agent's spool is empty", func() bool { return empty(agents) })
	for _, a := range agents {
		for _, id := range a.toldFiled() {
			if r, _ := m.archive.filed(id); r == nil {
				t.Errorf("%s: %s was acknowledged and is lost", a.host, id)
			}
		}
	}
}

// load adds a Result every other millisecond.
func (a *testAgent) load(ctx context.Context) {
	for t := time.NewTicker(2 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
			if a.waiting() < 500 { // while nobody is there
				a.add(testResult(a.host, testRun(a.host, ulid.Make().String(), 3)))
			}
		}
	}
}

func lineCount(t *testing.T, path string) int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return bytes.Count(data, []byte("\n"))
}
