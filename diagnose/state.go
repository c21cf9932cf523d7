package diagnose

// state says how a way does as a whole.
func state(s *Subject) State {
	switch {
	case s.Kind != OfWay:
		return Other
	case s.Is(Stuck):
		return Dead
	case full(s):
		return Full
	}
	return Slow
}

// full reports whether a way carries what it can: what it delivers is close to what its narrowest link allows, or,
// where that is not known, a queue stands in it because TCP fills it.
func full(s *Subject) bool {
	if s.Known(PayloadCapacity) {
		return s.Value(Steady) >= fullShare*s.Value(PayloadCapacity)
	}
	loaded, empty := s.Value(LoadedRoundTrip), s.Value(EmptyRoundTrip)
	return loaded > queueStands*empty && loaded-empty > leastQueue &&
		s.Value(ReceiveWindowShare) < binding && s.Value(SendBufferShare) < sendBinding && s.Value(RoomShare) < mostlyIdle
}

const (
	// fullShare is the share of what a path can carry above which nothing is wrong: cubic and reno on a queue of half
	// a bandwidth-delay product keep 90 % and more.
	fullShare = 0.8
	// queueStands is the ratio of loaded to empty RTT above which a queue stands in the path, and leastQueue, in seconds,
	// what it must hold: within a room the hosts' own delays vary by more than a fifth.
	queueStands = 1.2
	leastQueue  = 0.001

	// Shares of a test's time, by the kernel's own account, from which on a limit binds. A limit that binds shows 0.7 to
	// 1 in the lab; one that does not, under 0.1.
	binding     = 0.5
	sendBinding = 0.2 // the kernel books time to the receive window and the network while the send buffer refills

	mostlyIdle = 0.9  // share of samples: a program slower than the path finds room whenever it looks
	unlimited  = 0.05 // of the time: the kernel's jiffies and the first round trips book up to this much
)
