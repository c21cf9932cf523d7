package disk

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A file that is written in odd pieces is read as it was, through the cache and past it, and its length is what was written.
func TestFile(t *testing.T) {
	content := make([]byte, 2*Large+4321)
	for i := range content {
		content[i] = byte(i * i >> 3)
	}
	for _, direct := range []bool{false, true} {
		file, err := os.Create(filepath.Join(t.TempDir(), "f"))
		if err != nil {
			t.Fatal(err)
		}
		w, err := NewWriter(file, direct, int64(len(content)))
		if errors.Is(err, unix.EINVAL) {
			t.Log("no direct access here")
			continue
		}
		for piece := content; err == nil && len(piece) > 0; piece = piece[min(len(piece), 70001):] {
			_, err = w.Write(piece[:min(len(piece), 70001)])
		}
		if _, full := w.Write(content[:1]); !errors.Is(full, ErrFull) || err != nil {
			t.Errorf("direct %v: %v; beyond the limit %v", direct, err, full)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if file, err = os.Open(file.Name()); err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(file, direct)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("direct %v: %d bytes, %v", direct, len(got), err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
