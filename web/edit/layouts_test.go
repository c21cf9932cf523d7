package edit

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/pathwise-net/pathwise/durable/layouttest"
)

// The mesh file's history of each layout that earlier builds wrote is read whole: its versions with their texts, and the draft that a
// build which was ended left of what is on disk.
func TestLayouts(t *testing.T) {
	layouttest.Run(t, func(t *testing.T, layout string) []any {
		folder := filepath.Join(t.TempDir(), "history")
		must(t, os.CopyFS(folder, os.DirFS(filepath.Join(layout, "history"))))
		drafts, err := filepath.Glob(filepath.Join(folder, "*"+draftSuffix))
		if err != nil || len(drafts) != 1 {
			t.Fatalf("%d drafts, %v", len(drafts), err)
		}
		h, err := openHistory(folder, slog.New(slog.DiscardHandler))
		must(t, err)
		id := filepath.Base(drafts[0])
		draft, _, err := openEntry(drafts[0], id[:len(id)-len(draftSuffix)], true)
		must(t, err)
		h.adopt(draft.Version)
		var all []any
		for _, known := range h.versions {
			v, files, err := h.open(known.ID, true)
			must(t, err)
			all = append(all, v, files)
		}
		return all
	})
}
