package archive_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// rounds is how often a fault strikes: a few times in passing, 20 times with PATHWISE_ARCHIVE_FAULTS=20.
func rounds(inPassing int) int {
	if n, err := strconv.Atoi(os.Getenv("PATHWISE_ARCHIVE_FAULTS")); err == nil {
		return n
	}
	return inPassing
}

// kill -9 of who keeps the archive, at any moment: nothing that was acknowledged is lost, nothing is there twice, and
// rollups say what the points say.
func TestKilled(t *testing.T) {
	onBoth(t, func(t *testing.T, url string) {
		w := newTold()
		random := dice(17)
		for round := range rounds(2) {
			c := startChild(t, url, 100+round, w)
			if round == 0 { // in the others it may strike before
				c.awaitFirst()
			}
			time.Sleep(time.Duration(random.Int64N(int64(300 * time.Millisecond)))) // when does not matter
			mustNot(t, c.kill())
		}
		if len(w.filed) == 0 {
			t.Fatal("the children filed nothing")
		}
		a := open(t, url)
		w.check(t, a, never)
		closeIt(t, a) // which moves what is left
		w.check(t, open(t, url), never)
		t.Logf("%d results acknowledged in %d rounds", len(w.filed), rounds(2))
	})
}

// A power cut leaves the file as far as it was written: whatever of the write-ahead log is missing or torn, the archive
// opens, has what was acknowledged before that point of the log, and rollups say what the points say.
func TestCut(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "archive.db")
	w := newTold()
	first := startChild(t, path, 1, w)
	first.awaitFirst()
	mustNot(t, first.kill())
	closeIt(t, open(t, path)) // what the first child filed is in the file itself
	for id := range w.filed {
		w.filed[id] = 1
	}
	c := startChild(t, path, 2, w)
	random := dice(18)
	deadline := time.Now().Add(time.Minute)
	for info, err := os.Stat(path + "-wal"); err != nil || info.Size() < 1<<20; info, err = os.Stat(path + "-wal") {
		if time.Now().After(deadline) {
			t.Fatal("the child writes nothing")
		}
		time.Sleep(10 * time.Millisecond)
	}
	mustNot(t, c.kill())
	log, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	main, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for round := range rounds(3) {
		cut := random.IntN(len(log))
		image, file := append([]byte(nil), log...), append([]byte(nil), main...)
		switch round % 3 {
		case 0: // the end of the log is not there
			image = image[:cut]
		case 1: // torn: of its last sectors some were written and some were not
			for at := cut &^ 511; at < len(image); at += 512 {
				if at == cut&^511 || random.IntN(2) == 0 {
					clear(image[at:min(len(image), at+512)])
				}
			}
		case 2: // the log was on its way to the file, which is torn wherever the log has its pages
			cut = len(log)
			tearPages(file, log, random)
		}
		copied := filepath.Join(folder, fmt.Sprintf("cut%d.db", round))
		if err := errors.Join(os.WriteFile(copied, file, 0o600), os.WriteFile(copied+"-wal", image, 0o600)); err != nil {
			t.Fatal(err)
		}
		a := open(t, copied)
		spared := 0
		w.check(t, a, func(id string) bool {
			after := w.filed[id] == 0 || w.filed[id] > int64(cut&^511)
			if after {
				spared++
			}
			return after
		})
		closeIt(t, a)
		t.Logf("cut at %d of %d: %d of %d acknowledged results were after the cut", cut, len(log), spared, len(w.filed))
	}
}

// tearPages spoils sectors of a SQLite file in pages of which its log has a newer version. The log is a head of 32
// bytes, with the page size at 8, and frames: a head of 24 bytes, which begins with the page's number, and the page.
func tearPages(file, log []byte, random *rand.Rand) {
	size := int(binary.BigEndian.Uint32(log[8:]))
	for at := 32; at+24+size <= len(log); at += 24 + size {
		page := int(binary.BigEndian.Uint32(log[at:]))
		if sector := (page-1)*size + 512*random.IntN(size/512); page > 1 && sector+512 <= len(file) {
			clear(file[sector : sector+512])
		}
	}
}

// PostgreSQL is killed under load and comes back: what was put meanwhile fails or is filed, and when it is put again it
// is there once.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	postgresURL(t) // or skip
	ctx := t.Context()
	own, err := startServer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Stop()
	url, err := own.Create(ctx, "archive")
	if err != nil {
		t.Fatal(err)
	}
	a := open(t, url, func(o *archive.Options) { o.MoveValues = 1000 })
	w := newTold()
	random, when := dice(19), dice(20) // of the goroutine that puts, and of this one
	failures := 0
	for range rounds(2) {
		stop, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for {
				var batch []*measure.Result
				for range 20 {
					at := now.Add(-time.Duration(random.Int64N(int64(6 * time.Hour))))
					r := ping("a", string(rune('b'+random.IntN(4))), at, float64(at.UnixMicro()%1000)/1000)
					w.about[r.ID] = archive.Point{Time: at, Value: r.Metrics[measure.RTTMean]}
					batch = append(batch, r)
				}
				for err := a.Put(ctx, batch); err != nil; err = a.Put(ctx, batch) {
					failures++
					time.Sleep(20 * time.Millisecond) // as an agent does
				}
				for _, r := range batch {
					w.filed[r.ID] = 1
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		}()
		time.Sleep(time.Duration(when.Int64N(int64(300 * time.Millisecond)))) // when does not matter
		own.Kill()
		if err := own.Run(ctx); err != nil {
			t.Fatal(err)
		}
		close(stop)
		<-done
	}
	if failures == 0 {
		t.Error("nothing failed while the server was away")
	}
	w.check(t, a, never)
	closeIt(t, a)
	w.check(t, open(t, url), never)
	t.Logf("%d results acknowledged, %d calls failed in %d rounds", len(w.filed), failures, rounds(2))
}
