package archive

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/stat"
)

var plainly = cmp.Options{cmp.AllowUnexported(run{}, value{}, bucket{}, streamTail{}, latestValue{}), cmpopts.EquateEmpty()}

// slotStart is when a slot begins, somewhere in 2026.
const slotStart = 1_477_000 * slotSpan

// someRuns are runs of one slot: three metrics, of which one never changes, one is not always there, and one is random, and a
// distribution that some have.
func someRuns(n int) []run {
	random := rand.New(rand.NewPCG(1, 2))
	var runs []run
	for i := range n {
		r := run{slotStart + int64(i)*slotSpan/int64(n), []value{{3, 10, nil}, {300, random.NormFloat64(), nil}}}
		if i%3 == 0 {
			r.values = slices.Insert(r.values, 1, value{metric: 77, value: -float64(i)})
		}
		if i%4 == 1 {
			r.values = append(r.values, value{metric: 301, sketch: sketchOf(random.ExpFloat64(), 1, 2)})
		}
		if i%10 == 9 {
			r.values = nil // failed
		}
		runs = append(runs, r)
	}
	return runs
}

func TestPoints(t *testing.T) {
	for _, n := range []int{1, 2, 9, 20, 1200} {
		runs := someRuns(n)
		data := appendPoints(nil, runs)
		got, err := decodePoints(data, slotOf(runs[0].time), nil)
		if diff := cmp.Diff(runs, got, plainly); diff != "" || err != nil {
			t.Errorf("%d runs: error %v (-written +read):\n%s", n, err, diff)
		}
		one, err := decodePoints(data, slotOf(runs[0].time), func(m metricID) bool { return m == 77 })
		if err != nil || len(one) != n || n > 3 && (len(one[3].values) != 1 || one[3].values[0].metric != 77 || one[3].values[0].value != -3) {
			t.Errorf("one metric of %d runs: %v, error %v", n, one, err)
		}
		for i := range min(len(data), 1000) {
			if _, err := decodePoints(data[:i], slotOf(runs[0].time), nil); err == nil {
				t.Errorf("%d runs: cut to %d of %d bytes they still read", n, i, len(data))
			}
		}
	}
	if size := len(appendPoints(nil, someRuns(20))); size > 20*30 {
		t.Errorf("20 runs take %d bytes", size)
	}
}

func TestJournal(t *testing.T) {
	type line struct {
		Stream streamID
		Run    run
	}
	var want, got []line
	var data []byte
	for i, r := range someRuns(50) {
		want = append(want, line{streamID(1 + i*i), r})
		data = appendRun(data, streamID(1+i*i), r)
	}
	size := 0
	err := readJournal(data, func(s streamID, r run, raw []byte) {
		got = append(got, line{s, r})
		size += len(raw)
	})
	if diff := cmp.Diff(want, got, plainly); diff != "" || err != nil || size != len(data) {
		t.Errorf("error %v, %d of %d bytes (-written +read):\n%s", err, size, len(data), diff)
	}
	if err := readJournal(data[:len(data)-1], func(streamID, run, []byte) {}); err == nil {
		t.Error("a journal that was cut still reads")
	}
}

