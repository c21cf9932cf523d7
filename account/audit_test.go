package account

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func note(t testing.TB, b *Book, n int) {
	t.Helper()
	must(t, b.Note(NewEntry(owner, "start test", fmt.Sprint(n), "ok")))
}

// pages reads the whole log, some entries at a time.
func pages(t *testing.T, b *Book, limit int) (on []string) {
	t.Helper()
	for before := ""; ; {
		page, err := b.Audit(before, limit)
		must(t, err)
		for _, e := range page.Entries {
			on = append(on, e.On)
		}
		if before = page.Next; before == "" {
			return on
		}
		if len(page.Entries) == 0 {
			t.Fatalf("an empty page that is not the last")
		}
	}
}

func numbers(from, to int) (all []string) {
	for n := from; n >= to; n-- {
		all = append(all, fmt.Sprint(n))
	}
	return all
}

func TestAuditEntry(t *testing.T) {
	c := newClock()
	b := openBook(t, t.TempDir(), c)
	want := Entry{Time: c.now(), Who: "ann", Kind: KindAccount, From: away, What: "start test", On: "ucl to cern", Outcome: "ok"}
	ann := Actor{Identity{Name: "ann", Kind: KindAccount}, away}
	must(t, b.Note(NewEntry(ann, "start test", "ucl to cern", "ok")))
	must(t, b.Note(Entry{What: "a\nb", On: strings.Repeat("ä", 10000), Outcome: "\x00\xff"}))
	page, err := b.Audit("", 10)
	must(t, err)
	if len(page.Entries) != 2 {
		t.Fatalf("%+v, want two entries", page)
	}
	if diff := cmp.Diff(want, page.Entries[1], cmpopts.EquateComparable(want.From)); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
	odd := page.Entries[0]
	if odd.What != "a\nb" || len(odd.On) > 300 || !utf8.ValidString(odd.On) || !strings.HasSuffix(odd.On, "ä…") {
		t.Errorf("%+v: want it whole, but short", odd)
	}
	text, err := os.ReadFile(b.audit.path(1))
	if err != nil || bytes.Count(text, []byte("\n")) != 2 {
		t.Errorf("%q, %v: want two lines", text, err)
	}
}

func TestAuditPages(t *testing.T) {
	b := openBook(t, t.TempDir(), newClock())
	if page, err := b.Audit("", 10); err != nil || len(page.Entries) != 0 || page.Next != "" {
		t.Errorf("of an empty log: %+v, %v", page, err)
	}
	b.audit.bytes = 300 // two or three lines a file
	for n := 1; n <= 20; n++ {
		note(t, b, n)
	}
	for _, limit := range []int{1, 2, 3, 7, 19, 20, 1000} {
		if diff := cmp.Diff(numbers(20, 1), pages(t, b, limit)); diff != "" {
			t.Errorf("pages of %d (-want +got):\n%s", limit, diff)
		}
	}
	page, err := b.Audit("", 5)
	must(t, err)
	for n := 21; n <= 25; n++ {
		note(t, b, n)
	}
	page, err = b.Audit(page.Next, 1)
	if err != nil || len(page.Entries) != 1 || page.Entries[0].On != "15" {
		t.Errorf("%+v, %v: want 15 next, though lines were added", page, err)
	}
	for _, limit := range []int{0, -1, mostEntries + 1} {
		if _, err := b.Audit("", limit); err == nil {
			t.Errorf("limit %d was taken", limit)
		}
	}
	for _, before := range []string{"x", "1", "1.", ".1", "0.1", "1.-1", "01.1", "1.1 ", "../1.1"} {
		if _, err := b.Audit(before, 1); err == nil {
			t.Errorf("before %q was taken", before)
		}
	}
}

