package diagnose

// hostCPULimited: one thread of the program at this end works all the time, and the connection waits for it: to be given data, or to be read.
// A thread that is ready and waits for a processor counts as working, since a machine that is busy otherwise would not help it.
var hostCPULimited = Rule{
	ID:       "host-cpu-limited",
	Of:       OfConnection,
	Needs:    []Name{OwnerBusiest, Steady},
	Reads:    []Name{RoomShare, UnreadShare, OwnerCPU, ReceiveWindowShare, SendBufferShare},
	Apart:    map[string]Name{"application-limited": OwnerBusiest, "receiver-application-slow": OwnerBusiest},
	Replaces: []string{"application-limited", "receiver-application-slow"},
	Look: func(s *Subject) *Claim {
		sends := s.Value(RoomShare) >= mostlyIdle && s.Value(ReceiveWindowShare) < unlimited && s.Value(SendBufferShare) < unlimited
		reads := s.Value(UnreadShare) >= binding
		if s.Value(OwnerBusiest) < wholeThread || s.Value(Steady) == 0 || !sends && !reads {
			return nil
		}
		c := &Claim{
			Where: AtSender, Confidence: confidence(s.Value(OwnerBusiest)),
			Evidence: []Name{OwnerBusiest, OwnerCPU, RoomShare, UnreadShare, Steady},
			Advice:   []string{"look", "less", "spread"},
			Words:    s.programWord(),
			Allows:   s.Value(Steady), Unpredicted: true, // what the program could make on more processors is not known
		}
		if reads {
			c.Where, c.Says, c.Advice = AtReceiver, []string{"reads"}, []string{"look-there", "less-there", "spread-there"}
		}
		return c
	},
}

// wholeThread is the share of the time from which on a thread has none left: work that moves from one thread to another while it is watched,
// as that of Go does, comes to nine tenths in the lab.
const wholeThread = 0.8
