package archive

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
)

// brittle is a store of which a part panics as long as it is broken.
type brittle struct {
	store
	broken atomic.Pointer[string] // name of the part; nil: none
}

func (b *brittle) breakIf(part string) {
	if broken := b.broken.Load(); broken != nil && *broken == part {
		panic("the test breaks " + part)
	}
}

func (b *brittle) view(ctx context.Context, f func(*tx) error) error {
	b.breakIf("view")
	return b.store.view(ctx, f)
}

func (b *brittle) file(ctx context.Context, t *tx, batch *batch) error {
	err := b.store.file(ctx, t, batch)
	for _, s := range batch.streams {
		if s.key.target == "hostile" {
			b.breakIf("file")
		}
	}
	return err
}

func (b *brittle) write(ctx context.Context, t *tx, points []pointsRow, rollups []rollupRow) error {
	err := b.store.write(ctx, t, points, rollups)
	b.breakIf("write")
	return err
}

func (b *brittle) writeLatest(ctx context.Context, t *tx, rows []latestRow) error {
	b.breakIf("writeLatest")
	return b.store.writeLatest(ctx, t, rows)
}

func (b *brittle) giveBack(ctx context.Context) (bool, error) {
	b.breakIf("giveBack")
	return b.store.giveBack(ctx)
}

// panicking is a parameter over which encoding panics.
type panicking struct{}

func (panicking) MarshalJSON() ([]byte, error) { panic("the test breaks encoding") }

type brittleKeeper struct {
	*keeper
	store *brittle
	t     *testing.T
	log   strings.Builder
}

var brittleNow = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func newBrittleKeeper(t *testing.T) *brittleKeeper {
	t.Helper()
	b := &brittleKeeper{t: t, store: &brittle{}}
	o := Options{Now: func() time.Time { return brittleNow }, Log: slog.New(slog.NewTextHandler(&b.log, nil))}.withDefaults()
	var err error
	if b.store.store, err = openStore(t.Context(), filepath.Join(t.TempDir(), "archive.db"), o.Log); err != nil {
		t.Fatal(err)
	}
	if b.keeper, err = newKeeper(t.Context(), b.store, o); err != nil {
		t.Fatal(err)
	}
	return b
}

// result is one to a target, as many minutes ago.
func (b *brittleKeeper) result(target string, minutes int) *measure.Result {
	r := measure.NewResult("ping", brittleNow.Add(-time.Duration(minutes)*time.Minute))
	r.ID, r.Tool, r.Test = ulid.MustNew(ulid.Timestamp(r.Started), ulid.DefaultEntropy()).String(), "rtt", "all"
	r.Source.Name, r.Target.Name = "a", target
	r.Metrics = map[measure.Metric]float64{measure.RTTMedian: 0.01, measure.LossRatio: 0}
	return r
}

func (b *brittleKeeper) put(target string, minutes int) error {
	return b.Put(b.t.Context(), []*measure.Result{b.result(target, minutes)})
}

// breaks has a part panic while do is done, which must return a *brokenError.
func (b *brittleKeeper) breaks(part string, do func() error) {
	b.t.Helper()
	b.store.broken.Store(&part)
	defer b.store.broken.Store(nil)
	var broken *brokenError
	if err := do(); !errors.As(err, &broken) || len(broken.Stack()) == 0 {
		b.t.Errorf("%s: %v, want a brokenError with its stack", part, err)
	}
}

// moved moves all values.
func (b *brittleKeeper) moved() error {
	return b.do(b.t.Context(), func(context.Context) error { return b.moveAll() })
}

// unknownMetric puts a run into the journal in memory over which the rows of its stream cannot be made.
func (b *brittleKeeper) unknownMetric(target string) error {
	return b.do(b.t.Context(), func(context.Context) error {
		for _, s := range b.names.byKey {
			if s.key.target == target {
				b.active.add(s.id, appendRun(nil, s.id, run{brittleNow.UnixNano(), []value{{metric: 9999, value: 1}}}), 1)
			}
		}
		return nil
	})
}

