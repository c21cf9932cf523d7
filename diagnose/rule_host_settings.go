package diagnose

import (
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// SettingsBad is how many settings keep the sending host from what the path asks of it.
const SettingsBad Name = "settings_in_the_way"

// hostSettings: the host that a slow path is measured from is set to what cannot carry this rate over this round trip. It names
// settings, and measures no cost, so that it stands beside the cause that a transfer shows.
var hostSettings = Rule{
	ID:    "host-settings",
	Of:    OfWay,
	In:    []State{Slow, Dead},
	Needs: []Name{SettingsBad},
	Reads: []Name{Capacity, Steady, EmptyRoundTrip},
	Brings: []definition{{Name: SettingsBad, Metric: string(measure.HostSettingsBad), Unit: "settings",
		Means: "of {sender} are not what this rate and round trip need", Step: audit, From: ofAudit, Read: readAudit}},
	Suspect: func(s *Subject) bool { return s.Name == measure.Forward && s.Known(Stuck) && s.Known(EmptyRoundTrip) },
	Look: func(s *Subject) *Claim {
		if s.Name != measure.Forward || s.Value(SettingsBad) == 0 {
			return nil
		}
		return &Claim{
			Severity: measure.Info, Where: AtSender, Confidence: 0.9,
			Evidence: []Name{SettingsBad}, Advice: []string{"audit"},
			Words:  map[string]string{"settings": strings.Join(s.settings, ", "), "rate": inText(carried(s), "bit/s"), "host": s.Sender, "to": s.Receiver},
			Allows: s.Value(Steady), Unpredicted: true,
		}
	},
}

// carried is the rate that a host is to be set to: what the path carries, or what it was seen to.
func carried(s *Subject) float64 { return max(s.Value(Capacity), s.Value(Steady)) }

// audit looks at what the sending host is set to. Between two readings of its counts auditInterval is enough: what a transfer made drop is
// over by then, and only counts that go on rising matter.
func audit(s *Subject) (Step, bool) {
	parameters := map[string]any{"interval": auditInterval, "rtt": s.Value(EmptyRoundTrip)}
	if rate := carried(s); rate > 0 {
		parameters["rate"] = float64(int64(rate))
	}
	if s.Address != "" {
		parameters["to"] = s.Address
	}
	return Step{Name: "audit", Kind: string(ofAudit), Why: "what this host is set to", Seconds: auditInterval + setUpTakes, Parameters: parameters}, true
}

const auditInterval = 0.2 // seconds

// readAudit also keeps the names of the settings.
func readAudit(s *Subject, r *measure.Result) (float64, bool) {
	s.settings = nil
	for _, f := range r.Samples.Findings {
		if f.Severity == measure.Warning {
			s.settings = append(s.settings, f.ID)
		}
	}
	return r.Get(measure.HostSettingsBad)
}