func TestNews(t *testing.T) {
	s := &stream{}
	for _, r := range []run{{10, []value{{1, 1, nil}, {5, 5, nil}}}, {5, []value{{1, 0, nil}, {3, 3, nil}}}, {20, nil},
		{15, []value{{5, 6, nil}}}} {
		s.note(r)
	}
	want := streamTail{5, 20, []latestValue{{1, 10, 1}, {3, 5, 3}, {5, 15, 6}}}
	got, err := decodeStreamTail(s.bytes())
	if diff := cmp.Diff(want, got, plainly); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

// sketchOf is the sketch of some values, as it is written.
func sketchOf(values ...float64) []byte {
	var s stat.Sketch
	for _, v := range values {
		s.Add(v)
	}
	return s.AppendBinary(nil)
}

// Rows merge bucket by bucket, whichever of them has it.
func TestBlend(t *testing.T) {
	one := appendBuckets(nil, []bucket{{0, sketchOf(1)}, {2, sketchOf(5, 6)}, {700, sketchOf(2)}})
	two := appendBuckets(nil, []bucket{{1, sketchOf(3)}, {2, sketchOf(7)}, {900, sketchOf(4)}})
	want := []bucket{{0, sketchOf(1)}, {1, sketchOf(3)}, {2, sketchOf(5, 6, 7)}, {700, sketchOf(2)}, {900, sketchOf(4)}}
	var b blender
	for _, rows := range [][2][]byte{{one, two}, {two, one}} {
		merged, err := b.add(0, rows[0], rows[1])
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeBuckets(nil, merged, 0)
		if diff := cmp.Diff(want, got, plainly); diff != "" || err != nil {
			t.Errorf("error %v (-want +got):\n%s", err, diff)
		}
	}
	key := rollupKey{0, 600, streamID(7).rowOf(0, 70, false)}
	if m, at := key.metric(702), key.begins(702); m != 70 || at != (600+2*60)*int64(time.Second) {
		t.Errorf("bucket 702 is of metric %d, begins at %d", m, at)
	}
	if _, err := b.add(0, one, []byte{9}); err == nil {
		t.Error("a row of another version was merged")
	}
}

func TestMatch(t *testing.T) {
	cases := []struct {
		pattern, text string
		want          bool
	}{
		{"", "anything", true}, {"*", "", true}, {"rtt", "rtt", true}, {"rtt", "rtt2", false}, {"rtt*", "rtt/2", true},
		{"r?t", "rät", true}, {"[ab]*", "bcd", true}, {"[ab]*", "cd", false}, {`a\*b`, "a*b", true}, {`a\*b`, "axb", false},
		{"*_seconds", "rtt_min_seconds", true},
	}
	for _, c := range cases {
		m, err := compile(c.pattern)
		if err != nil || m.matches(c.text) != c.want {
			t.Errorf("%q matches %q: %v, error %v, want %v", c.pattern, c.text, m.matches(c.text), err, c.want)
		}
		m, err = compile(literal(c.text))
		if err != nil || c.text != "" && (!m.exact || !m.matches(c.text) || m.matches(c.text+"x")) {
			t.Errorf("the literal of %q is %q: %+v, %v", c.text, literal(c.text), m, err)
		}
	}
	if _, err := compile("[a"); err == nil {
		t.Error("[a was taken for a pattern")
	}
}

// A field that is added to Result must be added to appendResult, which the test of that holds it to once it is here.
func TestFullResultIsFull(t *testing.T) {
	for _, v := range []reflect.Value{reflect.ValueOf(*fullResult()), reflect.ValueOf(fullResult().Clock)} {
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("fullResult leaves %s.%s empty", v.Type(), v.Type().Field(i).Name)
			}
		}
	}
}

func TestRetention(t *testing.T) {
	const h = time.Hour
	rules, err := newRetention([]Rule{
		{Tool: "bulk*", Results: Forever, Points: 3 * h},
		{Metric: "*_ratio", Points: 5 * h, Rollups: [4]time.Duration{Never}},
		{Points: 7 * h},
	})
	if err != nil {
		t.Fatal(err)
	}
	d := DefaultRule()
	ratios := [4]time.Duration{Never, d.Rollups[1], d.Rollups[2], d.Rollups[3]}
	cases := []struct {
		tool, metric string
		want         Rule
	}{
		{"bulk2", "", Rule{Samples: d.Samples, Results: Forever, Points: 3 * h, Rollups: d.Rollups}},
		{"bulk2", "loss_ratio", Rule{Samples: d.Samples, Results: Forever, Points: 3 * h, Rollups: ratios}},
		{"rtt", "loss_ratio", Rule{Samples: d.Samples, Results: d.Results, Points: 5 * h, Rollups: ratios}},
		{"rtt", "rtt_min_seconds", Rule{Samples: d.Samples, Results: d.Results, Points: 7 * h, Rollups: d.Rollups}},
	}
	for _, c := range cases {
		c.want.Tool, c.want.Metric = c.tool, c.metric
		if diff := cmp.Diff(c.want, rules.of(c.tool, c.metric)); diff != "" {
			t.Errorf("%s of %s (-want +got):\n%s", c.metric, c.tool, diff)
		}
	}
}

func TestWithoutSecret(t *testing.T) {
	for url, want := range map[string]string{
		"/var/lib/pathwise/archive.db":                    "/var/lib/pathwise/archive.db",
		"postgres://user:secret@host:5432/db?password=x1": "postgres://host:5432/db",
		"postgres:///db?host=/run/postgresql":             "postgres:///db",
	} {
		if got := withoutSecret(url); got != want {
			t.Errorf("%s becomes %s, want %s", url, got, want)
		}
	}
}

// Whatever a file or a backup holds, reading ends, takes memory in proportion, and what is read can be written again.
func FuzzPoints(f *testing.F) {
	f.Add(appendPoints(nil, someRuns(1)))
	f.Add(appendPoints(nil, someRuns(30)))
	f.Fuzz(func(t *testing.T, data []byte) {
		runs, err := decodePoints(data, slotOf(slotStart), nil)
		if err != nil {
			return
		}
		again, err := decodePoints(appendPoints(nil, runs), slotOf(slotStart), nil)
		if diff := cmp.Diff(runs, again, plainly, cmpopts.EquateNaNs()); diff != "" || err != nil {
			t.Fatalf("error %v, reads back differently:\n%s", err, diff)
		}
	})
}

