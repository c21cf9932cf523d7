package diagnose

import "github.com/pathwise-net/pathwise/measure"

// noWindowScaling: the window cannot be said in 16 bits, and the option that scales it was not agreed on.
var noWindowScaling = Rule{
	ID:       "no-window-scaling",
	Of:       OfWay,
	Needs:    []Name{WindowScaling, ReceiveWindow, ReceiveWindowShare, RoundTrip},
	Reads:    []Name{ReceiveBufferMax},
	Replaces: []string{"receive-window-limited"},
	Look: func(s *Subject) *Claim {
		if s.Is(WindowScaling) || !windowHolds(s) || s.Value(ReceiveWindow) > unscaledWindow {
			return nil
		}
		return &Claim{
			Where: AtReceiver, Confidence: windowConfidence(s), Evidence: ofWindow,
			Advice: whoScales(s),
			Allows: windowRate(s, s.Value(ReceiveWindow)),
			Calc:   windowCall(s, s.Value(ReceiveWindow)),
			Cured:  map[Name]float64{WindowScaling: 1},
		}
	},
}

// whoScales is the advice for each end that does not offer the option; where both do, something between takes it away.
func whoScales(s *Subject) (advice []string) {
	for _, side := range []struct {
		key string
		end *measure.TCPEnd
	}{{"receiver", s.To}, {"sender", s.From}} {
		if e := side.end; e != nil && e.Settings != nil && e.Settings.WindowScaling != nil && *e.Settings.WindowScaling != 0 {
			continue
		}
		advice = append(advice, side.key)
	}
	if advice == nil {
		return []string{"between"}
	}
	return advice
}
