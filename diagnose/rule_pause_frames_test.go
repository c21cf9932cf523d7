package diagnose

import (
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// Pause frames that an adapter counts are the cause where nothing is lost and much is missing, and a remark where that is not known.
func TestPauseFrames(t *testing.T) {
	came := map[string]uint64{"link.rx_pause": 900}
	sent := map[string]uint64{"link.tx_pause": 900}
	for name, c := range map[string]struct {
		path   func(*path)
		end    string
		counts map[string]uint64
		want   measure.Severity // "": it is not told of
		where  string
	}{
		"they come to the sender":       {func(*path) {}, measure.Sender, came, measure.Problem, "sender bob"},
		"the receiver sends them":       {func(*path) {}, measure.Receiver, sent, measure.Problem, "receiver carol"},
		"with a queue, as others' have": {queued, measure.Sender, came, measure.Problem, "sender bob"},
		"a few":                         {func(*path) {}, measure.Sender, map[string]uint64{"link.rx_pause": 79}, "", ""},
		"the receiver is told":          {func(*path) {}, measure.Receiver, came, "", ""},
		"packets are lost":              {lossy, measure.Sender, came, "", ""},
		"the window holds it":           {smallWindow, measure.Sender, came, "", ""},
		"the path is full all the same": {fullPath, measure.Sender, came, measure.Info, "sender bob"},
		"a capacity is not known":       {func(p *path) { p.capacity = 0 }, measure.Sender, came, measure.Info, "sender bob"},
	} {
		var got measure.Severity
		var where string
		for _, f := range Diagnose(counted(c.path, c.end, c.counts)).Findings {
			if f.ID == "pause-frames" {
				got, where = f.Severity, f.Where
			}
		}
		if got != c.want || where != c.where {
			t.Errorf("%s: %q at %q, want %q at %q", name, got, where, c.want, c.where)
		}
	}
}
