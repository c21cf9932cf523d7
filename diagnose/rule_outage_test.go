package diagnose

import (
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// silent makes a transfer stand still for a time, in seconds, from its first second on, and the pings before it.
func silent(results []*measure.Result, transfer, pings float64) []*measure.Result {
	for _, r := range results {
		if r.Kind == "ping" {
			r.Metrics[measure.OutageLongest], r.Metrics[measure.ReceivedPackets] = pings, 10
		}
		for _, one := range r.Samples.TCPInfo {
			one.Values["bytes_acked"], one.Values["unacked_packets"] = 1e6*one.ElapsedSeconds, 10
			if one.ElapsedSeconds > 1 && one.ElapsedSeconds < 1+transfer {
				one.Values["bytes_acked"] = 1e6
			}
		}
	}
	return results
}

// A path that is gone for a while as a transfer begins is told by the pings, too. A transfer that is silent alone may have lost its first packets to
// a queue, and one that is as fast as the path in spite of it was not held.
func TestSilentTwice(t *testing.T) {
	for _, c := range []struct {
		name            string
		transfer, pings float64 // seconds of silence
		goodput         float64
		want            bool
	}{
		{"both are silent", 2, 0.7, 50e6, true},
		{"the transfer alone", 2, 0, 50e6, false},
		{"the pings alone", 0, 0.7, 50e6, false},
		{"both, and no time was lost", 2, 0.7, 90e6, false},
		{"a moment", 0.2, 0.7, 50e6, false},
	} {
		p := with(func(p *path) { p.goodput = c.goodput })
		s := gather(silent(p.results(), c.transfer, c.pings)).ways[measure.Forward]
		if got := silentTwice(s); got != c.want {
			t.Errorf("%s: %v, want %v (%v s and %v s of %v s, %v of %v)", c.name, got, c.want, s.Value(TransferSilence), s.Value(PingSilence),
				s.Value(Duration), s.Value(Goodput), s.Value(PayloadCapacity))
		}
	}
}

// An outage that is certain needs no probe that meets it again, whatever else a transfer lost, and wherever in the transfer it was.
func TestCertainOutageAsksForNoProbe(t *testing.T) {
	for pings, want := range map[float64]bool{0: true, 0.7: false} {
		results := silent(with(func(p *path) { p.goodput, p.sent, p.resent = 20e6, 10_000, 300 }).results(), 6, pings)
		s := gather(results).ways[measure.Forward]
		if _, asked := pacedProbe(s); asked != want {
			t.Errorf("pings silent for %v s: a probe is asked for %v, want %v", pings, asked, want)
		}
		if held := Diagnose(results).Verdict == "outage"; held == want {
			t.Errorf("pings silent for %v s, %v of %v while it ran: outage %v", pings, s.Value(Steady), s.Value(Goodput), held)
		}
	}
}

// Where no ping at all is answered, echoes may not be let through, or not those of a mark: that is no silence of the path.
func TestSilentEchoes(t *testing.T) {
	for name, change := range map[string]func(*measure.Result){
		"none is answered": func(r *measure.Result) { r.Metrics[measure.ReceivedPackets] = 0 },
		"with a mark":      func(r *measure.Result) { r.Parameters["dscp"] = 46 },
		"of a large size":  func(r *measure.Result) { r.Parameters["df"] = true },
	} {
		results := silent(with(func(p *path) { p.goodput = 50e6 }).results(), 2, 1)
		for _, r := range results {
			if r.Kind == "ping" {
				change(r)
			}
		}
		if silentTwice(gather(results).ways[measure.Forward]) {
			t.Error(name)
		}
	}
}
