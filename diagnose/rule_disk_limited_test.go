package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// fileOver is a transfer of a file over a path, that was made after its other tests, at so many bit/s; it waited a share of its time for the file at
// either end.
func fileOver(p path, goodput, read, written float64) *measure.Result {
	q := p
	q.goodput = goodput
	for _, r := range q.results() {
		if sortOf(r) == ofTransfer && measure.WayOf(r.Kind, r.Parameters) == measure.Forward {
			r.ID, r.Started = "file", r.Started.Add(time.Minute)
			r.Parameters["file"] = "/data/x"
			r.Metrics[measure.Throughput] = goodput
			r.Metrics[measure.FileWaitSender], r.Metrics[measure.FileWaitReceiver] = read, written
			return r
		}
	}
	panic("a path has a transfer")
}

// A file that is waited for, and slower than memory was over the same path, is the disk's doing, whatever the path is; the rates of both are told.
func TestDiskOfAFile(t *testing.T) {
	full := with(fullPath)
	for _, c := range []struct {
		name                   string
		path                   path
		goodput, read, written float64
		where                  string // "": it is not blamed
	}{
		{"read slowly", full, 20e6, 0.8, 0, "sender"},
		{"written slowly", full, 20e6, 0.1, 0.7, "receiver"},
		{"of a slow path, too", with(smallWindow), 3e6, 0.7, 0, "sender"},
		{"waits little", full, 20e6, 0.3, 0, ""},
		{"as fast as memory", full, full.goodput, 0.6, 0, ""},
	} {
		d := Diagnose(append(c.path.results(), fileOver(c.path, c.goodput, c.read, c.written)))
		checkFindings(t, d)
		var found *measure.Finding
		for i := range d.Findings {
			if d.Findings[i].ID == "disk-limited" {
				found = &d.Findings[i]
			}
		}
		if c.where == "" {
			if found != nil {
				t.Errorf("%s: %+v", c.name, found)
			}
			continue
		}
		if found == nil || !strings.HasPrefix(found.Where, c.where) || !strings.Contains(found.Explanation, "from memory to memory the path moved") {
			t.Errorf("%s: %+v", c.name, found)
			continue
		}
		if p := found.Predicted; p == nil || p.BitsPerSecond != d.AchievedBitsPerSecond {
			t.Errorf("%s: predicted %+v, where memory moved %v", c.name, found.Predicted, d.AchievedBitsPerSecond)
		}
		if d.AchievedBitsPerSecond == c.goodput {
			t.Errorf("%s: the file is taken for what the path moves", c.name)
		}
	}
}

// A transfer of a file that nothing can be held against is told by what it waited for alone, and promises nothing.
func TestDiskOfAFileAlone(t *testing.T) {
	p := with(idle)
	for read, want := range map[float64]bool{0.8: true, 0.2: false} {
		d := Diagnose([]*measure.Result{fileOver(p, 20e6, read, 0)})
		if got := gives(d, "disk-limited"); got != want {
			t.Errorf("waited %v: %v, of %+v", read, got, d.Findings)
		}
		for _, f := range d.Findings {
			if f.ID == "disk-limited" && (f.Predicted != nil || strings.Contains(f.Explanation, "from memory to memory")) {
				t.Errorf("%+v", f)
			}
		}
	}
}

// The file is moved behind the transfer of its way, no longer than that, and its Result takes no transfer's place.
func TestWithFile(t *testing.T) {
	plan := EndEarly(Plan(8*time.Second, measure.Forward, measure.Reverse))
	for direction, after := range map[string]string{measure.Forward: "transfer", measure.Reverse: "transfer-reverse"} {
		longer := WithFile(plan, direction)
		at := find(longer, after)
		if len(longer) != len(plan)+1 || !longer[at+1].File || !longer[at+1].Compares() || longer[at+1].Parameters["duration"] != min(fileLasts, longer[at].Parameters["duration"].(float64)) ||
			longer[at+1].Parameters[Narrow] != nil || longer[at+1].Way != longer[at].Way {
			t.Errorf("%s: %+v", direction, longer)
		}
	}
	if got := WithFile(plan[:2], measure.Forward); len(got) != 2 {
		t.Errorf("without a transfer: %+v", got)
	}
}
