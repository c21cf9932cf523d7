package diagnose

// sendBufferFixed: the sending program set the size of its buffer, which stops the kernel from tuning it, and it is full of what is
// not yet acknowledged.
var sendBufferFixed = Rule{
	ID:    "send-buffer-fixed",
	Of:    OfWay,
	Also:  []Kind{OfConnection},
	Needs: []Name{SendBufferFixed, SendBufferShare, InFlight},
	Reads: []Name{AppLimitedShare, RoomShare, ReceiveWindowShare, SendBuffer, SendBufferMax, ReceiveBufferMax, Capacity, EmptyRoundTrip, RoundTrip},
	Apart: map[string]Name{"send-buffer-limited": SendBufferFixed},
	Look: func(s *Subject) *Claim {
		gone, cured := unfixed(s)
		if !sendBufferHolds(s) || !s.Is(SendBufferFixed) {
			return nil
		}
		return &Claim{
			Where: AtSender, Confidence: confidence(0.5 + s.Value(SendBufferShare)/2),
			Evidence: []Name{SendBufferShare, SendBuffer, Steady, InFlight, Allowed},
			Advice:   []string{"program"},
			Words:    tuned{s.Value(SendBuffer), nil, s.Value(InFlight)}.words(s),
			Allows:   windowRate(s, sendShare*s.Value(SendBuffer)),
			Calc:     windowCall(s, sendShare*s.Value(SendBuffer)),
			Gone:     gone, Cured: cured,
		}
	},
}

// unfixed is what a program that does not set its buffers any more leaves: those of both ends are the kernels' to tune, since the
// programs of a test set them together. Where it is not known how far a kernel goes, its buffer is no limit.
func unfixed(s *Subject) (gone []limit, cured map[Name]float64) {
	for by, most := range map[limit]Name{byReceiveWindow: ReceiveBufferMax, bySendBuffer: SendBufferMax} {
		if !s.Known(most) {
			gone = append(gone, by)
		}
	}
	return gone, map[Name]float64{ReceiveBufferFixed: 0, SendBufferFixed: 0}
}
