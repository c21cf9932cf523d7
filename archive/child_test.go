package archive_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

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

// kill kills the child, waits until it has ended, and returns what it wrote to its standard error.
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
