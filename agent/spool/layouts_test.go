package spool

import (
	"path/filepath"
	"testing"

	"github.com/pathwise-net/pathwise/durable/layouttest"
)

// The spool of each layout that earlier builds wrote is read whole: no Result is lost when a host gets a newer build.
func TestLayouts(t *testing.T) {
	layouttest.Run(t, func(t *testing.T, folder string) []any {
		dir := t.TempDir()
		layouttest.Copy(t, filepath.Join(folder, "0000000000000001.log"), dir)
		s, err := Open(Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		all := []any{s.Mark(), s.Unfinished()}
		results, err := s.Due(1 << 20)
		if err != nil {
			t.Error(err)
		}
		for _, r := range results {
			all = append(all, r)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		return all
	})
}
