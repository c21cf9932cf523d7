package archive_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/archive/postgrestest"
	"github.com/pathwise-net/pathwise/measure"
)

func TestMain(m *testing.M) {
	runChildIfAsked()
	runFullIfAsked()
	code := m.Run()
	if server != nil {
		if err := server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// One server does for all tests; each has a database of its own. What it has not written is safe from kill -9 all the
// same.
var (
	server     *postgrestest.Server
	serverErr  error
	serverOnce sync.Once
	databases  atomic.Int64
)

// postgresURL is a new, empty database, or the test is skipped.
func postgresURL(t *testing.T) string {
	t.Helper()
	serverOnce.Do(func() {
		server, serverErr = postgrestest.Start(context.Background(), "fsync=off", "full_page_writes=off")
	})
	if errors.Is(serverErr, postgrestest.ErrNone) {
		t.Skip(serverErr)
	}
	if serverErr != nil {
		t.Fatal(serverErr)
	}
	url, err := server.Create(context.Background(), fmt.Sprintf("test%d", databases.Add(1)))
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// onBoth runs a test on each backend, with the URL of an archive that does not exist yet.
func onBoth(t *testing.T, test func(t *testing.T, url string)) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, filepath.Join(t.TempDir(), "archive.db"))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, postgresURL(t))
	})
}

// now is when all tests take place.
var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// open opens an archive at the time now, and closes it when the test ends.
func open(t *testing.T, url string, change ...func(*archive.Options)) archive.Archive {
	t.Helper()
	o := archive.Options{Now: func() time.Time { return now }}
	for _, c := range change {
		c(&o)
	}
	a, err := archive.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil && !errors.Is(err, archive.ErrClosed) {
			t.Error(err)
		}
	})
	return a
}

func closeIt(t *testing.T, a archive.Archive) {
	t.Helper()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, a archive.Archive, results ...*measure.Result) {
	t.Helper()
	if err := a.Put(t.Context(), results); err != nil {
		t.Fatal(err)
	}
}

// source of random things, the same in every run.
func dice(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

var entropy = struct {
	sync.Mutex
	*rand.ChaCha8
}{ChaCha8: rand.NewChaCha8([32]byte{1})}

func newID(at time.Time) string {
	entropy.Lock()
	defer entropy.Unlock()
	return ulid.MustNew(ulid.Timestamp(at), entropy.ChaCha8).String()
}

// noise is so many characters that no compressor makes much smaller.
func noise(length int) string {
	entropy.Lock()
	defer entropy.Unlock()
	raw := make([]byte, length*3/4)
	entropy.ChaCha8.Read(raw)
	return base64.StdEncoding.EncodeToString(raw)
}

// ping is a Result as the mesh makes them, with some metrics.
func ping(source, target string, at time.Time, rtt float64) *measure.Result {
	r := measure.NewResult("ping", at)
	r.ID = newID(at)
	r.Test, r.Tool = "rtt of all", "rtt"
	r.Source, r.Target = measure.Endpoint{Name: source, Address: "10.0.0.1"}, measure.Endpoint{Name: target,
		Address: "10.0.0.2"}
	r.DurationSeconds = 1
	r.Parameters = map[string]any{"count": 10.0}
	r.Metrics = map[measure.Metric]float64{measure.RTTMean: rtt, measure.RTTMin: rtt * 0.9, measure.LossRatio: 0,
		measure.SentPackets: 10}
	return r
}

// failed is a Result that measured nothing.
func failed(source, target string, at time.Time) *measure.Result {
	r := ping(source, target, at, 0)
	clear(r.Metrics)
	r.Fail(errors.New("no route to host"))
	return r
}
