package diagnose

// diskLimited: the program at this end waits for a disk most of the time, and the connection waits for it: to be given data, or to be read.
var diskLimited = Rule{
	ID:       "disk-limited",
	Of:       OfConnection,
	Needs:    []Name{OwnerBlocked, Steady},
	Reads:    []Name{RoomShare, UnreadShare, OwnerCPU, ReceiveWindowShare, SendBufferShare, OwnGoodput},
	Apart:    map[string]Name{"application-limited": OwnerBlocked, "receiver-application-slow": OwnerBlocked},
	Replaces: []string{"application-limited", "receiver-application-slow"},
	Look: func(s *Subject) *Claim {
		sends := s.Value(RoomShare) >= mostlyIdle && s.Value(ReceiveWindowShare) < unlimited && s.Value(SendBufferShare) < unlimited
		reads := s.Value(UnreadShare) >= binding
		if s.Value(OwnerBlocked) < binding || s.Value(Steady) == 0 || !sends && !reads {
			return nil
		}
		c := &Claim{
			Where: AtSender, Confidence: 0.85,
			Evidence: []Name{OwnerBlocked, OwnerCPU, RoomShare, UnreadShare, Unread, Steady, OwnGoodput},
			Advice:   []string{"look", "blocks"},
			Words:    s.programWord(),
			Allows:   s.Value(Steady), // what the disk takes, or gives, is what moves
			Gone:     []limit{byReceiveWindow},
		}
		if reads {
			c.Where, c.Says, c.Advice = AtReceiver, []string{"reads"}, []string{"look-there", "blocks-there"}
		}
		return c
	},
}
