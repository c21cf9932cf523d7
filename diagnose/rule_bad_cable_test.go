package diagnose

import (
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// What the receiver's host counts is the cause where it is most of what was lost. The sender's own counts are of what came back.
func TestBadCable(t *testing.T) {
	for name, c := range map[string]struct {
		path   func(*path)
		end    string
		counts map[string]uint64
		want   string
	}{
		"checksums of TCP":       {lossy, measure.Receiver, map[string]uint64{"Tcp.InCsumErrors": 17}, "bad-cable"},
		"frames":                 {lossy, measure.Receiver, map[string]uint64{"link.rx_crc_errors": 9, "link.rx_frame_errors": 6}, "bad-cable"},
		"a few of them":          {lossy, measure.Receiver, map[string]uint64{"Tcp.InCsumErrors": 7}, "random-loss"},
		"three of others' ":      {func(p *path) { lossy(p); p.resent = 4 }, measure.Receiver, map[string]uint64{"Tcp.InCsumErrors": 3}, "random-loss"},
		"other counts":           {lossy, measure.Receiver, map[string]uint64{"TcpExt.TCPBacklogDrop": 17}, "random-loss"},
		"of the sender":          {lossy, measure.Sender, map[string]uint64{"Tcp.InCsumErrors": 17}, "random-loss"},
		"none, of a stock peer":  {lossy, measure.Receiver, nil, "random-loss"},
		"nothing was sent again": {func(*path) {}, measure.Receiver, map[string]uint64{"Tcp.InCsumErrors": 17}, "unexplained"},
	} {
		results := with(c.path).results()
		for _, r := range results {
			for i := range r.Samples.Ends {
				if e := &r.Samples.Ends[i]; e.End == c.end {
					e.Counts = c.counts
				}
			}
		}
		if got := Diagnose(results).Verdict; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
