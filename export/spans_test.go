package export

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var spansEqual = cmp.AllowUnexported(span{})

func TestSpansAdd(t *testing.T) {
	tests := []struct {
		name string
		all  spans
		add  span
		want spans
	}{
		{"to nothing", nil, span{3, 5}, spans{{3, 5}}},
		{"nothing", spans{{3, 5}}, span{9, 9}, spans{{3, 5}}},
		{"before", spans{{3, 5}}, span{0, 2}, spans{{0, 2}, {3, 5}}},
		{"touching before", spans{{3, 5}}, span{0, 3}, spans{{0, 5}}},
		{"touching after", spans{{3, 5}}, span{5, 6}, spans{{3, 6}}},
		{"within", spans{{3, 9}}, span{4, 5}, spans{{3, 9}}},
		{"between", spans{{0, 1}, {8, 9}}, span{4, 5}, spans{{0, 1}, {4, 5}, {8, 9}}},
		{"a bridge", spans{{0, 2}, {4, 6}, {8, 9}}, span{2, 4}, spans{{0, 6}, {8, 9}}},
		{"over all", spans{{0, 2}, {4, 6}}, span{-1, 7}, spans{{-1, 7}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.all.add(test.add), spansEqual); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A set of spans behaves as a set of numbers.
func TestSpansAreASet(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var all spans
	plain := map[slot]bool{}
	for range 2000 {
		if len(all) > 0 && random.IntN(2) == 0 {
			var first slot
			first, all = all.takeFirst()
			for s := range plain {
				if s < first {
					t.Fatalf("took %d, but %d is in the set", first, s)
				}
			}
			delete(plain, first)
		} else {
			from := slot(random.IntN(100))
			s := span{from, from + slot(random.IntN(4))}
			all = all.add(s)
			for i := s.from; i < s.to; i++ {
				plain[i] = true
			}
		}
		for s := slot(-1); s < 105; s++ {
			if all.has(s) != plain[s] {
				t.Fatalf("has(%d) is %v in %v", s, all.has(s), all)
			}
		}
		for i := 1; i < len(all); i++ {
			if all[i-1].to >= all[i].from {
				t.Fatalf("%v touch", all)
			}
		}
	}
}

func TestSlotOf(t *testing.T) {
	for _, test := range []struct {
		at   time.Time
		want slot
	}{
		{time.Unix(0, 0), 0}, {time.Unix(9, 999), 0}, {time.Unix(10, 0), 1}, {time.Unix(-1, 0), -1}, {time.Unix(-10, 0), -1},
		{time.Unix(-11, 0), -2},
	} {
		if got := slotOf(test.at); got != test.want {
			t.Errorf("slotOf(%v) = %d, want %d", test.at, got, test.want)
		}
	}
	path := filepath.Join(t.TempDir(), "unsent")
	late := slotOf(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC))
	if err := writeUnsent(path, spans{{late, late + 1}}); err != nil {
		t.Fatal(err)
	}
	if got, err := readUnsent(path); err != nil || !got.has(late) {
		t.Errorf("the last time there is comes back as %v, %v", got, err)
	}
}

func TestLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unsent")
	if got, err := readUnsent(path); got != nil || err != nil {
		t.Errorf("no file: %v, %v", got, err)
	}
	want := spans{{-5, -1}, {10, 20}, {176371800, 176371801}}
	for range 2 { // the second replaces the first
		if err := writeUnsent(path, want); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readUnsent(path)
	if diff := cmp.Diff(want, got, spansEqual); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
	if err := writeUnsent(filepath.Join(path, "below-a-file"), want); err == nil {
		t.Error("wrote below a file")
	}
}

func TestParseLedger(t *testing.T) {
	tests := []struct {
		content string
		want    spans
		wrong   string // in the error; "": none
	}{
		{"", nil, ""},
		{"\n1970-01-01T00:00:00Z 1970-01-01T00:00:20Z\n\n", spans{{0, 2}}, ""},
		{"1970-01-01T00:00:09Z 1970-01-01T00:00:11Z", spans{{0, 2}}, ""},
		{"1970-01-01T00:00:30Z 1970-01-01T00:00:40Z\n1970-01-01T00:00:00Z 1970-01-01T00:00:10Z\n", spans{{0, 1}, {3, 4}}, ""},
		{"1970-01-01T00:00:30Z 1970-01-01T00:00:10Z", nil, ""},
		{"1970-01-01T00:00:30Z", nil, `line 1 is "1970-01-01T00:00:30Z", want two times`},
		{"\nsoon 1970-01-01T00:00:30Z", nil, `line 2 is "soon 1970-01-01T00:00:30Z", want two times`},
		{"\x00\xff\n", nil, "line 1 is"},
	}
	for _, test := range tests {
		got, err := parseUnsent([]byte(test.content))
		if (err != nil) != (test.wrong != "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%q: error is %v, want %q", test.content, err, test.wrong)
		}
		if diff := cmp.Diff(test.want, got, spansEqual); diff != "" {
			t.Errorf("%q: %s", test.content, diff)
		}
	}
}

// Whatever is in the file, reading does not panic, and what it read is written as it is.
func FuzzParseUnsent(f *testing.F) {
	f.Add([]byte("2026-11-21T10:00:00Z 2026-11-21T10:00:20Z\n"))
	f.Add([]byte("9999-12-31T23:59:59Z 0000-01-01T00:00:00Z\n0000-01-01T00:00:00+14:00 9999-12-31T23:59:59Z"))
	f.Fuzz(func(t *testing.T, content []byte) {
		all, err := parseUnsent(content)
		if err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "unsent")
		if err := writeUnsent(path, all); err != nil {
			t.Fatal(err)
		}
		again, err := readUnsent(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(all, again, spansEqual); diff != "" {
			t.Error(diff)
		}
	})
}