// Whatever panics in a goroutine of the archive, that work alone fails, its stack is logged, and what is put afterwards is filed,
// moved and found.
func TestBrokenEndsNothing(t *testing.T) {
	for name, c := range map[string]func(b *brittleKeeper){
		"encode": func(b *brittleKeeper) {
			r := b.result("hostile", 1)
			r.Parameters = map[string]any{"x": panicking{}}
			b.breaks("", func() error { return b.Put(t.Context(), []*measure.Result{r}) })
		},
		"encode, of very many": func(b *brittleKeeper) {
			results := make([]*measure.Result, 2048)
			for i := range results {
				results[i] = b.result("hostile", 1)
			}
			results[2000].Parameters = map[string]any{"x": panicking{}}
			b.breaks("", func() error { return b.Put(t.Context(), results) })
		},
		"file": func(b *brittleKeeper) { b.breaks("file", func() error { return b.put("hostile", 1) }) },
		"change": func(b *brittleKeeper) {
			b.breaks("", func() error { return b.do(t.Context(), func(context.Context) error { panic("x") }) })
		},
		"prune": func(b *brittleKeeper) {
			b.breaks("giveBack", func() error { _, err := b.Prune(t.Context(), brittleNow); return err })
		},
		"make rows":        func(b *brittleKeeper) { b.breaks("view", b.moved) },
		"write":            func(b *brittleKeeper) { b.breaks("write", b.moved) },
		"write the latest": func(b *brittleKeeper) { b.breaks("writeLatest", b.moved) },
		"make rows of a stream": func(b *brittleKeeper) {
			if err := errors.Join(b.put("hostile", 2), b.unknownMetric("hostile"), b.moved()); err != nil {
				t.Errorf("one stream keeps the others from being moved: %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBrittleKeeper(t)
			if err := b.put("z", 10); err != nil {
				t.Fatal(err)
			}
			c(b)
			if err := errors.Join(b.put("b", 5), b.moved(), b.put("b", 4)); err != nil {
				t.Fatalf("after a panic: %v", err)
			}
			if text := b.log.String(); !strings.Contains(text, "the archive has a defect") || !strings.Contains(text, "goroutine") {
				t.Errorf("the log has no stack: %s", text)
			}
			for target, want := range map[string]int{"b": 2, "z": 1} {
				points := 0
				for _, err := range b.Points(t.Context(), Key{Source: "a", Target: target, Test: "all", Tool: "rtt", Role: measure.RolePlanned, Metric: measure.RTTMedian}, time.Time{}, time.Time{}) {
					if err != nil {
						t.Fatal(err)
					}
					points++
				}
				page, err := b.Results(t.Context(), ResultQuery{Target: target})
				if err != nil || points != want || len(page.Results) != want {
					t.Errorf("%d points and %d results to %s, want %d of each; %v", points, len(page.Results), target, want, err)
				}
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Results of other calls that share a commit with one that panics are filed.
func TestBrokenAmongOthers(t *testing.T) {
	b := newBrittleKeeper(t)
	defer b.Close()
	part := "file"
	b.store.broken.Store(&part)
	held, release := make(chan struct{}), make(chan struct{})
	go b.do(t.Context(), func(context.Context) error { close(held); <-release; return nil })
	<-held // the writer is busy, so that what is put now shares a commit
	errs := make(chan error, 3)
	targets := []string{"b", "hostile", "c"}
	for _, target := range targets {
		go func() {
			err := b.put(target, 1)
			if broken := (*brokenError)(nil); target == "hostile" && errors.As(err, &broken) {
				err = nil
			}
			errs <- err
		}()
	}
	for len(b.requests) < len(targets) {
		time.Sleep(time.Millisecond)
	}
	close(release)
	for range targets {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// Each goroutine that the archive starts is one that TestBrokenEndsNothing breaks.
func TestGoroutines(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	starts := map[string]bool{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, is := d.(*ast.FuncDecl)
			if !is {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.GoStmt:
					starts[f.Name.Name] = true
				case *ast.SelectorExpr:
					if n.Sel.Name == "Go" {
						starts[f.Name.Name] = true
					}
				}
				return true
			})
		}
	}
	want := []string{"encode", "goAhead", "newKeeper"} // encoding; making rows; the writer
	if got := slices.Sorted(maps.Keys(starts)); !slices.Equal(got, want) {
		t.Errorf("goroutines start in %v, want %v: see that a panic in each ends nothing else", got, want)
	}
}