func FuzzJournal(f *testing.F) {
	f.Add(appendRun(appendRun(nil, 1, someRuns(1)[0]), 2, run{}))
	f.Add(appendRun(nil, 1, someRuns(2)[1]))
	f.Fuzz(func(t *testing.T, data []byte) {
		var again []byte
		values, read := 0, 0
		every := func(metricID) bool { return true }
		err := readJournal(data, func(s streamID, r run, _ []byte) {
			again = appendRun(again, s, r)
			values += len(r.values)
		})
		errOf := readValues(data, math.MinInt64, math.MaxInt64, every, func(_ int64, some []value) { read += len(some) })
		if err == nil && (errOf != nil || read != values) {
			t.Fatalf("%d of %d values are read one by one, error %v", read, values, errOf)
		}
		if err == nil && readValues(data, 1, 0, every, func(int64, []value) { t.Fatal("a value of no time") }) != nil {
			t.Fatal("what was read cannot be passed over")
		}
		if err == nil && readJournal(again, func(streamID, run, []byte) {}) != nil {
			t.Fatal("what was read cannot be written")
		}
	})
}

func FuzzRollup(f *testing.F) {
	f.Add(appendBuckets(nil, []bucket{{0, sketchOf(1)}, {9, sketchOf(5, 6)}}), appendBuckets(nil, []bucket{{9, sketchOf(1)}}), 2)
	samples := append(appendRuns(nil, 3), sketchOf(1, 2, 3)...)
	f.Add(appendBuckets(nil, []bucket{{0, samples}}), appendBuckets(nil, []bucket{{0, samples}}), 2)
	f.Add([]byte{rollupVersion}, binary.AppendUvarint([]byte{rollupVersion, 0}, math.MaxUint64), 0)
	f.Fuzz(func(t *testing.T, one, two []byte, level int) {
		if level < 0 || level >= len(Levels) {
			return
		}
		var b blender
		merged, err := b.add(level, one, two)
		if err != nil {
			return
		}
		if _, err := decodeBuckets(nil, merged, level); err != nil {
			t.Fatalf("what was merged does not read: %v", err)
		}
	})
}

func FuzzNews(f *testing.F) {
	f.Add(streamTail{4, 5, []latestValue{{1, 2, 3}}}.bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := decodeStreamTail(data)
		if err != nil {
			return
		}
		again, err := decodeStreamTail(s.bytes())
		if diff := cmp.Diff(s, again, plainly, cmpopts.EquateNaNs()); diff != "" || err != nil {
			t.Fatalf("error %v, reads back differently:\n%s", err, diff)
		}
	})
}

// A line of a backup comes from outside.
func FuzzBackupLine(f *testing.F) {
	f.Add(`{"result":{"schema":"pathwise.result/1","id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","kind":"ping","status":"ok"}}`)
	f.Add(`{"points":{"slot":1477000,"stream":1,"generation":1,"data":"AQEAAA=="}}`)
	f.Add(`{"rollup":{"level":3,"start":0,"series":65536,"data":"AQAEERQ="}}`)
	f.Add(`{"stream":{"id":1,"latest":"AA=="}}`)
	f.Add(`{"journal":{"generation":1,"data":"AQAA"}}`)
	f.Add(`{"miss":{"run":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}}`)
	k := &keeper{}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.Contains(line, "\n") {
			return
		}
		r := &backupReader{lines: newLines(strings.NewReader(line + "\n"))}
		if l, err := r.next(); err == nil {
			_ = (&restoring{k: k}).take(l)
		}
	})
}

func BenchmarkAppendPoints(b *testing.B) {
	runs := someRuns(20)
	var data []byte
	for b.Loop() {
		data = appendPoints(data[:0], runs)
	}
}

func BenchmarkPack(b *testing.B) {
	q, err := newPacker()
	if err != nil {
		b.Fatal(err)
	}
	r := fullResult()
	metrics, err := metricsIn(r)
	if err != nil {
		b.Fatal(err)
	}
	line, err := appendResult(nil, r, metrics)
	if err != nil {
		b.Fatal(err)
	}
	lines := bytes.Repeat(append(line, '\n'), 100)
	b.SetBytes(int64(len(lines)))
	for b.Loop() {
		q.pack(lines)
	}
}
