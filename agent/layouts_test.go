package agent

import (
	"path/filepath"
	"testing"

	"github.com/pathwise-net/pathwise/durable/daily"
	"github.com/pathwise-net/pathwise/durable/layouttest"
)

// The plan and the count of bytes of each layout that earlier builds wrote are read whole. Package spool has the spools.
func TestLayouts(t *testing.T) {
	layouttest.Run(t, func(t *testing.T, folder string) []any {
		p, err := loadPlan(filepath.Join(folder, "plan"))
		if err != nil {
			t.Fatal(err)
		}
		count, err := daily.Open(filepath.Join(folder, "bytes.json"), bytesOfDay)
		if err != nil {
			t.Fatal(err)
		}
		head := p.Plan
		head.Runs, head.Opens = nil, nil
		all := []any{head, p.done, count.Day(p.From), count.Used(bytesOfDay)}
		for _, r := range p.Runs {
			all = append(all, r)
		}
		for _, o := range p.Opens {
			all = append(all, o)
		}
		return all
	})
}
