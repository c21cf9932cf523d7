package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// brittleArchive panics over one Result, or a goroutine of its own does.
type brittleArchive struct {
	*testArchive
	elsewhere bool
}

// elsewhereError is a panic of another goroutine.
type elsewhereError struct{}

func (elsewhereError) Error() string { return hostilePanic }
func (elsewhereError) Stack() []byte { return []byte("goroutine 1") }

const hostilePanic = "index out of range (as the test wants it)"

func (a brittleArchive) File(ctx context.Context, host string, results []*measure.Result) error {
	for _, r := range results {
		if r.ID == "hostile" && a.elsewhere {
			return fmt.Errorf("file results: %w", elsewhereError{})
		}
		if r.ID == "hostile" {
			panic(hostilePanic)
		}
	}
	return a.testArchive.File(ctx, host, results)
}

// A Result over which filing panics is refused and kept aside with the reason, its host hears no more of it, and those beside
// it and after it are filed.
func TestHostileResultEndsNothing(t *testing.T) {
	for name, want := range map[string]string{"here": "filing it panics: " + hostilePanic, "elsewhere": "filing it panics: file results: " + hostilePanic} {
		t.Run(name, func(t *testing.T) { testHostileResult(t, name == "elsewhere", want) })
	}
}

func testHostileResult(t *testing.T, elsewhere bool, want string) {
	k, archive, folder := testKeyring(t), newTestArchive(), filepath.Join(t.TempDir(), "refused")
	s, credentials := testServer(t, k, "", []string{"ucl"})
	h, err := OpenHub(within(t), HubConfig{Keys: k, Server: s, Aside: folder})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- h.Serve(ctx, brittleArchive{archive, elsewhere}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		h.Close()
	})
	l, err := NewLink(LinkConfig{Credentials: credentials["ucl"], Dial: s.Dial})
	if err != nil {
		t.Fatal(err)
	}
	a := newTestAgent("ucl", l)
	hostile := testResult("ucl", testRun("ucl", "hostile", 3))
	a.add(testResult("ucl", testRun("ucl", "before", 1)), hostile, testResult("ucl", testRun("ucl", "beside", 1)))
	runAgent(t, a, l)
	archive.until(t, "those beside it are filed", func() bool { return archive.results["before"] != nil && archive.results["beside"] != nil })
	waitFor(t, "the spool is empty", func() bool { return a.waiting() == 0 })
	a.add(testResult("ucl", testRun("ucl", "after", 1)))
	archive.until(t, "what comes after is filed", func() bool { return archive.results["after"] != nil })
	text, err := os.ReadFile(filepath.Join(folder, "hostile.json"))
	if err != nil {
		t.Fatal(err)
	}
	var kept refusedResult
	if err := json.Unmarshal(text, &kept); err != nil {
		t.Fatal(err)
	}
	if kept.Host != "ucl" || kept.Result.ID != "hostile" || len(kept.Result.Samples.Echoes) != 3 ||
		kept.Why != want || kept.Stack == "" {
		t.Errorf("kept aside: %s", text)
	}
}
