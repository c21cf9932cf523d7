package diagnose

// delayCreep: round trips take longer bit by bit, over a day or more.
var delayCreep = Rule{
	ID:    "delay-creep",
	Of:    OfEvent,
	Needs: []Name{CreepTakes},
	Reads: []Name{LeastDelayBefore, LeastDelayAfter, UsualDelayBefore, UsualDelayAfter},
	Apart: map[string]Name{"delay-step": CreepTakes},
	Look: func(s *Subject) *Claim {
		if before, after := s.delay(); after <= before {
			return nil
		}
		return delayClaim(s)
	},
}
