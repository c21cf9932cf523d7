package diagnose

// cryptoLimited: the program at this end encrypts, or decrypts, all that the connection carries, the thread that does has no time left, and the
// connection waits for it: as under host-cpu-limited, with what takes the time. A program that waits for its disk has an idle thread.
var cryptoLimited = Rule{
	ID:       "crypto-limited",
	Of:       OfConnection,
	Needs:    []Name{Encrypts, OwnerBusiest, Steady},
	Reads:    []Name{RoomShare, UnreadShare, OwnerCPU, OwnerBlocked, CipherRate, ReceiveWindowShare, SendBufferShare, OwnGoodput},
	Apart:    map[string]Name{"host-cpu-limited": Encrypts, "disk-limited": OwnerBlocked},
	Replaces: []string{"host-cpu-limited", "application-limited", "receiver-application-slow"},
	Look: func(s *Subject) *Claim {
		if !s.Is(Encrypts) || s.Value(OwnerBlocked) >= binding {
			return nil
		}
		c := hostCPULimited.Look(s) // of which this is the cause
		if c == nil {
			return nil
		}
		c.Evidence = []Name{OwnerBusiest, OwnerCPU, CipherRate, RoomShare, UnreadShare, Steady, OwnGoodput}
		c.Advice = []string{"cipher", "compression", "spread"}
		if c.Where == AtReceiver {
			c.Advice = []string{"cipher-there", "compression-there", "spread-there"}
		}
		return c
	},
}
