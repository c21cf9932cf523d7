package archive_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
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

// The child is this test binary again. It puts Results into an archive and says of each which is on disk, until it is
// killed:
//
//	about ID TIME   before it is put
//	filed ID        when Put has returned
//	log BYTES       how long the write-ahead log then was
const childURL = "PATHWISE_ARCHIVE_CHILD"

func runChildIfAsked() {
	if url := os.Getenv(childURL); url != "" {
		if err := runChild(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

func runChild(url string) error {
	seed, err := strconv.ParseUint(os.Getenv(childURL+"_SEED"), 10, 64)
	if err != nil {
		return err
	}
	a, err := archive.Open(context.Background(), url, archive.Options{MoveValues: 600,
		Now: func() time.Time { return now }})
	if err != nil {
		return err
	}
	random := dice(seed)
	for {
		var batch []*measure.Result
		for range 1 + random.IntN(40) {
			at := now.Add(-time.Duration(random.Int64N(int64(6 * time.Hour))))
			r := ping("a", string(rune('b'+random.IntN(4))), at, float64(at.UnixMicro()%1000)/1000)
			r.ID = childID(random.Uint64(), random.Uint64())
			batch = append(batch, r)
			fmt.Println("about", r.ID, at.UnixNano(), r.Target.Name)
		}
		if err := a.Put(context.Background(), batch); err != nil {
			return err
		}
		for _, r := range batch {
			fmt.Println("filed", r.ID)
		}
		if info, err := os.Stat(url + "-wal"); err == nil {
			fmt.Println("log", info.Size())
		}
	}
}

// told is what a child said.
type told struct {
	about map[string]archive.Point // by ID: what it would put
	to    map[string]string        // by ID: the target
	filed map[string]int64         // by ID: how long the log was when it was filed; 0: not told
}

func newTold() *told {
	return &told{map[string]archive.Point{}, map[string]string{}, map[string]int64{}}
}

// listen reads what a child says until it ends, and calls first when something is filed; a half line is no word.
func (w *told) listen(from io.Reader, first func()) {
	lines := bufio.NewReader(from)
	var last []string
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		switch f := strings.Fields(line); f[0] {
		case "about":
			ns, _ := strconv.ParseInt(f[2], 10, 64)
			w.about[f[1]] = archive.Point{Time: time.Unix(0, ns).UTC(), Value: float64(time.Unix(0, ns).UnixMicro()%1000) / 1000}
			w.to[f[1]] = f[3]
		case "filed":
			w.filed[f[1]] = 0
			first()
			last = append(last, f[1])
		case "log":
			bytes, _ := strconv.ParseInt(f[1], 10, 64)
			for _, id := range last {
				w.filed[id] = bytes
			}
			last = last[:0]
		}
	}
}

// check holds an archive against what children said: what they were told is filed is there, unless spared says that it
// may be lost, nothing is there twice, and points and rollups are those of the Results that are there.
func (w *told) check(t *testing.T, a archive.Archive, spared func(id string) bool) {
	t.Helper()
	var results []*measure.Result
	there := map[string]bool{}
	for r, err := range a.All(t.Context(), archive.ResultQuery{Limit: 1000}) {
		if err != nil {
			t.Fatal(err)
		}
		if there[r.ID] {
			t.Errorf("result %s is there twice", r.ID)
		}
		if want := w.about[r.ID]; !r.Started.Equal(want.Time) || r.Metrics[measure.RTTMean] != want.Value {
			t.Errorf("result %s is not what was put: %v", r.ID, r)
		}
		there[r.ID] = true
		results = append(results, r)
	}
	lost := 0
	for id := range w.filed {
		if !there[id] && !spared(id) {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d results that were acknowledged are lost", lost, len(w.filed))
	}
	checkPoints(t, a, results)
	checkRollups(t, a, results)
}

// checkRollups holds every level of every path against the Results.
func checkRollups(t *testing.T, a archive.Archive, results []*measure.Result) {
	t.Helper()
	from, to := now.Add(-oneDay), now.Add(time.Hour)
	for _, target := range []string{"b", "c", "d", "e"} {
		points := valuesOf(results, func(r *measure.Result) bool { return r.Target.Name == target }, measure.RTTMean)
		for _, level := range archive.Levels {
			got, err := a.Series(t.Context(), archive.SeriesQuery{Match: archive.Match{Target: target,
				Metric: "rtt_mean_seconds"}, From: from, To: to,
				Step: level, Quantiles: []float64{0.5}})
			if err != nil {
				t.Fatal(err)
			}
			want := &archive.Series{Step: level, Level: level, Buckets: seriesOf(points, from, to, level, []float64{0.5})}
			if !sameSeries(want, got) {
				t.Errorf("%v of %s differs from the points", level, target)
			}
		}
	}
}

// child is another process of this program.
type child struct {
	cmd       *exec.Cmd
	complaint strings.Builder
	first     chan struct{} // it has filed something
	heard     chan struct{} // it has said its last word
}

// startChild starts a child that says what it does to w, and returns when it has begun.
func startChild(t *testing.T, url string, seed int, w *told) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0]), first: make(chan struct{}), heard: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), childURL+"="+url, fmt.Sprintf("%s_SEED=%d", childURL, seed))
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	c.cmd.Stderr = &c.complaint
	words, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.kill() })
	began := make(chan struct{})
	go func() {
		defer close(c.heard)
		buffered := bufio.NewReader(words)
		buffered.Peek(1)
		close(began)
		w.listen(buffered, sync.OnceFunc(func() { close(c.first) }))
	}()
	<-began
	return c
}

// awaitFirst waits until it has filed something.
func (c *child) awaitFirst() {
	select {
	case <-c.first:
	case <-c.heard: // it never will
	}
}

// kill ends it, waits for its last word, and returns what it complained of.
func (c *child) kill() (complaint string) {
	c.cmd.Process.Kill()
	<-c.heard
	c.cmd.Wait() // how it ended does not matter
	return c.complaint.String()
}

// stop lets it do nothing more: what it asked of the kernel goes on, and it does not learn what came of it.
func (c *child) stop() { c.cmd.Process.Signal(syscall.SIGSTOP) }

// mustNot fails the test if a child complained.
func mustNot(t *testing.T, complaint string) {
	t.Helper()
	if complaint != "" {
		t.Errorf("the child failed: %s", complaint)
	}
}

func never(string) bool { return false }

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
