package archive_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// A backup that is taken while Results come in is restored into either backend, and says the same there.
func TestBackup(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		small := func(o *archive.Options) { o.MoveValues = 200 }
		a := open(t, url, small)
		results := history(8, 120)
		for some := range slices.Chunk(results, 30) {
			put(t, a, some...)
		}
		missed := miss(ping("a", "b", now, 1), "away")
		if err := a.PutMisses(t.Context(), []measure.Miss{missed}); err != nil {
			t.Fatal(err)
		}
		stop, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					put(t, a, ping("x", fmt.Sprint("y", i%10), now, 1))
				}
			}
		}()
		path := filepath.Join(t.TempDir(), "archive.backup")
		err := a.Backup(t.Context(), path)
		close(stop)
		<-done
		if err != nil {
			t.Fatal(err)
		}
		checkPlain(t, path, results)
		for name, other := range map[string]string{"sqlite": filepath.Join(t.TempDir(), "other.db"),
			"postgres": postgresURL(t)} {
			t.Run("into "+name, func(t *testing.T) {
				b := open(t, other, small)
				if err := b.Restore(t.Context(), path); err != nil {
					t.Fatal(err)
				}
				checkSeries(t, b, results)
				for range 2 {
					misses, err := b.Misses(t.Context(), archive.MissQuery{})
					if diff := cmp.Diff([]measure.Miss{missed}, misses); diff != "" || err != nil {
						t.Errorf("error %v; misses (-want +got):\n%s", err, diff)
					}
					put(t, b, results...)
					if s := b.Stats(); s.Filed != 0 {
						t.Errorf("%d results were filed twice", s.Filed)
					}
					closeIt(t, b)
					b = open(t, other, small)
				}
				if err := b.Restore(t.Context(), path); !errors.Is(err, archive.ErrNotEmpty) {
					t.Errorf("restored over what was there: %v", err)
				}
			})
		}
	})
}

// checkPlain reads a backup as a stranger would: JSON lines, each Result whole.
func checkPlain(t *testing.T, path string, results []*measure.Result) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	expanded, err := zstd.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer expanded.Close()
	found := map[string]bool{}
	for lines := bufio.NewScanner(expanded); lines.Scan(); {
		var l struct{ Result *measure.Result }
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		if l.Result != nil {
			found[l.Result.ID] = true
		}
	}
	for _, r := range results {
		if !found[r.ID] {
			t.Errorf("result %s is not in the backup", r.ID)
		}
	}
}

// A backup that is cut or changed is refused, and an archive in which a Restore was broken off says so.
func TestRestoreRefuses(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		a := open(t, filepath.Join(t.TempDir(), "first.db"))
		put(t, a, history(9, 50)...)
		path := filepath.Join(t.TempDir(), "archive.backup")
		if err := a.Backup(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		cutBackup(t, path)
		b := open(t, url)
		if err := b.Restore(t.Context(), path); err == nil {
			t.Error("a backup that was cut is restored")
		}
		if err := b.Put(t.Context(), []*measure.Result{ping("a", "b", now, 1)}); err == nil {
			t.Error("a half restored archive takes Results")
		}
		closeIt(t, b)
		if _, err := archive.Open(t.Context(), url, archive.Options{}); !errors.Is(err, archive.ErrHalfRestored) {
			t.Errorf("a half restored archive is opened: %v", err)
		}
	})
	a := open(t, filepath.Join(t.TempDir(), "archive.db"))
	if err := a.Restore(t.Context(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := a.Backup(t.Context(), filepath.Join(t.TempDir(), "no", "folder")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// cutBackup leaves the last lines out of a backup.
func cutBackup(t *testing.T, path string) {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	lines, err := plain.DecodeAll(whole, nil)
	if err != nil {
		t.Fatal(err)
	}
	compressed, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	lines = lines[:bytes.LastIndexByte(lines[:len(lines)*2/3], '\n')+1]
	if err := os.WriteFile(path, compressed.EncodeAll(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Tables of a newer Pathwise are left alone.
func TestNewer(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		closeIt(t, open(t, url))
		_, err := database(t, url).Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, TRUE)")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Open(t.Context(), url, archive.Options{}); !errors.Is(err, archive.ErrNewer) {
			t.Errorf("error %v, want ErrNewer", err)
		}
	})
}

// Who asks while an archive is being restored gets an answer.
func TestAskWhileRestoring(t *testing.T) {
	t.Parallel()
	a := open(t, filepath.Join(t.TempDir(), "archive.db"))
	put(t, a, history(4, 200)...)
	backup := filepath.Join(t.TempDir(), "backup")
	if err := a.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	restored := open(t, filepath.Join(t.TempDir(), "restored.db"))
	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	asking.Go(func() {
		for ctx.Err() == nil {
			if _, err := restored.Pairs(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	err := restored.Restore(t.Context(), backup)
	cancel()
	if asking.Wait(); err != nil {
		t.Fatal(err)
	}
}
