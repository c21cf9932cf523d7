package spool

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
)

var began = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// id makes ULIDs that sort by n.
func id(n int) string {
	var u ulid.ULID
	_ = u.SetTime(ulid.Timestamp(began) + uint64(n))
	return u.String()
}

func result(n int) *measure.Result {
	r := measure.NewResult("ping", began.Add(time.Duration(n)*time.Second))
	r.ID = id(n)
	r.Metrics[measure.RTTMin] = float64(n)
	r.Note(strings.Repeat("note ", n%50))
	return r
}

func run(n int) measure.Run {
	return measure.Run{ID: id(n), Tool: "rtt", Source: "a", Target: "b", Start: began, LimitSeconds: 10,
		Task: measure.Task{Kind: "ping", Target: "192.0.2.1"}}
}

func open(t *testing.T, c Config) *Spool {
	t.Helper()
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// put writes Results and commits.
func put(t *testing.T, s *Spool, results ...*measure.Result) {
	t.Helper()
	for _, r := range results {
		if err := s.Put(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
}

// due returns everything that may be delivered now, without saying that it was.
func due(t *testing.T, s *Spool) []*measure.Result {
	t.Helper()
	got, err := s.Due(1 << 30)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func ids(results []*measure.Result) (list []string) {
	for _, r := range results {
		list = append(list, r.ID)
	}
	return list
}

func TestLifeOfARun(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	secret := run(1)
	secret.Responder = &measure.Responder{Kind: measure.ResponderIperf3, Secret: "do-not-tell"}
	mark := Mark{Plan: 7, Until: began.Add(time.Minute)}
	if err := s.Begin(mark, secret, run(2)); err != nil {
		t.Fatal(err)
	}
	put(t, s, result(2), result(2), result(3))
	if !s.Has(id(1)) || !s.Has(id(2)) || s.Has(id(4)) {
		t.Error("the spool does not know what it has")
	}
	s.Close()

	s = open(t, Config{Dir: dir})
	if diff := cmp.Diff([]measure.Run{run(1)}, s.Unfinished()); diff != "" {
		t.Errorf("unfinished (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(mark, s.Mark()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]*measure.Result{result(2), result(3)}, due(t, s)); diff != "" {
		t.Errorf("due (-want +got):\n%s", diff)
	}
	s.Filed(id(2), id(99), "no id")
	put(t, s, result(1))
	s.Close()

	s = open(t, Config{Dir: dir})
	if diff := cmp.Diff([]string{id(3), id(1)}, ids(due(t, s))); diff != "" || len(s.Unfinished()) > 0 {
		t.Errorf("unfinished %v, due (-want +got):\n%s", s.Unfinished(), diff)
	}
	s.Filed(id(1), id(3))
	put(t, s)
	if got := s.State(); got.Results != 0 || got.Bytes > 300 {
		t.Errorf("after everything is filed: %+v, want no more than the mark", got)
	}
	s.Close()
	s = open(t, Config{Dir: dir})
	if s.State().Results != 0 || s.Mark() != mark {
		t.Errorf("after everything is filed: %+v, %+v", s.State(), s.Mark())
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		if text, _ := os.ReadFile(f); bytes.Contains(text, []byte("do-not-tell")) {
			t.Errorf("%s holds the secret", f)
		}
	}
}

func TestDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Config{Dir: t.TempDir()})
		if err := s.Put(result(1)); err != nil {
			t.Fatal(err)
		}
		if got := due(t, s); got != nil {
			t.Errorf("%v delivered before it is on the disk", ids(got))
		}
		put(t, s, result(2))
		var at []int // seconds at which Result 1 is delivered, if nobody files it
		start := time.Now()
		for time.Since(start) < 40*time.Minute {
			if got := due(t, s); len(got) > 0 {
				if got[0].ID == id(1) {
					at = append(at, int(time.Since(start).Seconds()))
				}
				s.Sent(got)
				s.Filed(id(2))
			}
			time.Sleep(time.Second)
		}
		if diff := cmp.Diff([]int{0, 30, 90, 210, 450, 930, 1530, 2130}, at); diff != "" {
			t.Errorf("delivered at (-want +got):\n%s", diff)
		}
	})
}

// TestWindow has more Results than may be on their way at a time, none of which is filed: they hold the others back for
// a while only.
func TestWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Config{Dir: t.TempDir()})
		var all []*measure.Result
		for n := range windowResults + 10 {
			all = append(all, result(n))
		}
		put(t, s, all...)
		first := due(t, s)
		s.Sent(first)
		if len(first) != windowResults || len(due(t, s)) > 0 {
			t.Errorf("%d Results on their way, then %d; want %d and none", len(first), len(due(t, s)), windowResults)
		}
		time.Sleep(ackWait)
		if got, want := due(t, s), windowResults; len(got) != want {
			t.Fatalf("after a while %d Results, want %d again", len(got), want)
		}
		s.Filed(ids(first)...)
		if diff := cmp.Diff(ids(all[windowResults:]), ids(due(t, s))); diff != "" {
			t.Errorf("after the first were filed (-want +got):\n%s", diff)
		}
	})
}

