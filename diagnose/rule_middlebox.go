package diagnose

import "github.com/pathwise-net/pathwise/measure"

// middlebox: both ends offer to scale windows, and the connection does not, so something between took the option out.
var middlebox = Rule{
	ID:       "middlebox",
	Of:       OfWay,
	Needs:    []Name{WindowScaling, ReceiveWindow, ReceiveWindowShare, RoundTrip},
	Replaces: []string{"no-window-scaling", "receive-window-limited"},
	Look: func(s *Subject) *Claim {
		if s.Is(WindowScaling) || s.Value(ReceiveWindowShare) <= binding || s.Value(ReceiveWindow) > unscaledWindow ||
			!scales(s.From) || !scales(s.To) {
			return nil
		}
		return &Claim{
			Where: OnPath, Confidence: confidence(s.Value(ReceiveWindowShare)), Evidence: ofWindow,
			Advice: []string{"between"},
			Allows: windowRate(s, s.Value(ReceiveWindow)),
			Cured:  map[Name]float64{WindowScaling: 1},
		}
	},
}

// scales reports whether an end is known to offer the option that scales windows.
func scales(e *measure.TCPEnd) bool {
	return e != nil && e.Settings != nil && e.Settings.WindowScaling != nil && *e.Settings.WindowScaling != 0
}
