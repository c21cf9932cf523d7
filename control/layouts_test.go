package control

import (
	"log/slog"
	"testing"

	"github.com/pathwise-net/pathwise/durable/layouttest"
)

// The plan, from which awaited runs and ports come, and the callers' bytes of each layout that earlier builds wrote are read
// whole.
func TestLayouts(t *testing.T) {
	layouttest.Run(t, func(t *testing.T, folder string) []any {
		p, err := readPlan(folder)
		if err != nil {
			t.Fatal(err)
		}
		d, awaited := openCallerUsage(folder, slog.New(slog.DiscardHandler)), newAwaitedRuns()
		awaited.expect(p.Runs)
		head := p
		head.Runs = nil
		all := []any{head, d.bytes.Day(p.Issued.UTC()), d.bytes.Used(callersBytes)}
		for _, r := range p.Runs {
			all = append(all, r)
		}
		if due := len(awaited.missed(p.Until.AddDate(1, 0, 0))); due != len(p.Runs) {
			t.Errorf("of %d runs %d are awaited", len(p.Runs), due)
		}
		return all
	})
}