// TestPowerCut cuts the log's last file at every byte of its last frames, as the end of power may: what was before stays.
func TestPowerCut(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	sizes := []int64{} // of the log, with n Results
	for n := range 20 {
		sizes = append(sizes, s.State().Bytes)
		put(t, s, result(n))
	}
	whole, err := os.ReadFile(segmentPath(dir, 1))
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	var cuts []int64
	for cut := sizes[17]; cut < int64(len(whole)); cut += 13 { // the head of a frame has 13 bytes: each part of one is hit
		cuts = append(cuts, cut)
	}
	for _, cut := range append(cuts, sizes[18], sizes[18]+1, sizes[19]-1, int64(len(whole))) {
		want := 0
		for want < len(sizes) && (want+1 == len(sizes) && cut == int64(len(whole)) || want+1 < len(sizes) && sizes[want+1] <= cut) {
			want++
		}
		for _, tail := range [][]byte{nil, make([]byte, 600), bytes.Repeat(magic, 100)} {
			image := t.TempDir()
			if err := os.WriteFile(segmentPath(image, 1), append(slices.Clone(whole[:cut]), tail...), 0o600); err != nil {
				t.Fatal(err)
			}
			s := open(t, Config{Dir: image})
			if got := len(due(t, s)); got != want {
				t.Fatalf("cut at %d of %d with %d bytes behind: %d Results, want %d", cut, len(whole), len(tail), got, want)
			}
			put(t, s, result(100))
			s.Close()
			s = open(t, Config{Dir: image})
			if got := ids(due(t, s)); len(got) != want+1 || got[want] != id(100) {
				t.Fatalf("cut at %d: what was written after it is lost: %v", cut, got)
			}
			s.Close()
		}
	}
}

// TestDamage flips a bit anywhere: at most the record that it hit is lost.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	const results = 20
	for n := range results {
		put(t, s, result(n))
	}
	s.Close()
	whole, err := os.ReadFile(segmentPath(dir, 1))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		bit := random.IntN(8 * len(whole))
		damaged := slices.Clone(whole)
		damaged[bit/8] ^= 1 << (bit % 8)
		image := t.TempDir()
		if err := os.WriteFile(segmentPath(image, 1), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		s := open(t, Config{Dir: image, Log: slog.New(slog.NewTextHandler(&log, nil))})
		inMark := bit/8 < headSize+len(`{"plan":0,"until":"0001-01-01T00:00:00Z"}`)
		if got := len(due(t, s)); got != results-1 && !(inMark && got == results) {
			t.Fatalf("bit %d: %d Results, want %d", bit, got, results-1)
		}
		if !strings.Contains(log.String(), "level=WARN") {
			t.Fatalf("bit %d: no warning in %q", bit, log.String())
		}
		s.Close()
	}
}

