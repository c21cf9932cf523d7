package diagnose

// faultyModule: some flows lose packets, and others between the same hosts lose none. Routers and switches spread flows over parallel links, and modules of
// one device, by addresses and ports; one of them is bad. A flow has it at all times or never, so that trying again with another port helps or does not.
//
// Many small flows tell: that half of them lose nothing while the others lose as TCP does is no accident.
var faultyModule = Rule{
	ID:       "faulty-module",
	Of:       OfWay,
	Needs:    []Name{FlowsTried, FlowsClean, FlowsChance, FlowsLoss, Retransmits, Segments, MSS, EmptyRoundTrip},
	Apart:    map[string]Name{"random-loss": FlowsClean, "shallow-buffer": FlowsClean, "wan-bit-errors": FlowsClean},
	Suspect:  losesForNoQueue,
	Replaces: []string{"random-loss", "burst-loss", "shallow-buffer"},
	Look: func(s *Subject) *Claim {
		if s.Value(FlowsChance) > rareChance {
			return nil
		}
		p := s.Value(FlowsLoss)
		return &Claim{
			Where: OnPath, Confidence: 0.9,
			Evidence: []Name{FlowsClean, FlowsLoss, FlowsChance, Retransmits, ResentShare, Steady, Allowed},
			Advice:   []string{"member", "port"},
			Words:    map[string]string{"loss": inText(p, "ratio")},
			Allows:   lossAllows(s, p),
			Calc:     lossCall(s, p),
			Gone:     []limit{byLoss},
		}
	},
}

// rareChance is the chance from which down an accident is not believed: of a thousand diagnoses that get so far, one names a link in vain.
const rareChance = 1e-3
