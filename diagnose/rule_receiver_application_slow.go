package diagnose

// receiverApplicationSlow: the program at the receiving end takes data more slowly than the path brings it. There, what it has not read
// stands in its buffer; from the sending end, the window that it leaves holds the connection, although the receiver's kernel is ready for a
// larger one, and for a transfer of this diagnosis opens it.
var receiverApplicationSlow = Rule{
	ID:    "receiver-application-slow",
	Of:    OfConnection,
	Needs: []Name{Steady},
	Reads: []Name{Unread, UnreadShare, ReceiveWindow, ReceiveWindowShare, ReceiveBufferFixed, WindowUsual, WindowMost, RoundTrip, OwnGoodput,
		OwnWindow, OwnerCPU, OwnerBlocked, MSS, ReceiveBufferMax},
	Apart: map[string]Name{"receive-buffer-fixed": WindowMost, "host-cpu-limited": OwnerCPU, "disk-limited": OwnerBlocked},
	Look: func(s *Subject) *Claim {
		c := &Claim{
			Where: AtReceiver, Confidence: 0.95,
			Evidence: []Name{Unread, UnreadShare, Steady, OwnGoodput, OwnerCPU, OwnerBlocked},
			Advice:   []string{"program"},
			Words:    s.programWord(),
			Allows:   s.Value(Steady), // what the program takes is what moves
			Gone:     []limit{byReceiveWindow},
		}
		if s.Known(UnreadShare) {
			if s.Value(UnreadShare) < binding {
				return nil
			}
			return c
		}
		if !windowHolds(s) || s.Is(ReceiveBufferFixed) {
			return nil
		}
		c.Says, c.Evidence = []string{"window"}, []Name{ReceiveWindowShare, WindowUsual, WindowMost, Steady, OwnGoodput, OwnWindow}
		closes := s.Value(WindowUsual) < max(s.Value(ReceiveWindow)/2, s.Value(MSS))
		tuned := windowRate(s, s.Value(ReceiveBufferMax)/windowShare)
		opens := s.Known(OwnWindow) && s.Value(OwnWindow) < binding && (s.Value(OwnGoodput) >= s.Value(Steady) ||
			s.Known(ReceiveBufferMax) && tuned > mostAllowed*s.Value(Steady))
		switch {
		case windowRate(s, s.Value(WindowMost)) <= mostAllowed*s.Value(Steady) || !closes && !opens:
			return nil
		case opens:
			c.Says, c.Confidence = append(c.Says, "own"), 0.85
		default:
			c.Says, c.Confidence = append(c.Says, "alone"), 0.6
		}
		return c
	},
}

// windowShare is what of a receive buffer Linux shows as window: a half, the rest being its own (tcp(7), tcp_adv_win_scale).
const windowShare = 2

// programWord is what the program of this end is called.
func (s *Subject) programWord() map[string]string {
	if s.program == "" {
		return map[string]string{"program": "the program"}
	}
	return map[string]string{"program": "`" + s.program + "`"}
}