func TestCompaction(t *testing.T) {
	dir := t.TempDir()
	c := Config{Dir: dir, SegmentBytes: 4096}
	s := open(t, c)
	mark := Mark{Plan: 3, Until: began}
	if err := s.Begin(mark, run(5000)); err != nil {
		t.Fatal(err)
	}
	for n := range 1000 {
		if err := s.Put(result(n)); err != nil {
			t.Fatal(err)
		}
		if n%100 != 0 { // one in a hundred is not filed
			s.Filed(id(n))
		}
		if n%10 == 0 {
			put(t, s)
		}
		if got := s.State().Bytes; got > 2*10*600+5*4096 {
			t.Fatalf("with %d Results, the log has %d bytes", s.State().Results, got)
		}
	}
	var want []string
	for n := 0; n < 1000; n += 100 {
		want = append(want, id(n))
	}
	for range 2 {
		got := ids(due(t, s))
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("due (-want +got):\n%s", diff)
		}
		s.Close()
		s = open(t, c)
		if diff := cmp.Diff([]measure.Run{run(5000)}, s.Unfinished()); diff != "" || !s.Mark().Until.Equal(began) {
			t.Errorf("mark %v, unfinished (-want +got):\n%s", s.Mark(), diff)
		}
	}
}

func TestSizeBound(t *testing.T) {
	s := open(t, Config{Dir: t.TempDir(), SegmentBytes: 4096, MaxBytes: 20_000})
	if err := s.Begin(Mark{}, run(5000)); err != nil {
		t.Fatal(err)
	}
	const results = 500
	for n := range results {
		if err := s.Put(result(n)); err != nil {
			t.Fatal(err)
		}
		if n%5 == 4 {
			put(t, s)
		}
	}
	got, state := ids(due(t, s)), s.State()
	if state.Bytes > 20_000+3*4096 || state.Dropped == 0 || state.Dropped+state.Results != results {
		t.Errorf("state %+v, want at most 20 kB, and every Result kept or counted", state)
	}
	if len(got) == 0 || got[0] != id(state.Dropped) || got[len(got)-1] != id(results-1) {
		t.Errorf("%d are left from %v on, want the newest", len(got), got[:1])
	}
	if !s.Has(id(5000)) {
		t.Error("a run that began was forgotten")
	}
}

func TestRefusals(t *testing.T) {
	s := open(t, Config{Dir: t.TempDir()})
	bad := result(1)
	bad.ID = "one"
	if err := s.Put(bad); err == nil {
		t.Error("a Result without a ULID was taken")
	}
	if _, err := Open(Config{Dir: filepath.Join(segmentPath("/dev/null", 1))}); err == nil {
		t.Error("opened below a file")
	}
}

// TestConcurrentUse reads, writes and commits at once, and loses nothing.
func TestConcurrentUse(t *testing.T) {
	s := open(t, Config{Dir: t.TempDir(), SegmentBytes: 2048})
	const results = 2000
	writing, filed := make(chan error, 1), map[string]bool{}
	go func() {
		for n := range results {
			if err := s.Put(result(n)); err != nil {
				writing <- err
				return
			}
		}
		writing <- nil
	}()
	deadline := time.Now().Add(30 * time.Second)
	for len(filed) < results && time.Now().Before(deadline) {
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
		got, err := s.Due(10_000)
		if err != nil {
			t.Fatal(err)
		}
		s.Sent(got)
		for _, r := range got {
			filed[r.ID] = true
		}
		s.Filed(ids(got)...)
	}
	if err := <-writing; err != nil || len(filed) != results {
		t.Errorf("%v; %d Results came out, want %d", err, len(filed), results)
	}
}

func BenchmarkPut(b *testing.B) {
	s, err := Open(Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	r := result(1)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		r.ID = id(n)
		if err := s.Put(r); err != nil {
			b.Fatal(err)
		}
		s.Filed(r.ID)
		if n%100 == 99 {
			if err := s.Commit(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func FuzzScan(f *testing.F) {
	f.Add(appendFrame(appendFrame(nil, kindMark, []byte("{}")), kindResult, []byte("body")))
	f.Add(fmt.Append(nil, "no frame at all"))
	f.Fuzz(func(t *testing.T, data []byte) {
		whole := 0
		between, after := scan(data, func(_ byte, body []byte, at int) { whole += headSize + len(body) })
		if between+after+whole != len(data) {
			t.Errorf("%d + %d + %d bytes of %d", whole, between, after, len(data))
		}
		dir := t.TempDir()
		if err := os.WriteFile(segmentPath(dir, 1), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		_, _ = s.Due(1 << 30)
	})
}
