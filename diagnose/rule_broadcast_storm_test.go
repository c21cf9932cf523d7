package diagnose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// Broadcasts that the receiver counts are the cause where they and the transfer fill the link; where they do not, too many are told of.
func TestBroadcastStorm(t *testing.T) {
	small := func(n uint64) map[string]uint64 { // of 46 bytes each, over the 8 s of the test
		return map[string]uint64{"IpExt.InBcastPkts": n, "IpExt.InBcastOctets": 46 * n}
	}
	unmeasured := func(p *path) { queued(p); p.usual, p.capacity = 0.08, 0 }
	for name, c := range map[string]struct {
		path    func(*path)
		end     string
		counts  map[string]uint64
		verdict string
		told    measure.Severity // of broadcast-storm; "": it is not
	}{
		"they and it fill the link":      {queued, measure.Receiver, small(800_000), "broadcast-storm", measure.Problem},
		"by the adapter alone":           {queued, measure.Receiver, map[string]uint64{"link.multicast": 800_000}, "broadcast-storm", measure.Problem},
		"of both protocols":              {queued, measure.Receiver, map[string]uint64{"IpExt.InMcastPkts": 400_000, "Ip6InMcastPkts": 400_000}, "broadcast-storm", measure.Problem},
		"a twelfth of it":                {queued, measure.Receiver, small(100_000), "cross-traffic", ""},
		"more than the narrow link has":  {queued, measure.Receiver, small(2_000_000), "cross-traffic", ""},
		"with a capacity not known":      {unmeasured, measure.Receiver, small(800_000), "broadcast-storm", measure.Problem},
		"at the sender":                  {queued, measure.Sender, small(800_000), "cross-traffic", ""},
		"with no queue":                  {func(*path) {}, measure.Receiver, small(20_000), "unexplained", measure.Info},
		"few, with no queue":             {func(*path) {}, measure.Receiver, small(7_000), "unexplained", ""},
		"the program is slow":            {idle, measure.Receiver, small(20_000), "application-limited", measure.Info},
		"the link is full all the same":  {fullPath, measure.Receiver, small(100_000), Healthy, ""},
		"many, and the link is full":     {func(p *path) { fullPath(p); p.goodput = 80e6 }, measure.Receiver, small(190_000), Healthy, measure.Info},
		"nothing of them from the other": {queued, measure.Receiver, nil, "cross-traffic", ""},
	} {
		d := Diagnose(counted(c.path, c.end, c.counts))
		var told measure.Severity
		for _, f := range d.Findings {
			if f.ID == "broadcast-storm" {
				told = f.Severity
			}
		}
		if d.Verdict != c.verdict || told != c.told {
			t.Errorf("%s: verdict %s, broadcast-storm is %q; want %s, %q", name, d.Verdict, told, c.verdict, c.told)
		}
	}
}

// Without the broadcasts a transfer gets what the link carries: that of trains, or where they tell less, what both together got.
func TestWithoutBroadcasts(t *testing.T) {
	for name, c := range map[string]struct {
		capacity, want float64 // bit/s, of IP
	}{"trains tell it": {97.5e6, 97.5e6}, "trains came apart": {60e6, 87.2e6}} {
		d := Diagnose(counted(func(p *path) { queued(p); p.capacity = c.capacity }, measure.Receiver,
			map[string]uint64{"IpExt.InBcastPkts": 800_000, "IpExt.InBcastOctets": 46 * 800_000}))
		predicted := d.First().Predicted
		if predicted == nil {
			t.Fatalf("%s: nothing is predicted: %+v", name, d.First())
		}
		if got := predicted.BitsPerSecond; got < 0.9*c.want || got > c.want {
			t.Errorf("%s: %.3g bit/s are predicted, want a little less than %.3g", name, got, c.want)
		}
	}
}

// counted are Results of a path whose kernel counted at one end.
func counted(change func(*path), end string, counts map[string]uint64) []*measure.Result {
	results := with(change).results()
	for _, r := range results {
		for i := range r.Samples.Ends {
			if e := &r.Samples.Ends[i]; e.End == end {
				e.Counts = counts
			}
		}
	}
	return results
}

// The size of broadcasts is known of those of IP alone.
func TestReadBroadcasts(t *testing.T) {
	r := counted(queued, measure.Receiver, map[string]uint64{"link.multicast": 900, "IpExt.InBcastPkts": 100, "IpExt.InBcastOctets": 4600,
		"IpExt.InMcastPkts": 100, "IpExt.InMcastOctets": 130_000})
	s := gather(r).ways[measure.Forward]
	if diff := cmp.Diff([2]float64{900, 673}, [2]float64{s.Value(Broadcasts), s.Value(BroadcastBytes)}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
