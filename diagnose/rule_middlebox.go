package diagnose

import (
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// Of a connection that asked for ECN in vain, and of the SYNs of others.
const (
	ECNLost  Name = "ecn_lost"
	SYNsLost Name = "syns_lost"
	// UnscaledHop is the first hop that SYNs reach without the option that scales windows, or the target.
	UnscaledHop Name = "unscaled_hop"
)

// scaleOption scales windows.
var scaleOption = synOption{synScale, WindowScaling, UnscaledHop, bothSet(func(t *measure.TCPSettings) *int { return t.WindowScaling })}

// middlebox: what both ends are set to is not what their connection has, so something between changes its first packets: it takes the
// option out that scales windows, or drops the SYNs that ask for ECN, so that the kernel asks again without, a second later.
var middlebox = Rule{
	ID:    "middlebox",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{WindowScaling, ReceiveWindow, ReceiveWindowShare, RoundTrip, Steady},
	Reads: []Name{Answers, ECNLost, SYNsLost, UnscaledHop},
	Brings: []definition{
		{Name: ECNLost, Metric: "ecn_count", Means: "both ends use ECN, and their connection does not, whose SYN was lost", From: ofTransfer, Read: ecnLost},
		{Name: SYNsLost, Metric: "loss_ratio", Unit: "ratio", Means: "of the SYNs of other connections, which ask for ECN, too",
			Step: openings, From: ofOpening, Read: func(_ *Subject, r *measure.Result) (float64, bool) { return r.Get(measure.LossRatio) }},
		scaleOption.definition("the option that scales windows"),
	},
	Suspect:  func(s *Subject) bool { return s.Is(ECNLost) || unscaledOnTheWay(s) },
	Replaces: []string{"no-window-scaling", "receive-window-limited"},
	Look: func(s *Subject) *Claim {
		if c := windowsUnscaled(s); c != nil {
			return c
		}
		return ecnDropped(s)
	},
}

func windowsUnscaled(s *Subject) *Claim {
	if !scaleOption.lost(s) || !windowHolds(s) || s.Value(ReceiveWindow) > unscaledWindow {
		return nil
	}
	c := &Claim{
		Where: OnPath, Confidence: windowConfidence(s), Evidence: ofWindow,
		Says: []string{"main"}, Advice: []string{"between"},
		Allows: windowRate(s, s.Value(ReceiveWindow)),
		Calc:   windowCall(s, s.Value(ReceiveWindow)),
		Cured:  map[Name]float64{WindowScaling: 1},
	}
	s.tellWho(c, synScale, UnscaledHop)
	return c
}

// unscaledOnTheWay says that the option is known to be taken out between this host and the target, one way or the other.
func unscaledOnTheWay(s *Subject) bool {
	for _, n := range []Name{WindowScaling, ReceiveWindow, ReceiveWindowShare, RoundTrip, Steady} {
		if !s.Known(n) {
			return false
		}
	}
	return s.Name == measure.Forward && windowsUnscaled(s) != nil
}

// ecnDropped finds that SYNs are dropped which ask for ECN. Where only the bits are taken out of them nothing is lost, and nothing said.
func ecnDropped(s *Subject) *Claim {
	if s.Name != measure.Forward || !s.Is(ECNLost) || s.Value(SYNsLost) < 1 || s.Value(Answers) == 0 {
		return nil
	}
	return &Claim{
		Where: OnPath, Confidence: 0.9, Evidence: []Name{SYNsLost, Answers},
		Says: []string{"ecn"}, Advice: []string{"ecn", "unasked"},
		Allows: s.Value(Steady), Unpredicted: true, // transfers are as fast as before, once they have begun
	}
}

// ecnLost reads whether the caller asks for ECN, the other end would use it, and their connection does not, as its first SYN was lost:
// the kernel asks again without.
func ecnLost(s *Subject, r *measure.Result) (lost float64, told bool) {
	all := samples(s, r, measure.Sender)
	if s.Name != measure.Forward || len(all) == 0 {
		return 0, false
	}
	again, told := all[0].Get("total_retrans_packets")
	var asks, agrees bool
	for _, e := range r.Samples.Ends {
		if e.Settings == nil || e.Settings.ECN == nil {
			continue
		}
		if e.Host == r.Source.Name {
			asks = *e.Settings.ECN == 1
		} else {
			agrees = *e.Settings.ECN != 0
		}
	}
	used, _ := agreed(sock.OptECN)(s, r)
	return yes(asks && agrees && used == 0 && again > 0, r).Value, told
}

// openings opens some connections; one that is refused tells as much.
func openings(s *Subject) (Step, bool) {
	return Step{Name: "openings", Kind: "ping", Way: measure.Way(s.Name), Why: "whether other connections open at once",
		Parameters: map[string]any{"proto": "tcp", "count": 3, "interval": surveyInterval}, Seconds: openingsTake}, s.Is(ECNLost)
}

// openingsTake is what three connections take whose SYNs are lost, in seconds.
const openingsTake = 2.0