func TestAuditIsRotated(t *testing.T) {
	b := openBook(t, t.TempDir(), newClock())
	b.audit.bytes, b.audit.files = 300, 4
	for n := 1; n <= 50; n++ {
		note(t, b, n)
	}
	old := place{1, 100}.String() // in a file that is gone
	if page, err := b.Audit(old, 10); err != nil || len(page.Entries) != 0 || page.Next != "" {
		t.Errorf("before the oldest: %+v, %v", page, err)
	}
	got := pages(t, b, 1000)
	if diff := cmp.Diff(numbers(50, 50-len(got)+1), got); diff != "" || len(got) < 4 || len(got) > 12 {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	files, err := b.audit.numbers()
	if err != nil || len(files) != 4 {
		t.Errorf("files %v, %v, want four", files, err)
	}
	for _, n := range files {
		if info, err := os.Stat(b.audit.path(n)); err != nil || info.Size() > 300 {
			t.Errorf("%v, %v: want at most 300 bytes", info, err)
		}
	}
}

// TestCutLine has a log whose last line a killed process did not finish, at every byte.
func TestCutLine(t *testing.T) {
	folder := t.TempDir()
	b := openBook(t, folder, newClock())
	note(t, b, 1)
	note(t, b, 2)
	whole, err := os.ReadFile(b.audit.path(1))
	must(t, err)
	first := bytes.IndexByte(whole, '\n') + 1
	for cut := first; cut <= len(whole); cut += 3 {
		must(t, os.WriteFile(b.audit.path(1), whole[:cut], 0o600))
		want := []string{"1"}
		if diff := cmp.Diff(want, pages(t, b, 10)); diff != "" && cut < len(whole) {
			t.Errorf("cut at %d (-want +got):\n%s", cut, diff)
		}
		note(t, b, 3)
		if cut >= len(whole)-1 { // all but its end: the next line gives it that
			want = []string{"2", "1"}
		}
		if diff := cmp.Diff(append([]string{"3"}, want...), pages(t, b, 1)); diff != "" {
			t.Errorf("cut at %d, then written (-want +got):\n%s", cut, diff)
		}
	}
}

// TestForeignLines has what is no entry in the log: binary, empty, and lines longer than what is read at a time.
func TestForeignLines(t *testing.T) {
	b := openBook(t, t.TempDir(), newClock())
	b.audit.bytes = 1 << 30
	note(t, b, 1)
	junk := []string{"", "{}", "null", "\x00\xff", `{"what": "no time"}`, strings.Repeat("x", readBlock),
		strings.Repeat("y", 3*readBlock+7), strings.Repeat("\n", readBlock)}
	for n, line := range junk {
		f, err := os.OpenFile(b.audit.path(1), os.O_APPEND|os.O_WRONLY, 0o600)
		must(t, err)
		_, err = f.WriteString(line + "\n")
		must(t, errors.Join(err, f.Close()))
		note(t, b, n+2)
	}
	if diff := cmp.Diff(numbers(len(junk)+1, 1), pages(t, b, 2)); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

// TestStrangersDoNotFillTheLog has more wrong passwords than are written down.
func TestStrangersDoNotFillTheLog(t *testing.T) {
	c := newClock()
	b := openBook(t, t.TempDir(), c)
	for range refusalsAnHour + 50 {
		b.Refused(Entry{Kind: KindAccount, From: away, What: "sign in", Outcome: "wrong"})
	}
	note(t, b, 1) // what people do is written down
	c.add(time.Hour)
	b.Refused(Entry{Kind: KindAccount, From: away, What: "sign in", Outcome: "wrong"})
	page, err := b.Audit("", mostEntries)
	must(t, err)
	if len(page.Entries) != refusalsAnHour+2 || page.Entries[0].Skipped != 50 || page.Entries[1].On != "1" {
		t.Errorf("%d entries, first %+v; want %d, and 50 skipped", len(page.Entries), page.Entries[0], refusalsAnHour+2)
	}
}

// TestManyWrite has several goroutines and books write: every line is whole, and none is lost.
func TestManyWrite(t *testing.T) {
	folder, c := t.TempDir(), newClock()
	books := []*Book{openBook(t, folder, c), openBook(t, folder, c)}
	for _, b := range books {
		b.audit.bytes = 2000
	}
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			for range 20 {
				if err := books[n%2].Note(NewEntry(owner, "start test", fmt.Sprint(n), "ok")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	count := map[string]int{}
	for _, on := range pages(t, books[0], 9) {
		count[on]++
	}
	if diff := cmp.Diff(map[string]int{"0": 20, "1": 20, "2": 20, "3": 20}, count); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func FuzzParseEntry(f *testing.F) {
	f.Add([]byte(`{"time":"2026-11-22T09:00:00Z","who":"ann","kind":"account","from":"192.0.2.7","what":"sign in","outcome":"ok"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := parseEntry(line)
		if err != nil {
			return
		}
		text := e.line()
		if bytes.Count(text, []byte("\n")) != 1 || len(text) > 8<<10 {
			t.Errorf("%q is written as %q: want one short line", line, text)
		}
	})
}

func FuzzParsePlace(f *testing.F) {
	f.Add("7.1234")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePlace(text)
		if err == nil && text != "" && p.String() != text {
			t.Errorf("%q is %q", text, p)
		}
	})
}

// FuzzReadBack reads any text by blocks of any size: lines that fit a block come, whole and the last first, and no others.
func FuzzReadBack(f *testing.F) {
	f.Add([]byte("a\nlong line\n\nb\nc"), 14, 4)
	f.Fuzz(func(t *testing.T, text []byte, end, block int) {
		end, block = min(max(end, 0), len(text)), min(max(block, 2), 1<<10)
		var got []string
		must(t, readBack(bytes.NewReader(text), int64(end), make([]byte, block), func(line []byte, start int64) bool {
			if !bytes.HasPrefix(text[start:end], append(bytes.Clone(line), '\n')) || start > 0 && text[start-1] != '\n' {
				t.Errorf("%q at %d is no line of %q", line, start, text)
			}
			if len(line)+2 <= block { // with its end and that of the one before
				got = append(got, string(line))
			}
			return true
		}))
		var want []string
		for line := range bytes.Lines(text[:bytes.LastIndexByte(text[:end], '\n')+1]) {
			if len(line)+1 <= block {
				want = append([]string{string(line[:len(line)-1])}, want...)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q to %d in blocks of %d (-want +got):\n%s", text, end, block, diff)
		}
	})
}
