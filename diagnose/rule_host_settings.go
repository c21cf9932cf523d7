package diagnose

import (
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// SettingsBad is how many settings keep a host from what the path asks of it.
const SettingsBad = Name(measure.HostSettingsBad)

// hostSettings: a host at an end of a slow path is set to what cannot carry this rate over this round trip. It names settings, and
// measures no cost, so that it stands beside the cause that a transfer shows.
var hostSettings = Rule{
	ID:    "host-settings",
	Of:    OfHost,
	Needs: []Name{SettingsBad},
	Look: func(s *Subject) *Claim {
		if s.audit == nil || s.Value(SettingsBad) == 0 {
			return nil
		}
		rate, _ := s.audit.Number("rate")
		trip, _ := s.audit.Number("rtt")
		return &Claim{
			Severity: measure.Info, Where: AtHost, Confidence: 0.9,
			Evidence: []Name{SettingsBad}, Advice: []string{"audit"},
			Words: map[string]string{"settings": strings.Join(inTheWay(s.audit), ", "), "rate": inText(rate, "bit/s"), "trip": inText(trip, "s"),
				"to": toWhom(s.audit)},
			Unpredicted: true,
		}
	},
}

// inTheWay are the settings that an audit found in the way, each once. Audits of earlier builds call these warnings, and none a
// problem.
func inTheWay(audit *measure.Result) (all []string) {
	bad := measure.Warning
	if slices.ContainsFunc(audit.Samples.Findings, func(f measure.Finding) bool { return f.Severity == measure.Problem }) {
		bad = measure.Problem
	}
	for _, f := range audit.Samples.Findings {
		if f.Severity == bad && !slices.Contains(all, f.ID) {
			all = append(all, f.ID)
		}
	}
	return all
}

// settingsCured says of settings in the way that the advice of another finding sets all of them, so that nobody does it twice.
func (d *Diagnosis) settingsCured(hosts []*Subject) {
	sets := func(host, setting string) bool { // such as net.ipv4.tcp_rmem, where the setting is tcp-rmem
		key := "." + strings.ReplaceAll(setting, "-", "_") + "="
		return slices.ContainsFunc(d.Findings, func(f measure.Finding) bool {
			return slices.ContainsFunc(f.Advice, func(a measure.Advice) bool { return a.Host == host && strings.Contains(a.Command, key) })
		})
	}
	for _, s := range hosts {
		i := slices.IndexFunc(d.Findings, func(f measure.Finding) bool { return f.ID == hostSettings.ID && f.Where == s.Name })
		if i >= 0 && !slices.ContainsFunc(inTheWay(s.audit), func(setting string) bool { return !sets(s.Name, setting) }) {
			d.Findings[i].Explanation += " The advice that stands before sets that."
		}
	}
}

// toWhom is where data goes from the host that was audited.
func toWhom(audit *measure.Result) string {
	if to, told := audit.Parameters["to"].(string); told && to != "" {
		return to
	}
	return "HOST"
}

// readAudit takes what a host is set to.
func readAudit(g *gathering, r *measure.Result) {
	readHost(g, r)
	g.host(r).audit = r
}

// audits are steps that tell what both hosts of a way are set to, where it is slow: this host, and the target.
func audits(s *Subject) []Step {
	now := state(s)
	if s.Kind != OfWay || now != Slow && now != Dead || !s.Known(Stuck) || !s.Known(EmptyRoundTrip) {
		return nil
	}
	near, far := s.SenderAddress, s.Address
	if s.Name == measure.Reverse {
		near, far = far, near
	}
	there := audit(s, near)
	there.Name, there.Why, there.Far = "audit-far", "what the far host is set to", true
	return []Step{audit(s, far), there}
}

// audit looks at what a host is set to that data of a way goes from, or comes to. Between two readings of its counts auditInterval is enough:
// what a transfer made drop is over by then, and only counts that go on rising matter.
func audit(s *Subject, to string) Step {
	parameters := map[string]any{"interval": auditInterval, "rtt": s.Value(EmptyRoundTrip)}
	if rate := max(s.Value(Capacity), s.Value(Steady)); rate > 0 { // what the path carries, or what it was seen to
		parameters["rate"] = float64(int64(rate))
	}
	if to != "" {
		parameters["to"] = to
	}
	return Step{Name: "audit", Kind: string(ofAudit), Why: "what this host is set to", Seconds: auditInterval + setUpTakes, Parameters: parameters}
}

const auditInterval = 0.2 // seconds
