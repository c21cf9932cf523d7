package diagnose

// pacingLimited: the kernel was told to send no faster. Data waits, and less than the congestion window allows is under way.
var pacingLimited = Rule{
	ID:    "pacing-limited",
	Of:    OfConnection,
	Needs: []Name{PacingCap, PacingRate, NotSent, WindowFilled, Steady},
	Reads: []Name{OwnGoodput},
	Apart: map[string]Name{"application-limited": NotSent},
	Look: func(s *Subject) *Claim {
		if s.Value(PacingRate) < atCap*s.Value(PacingCap) || s.Value(NotSent) == 0 || s.Value(WindowFilled) > cwndLeft {
			return nil
		}
		return &Claim{
			Where: AtSender, Confidence: 0.95,
			Evidence: []Name{PacingCap, PacingRate, Steady, NotSent, WindowFilled, OwnGoodput},
			Advice:   []string{"program", "system"},
			Words:    s.programWord(),
			Allows:   s.Value(PacingCap),
		}
	},
}

const (
	atCap = 0.99 // of the cap: the kernel keeps rates in whole bytes a second
	// cwndLeft is the share of the congestion window above which it may be what holds the connection. Linux lets it grow to twice what is
	// under way (net/ipv4/tcp_output.c, tcp_is_cwnd_limited), so that one that does not limit is half used.
	cwndLeft = 0.75
)
