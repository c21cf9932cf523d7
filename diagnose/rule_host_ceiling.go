package diagnose

import "github.com/pathwise-net/pathwise/measure"

// KindReference is the kind of a Result that says what this host moved to and from a near host, memory to memory, where its own processors
// were the limit: throughput_bits_per_second as it sends, reverse_throughput_bits_per_second as it receives.
const KindReference = "reference"

const ofReference sort = KindReference

// What a reference of this host tells of a way.
const (
	Ceiling    Name = "host_ceiling"
	CeilingCPU Name = "host_ceiling_processor"
)

// hostCeiling: this host moves no more to a near host than it does here, so that no path would let it move more. It is told before any cause
// in the path, which would have to be looked for from a faster host.
var hostCeiling = Rule{
	ID:    "host-ceiling",
	Of:    OfWay,
	Needs: []Name{Ceiling, Steady},
	Reads: []Name{Sourced, ReceiveWindowShare, SendBufferShare},
	Apart: map[string]Name{"receive-window-limited": ReceiveWindowShare, "application-limited": Sourced},
	Brings: []definition{
		{Name: Ceiling, Metric: string(measure.Throughput), Unit: "bit/s", Means: "what this host moved to or from a near one, held by its own processors",
			From: ofReference, Read: readCeiling(measure.Throughput, measure.ReverseThroughput)},
		{Name: CeilingCPU, Metric: string(measure.HostCPUMax), Unit: "ratio", Means: "share of a processor that it used then",
			From: ofReference, Read: readCeiling(measure.CPUSender, measure.CPUReceiver)},
	},
	Look: func(s *Subject) *Claim {
		share := s.Value(Steady) / s.Value(Ceiling)
		farSets := s.Value(ReceiveWindowShare) >= binding
		if s.Name == measure.Reverse {
			farSets = s.Value(SendBufferShare) >= sendBinding
		}
		if share < ceilingReached || share > ceilingPassed || s.Is(Sourced) || farSets {
			return nil
		}
		c := &Claim{
			Where: AtSender, Confidence: 0.85,
			Evidence: []Name{Steady, Ceiling, CeilingCPU},
			Advice:   []string{"streams", "audit"},
			Words:    map[string]string{"near": s.Sender},
			Allows:   s.Value(Ceiling), Unpredicted: true, // what it could move with more of its processors is not known
		}
		if s.Name == measure.Reverse {
			c.Where, c.Words["near"] = AtReceiver, s.Receiver
		}
		return c
	},
}

const (
	// ceilingReached is the share of a host's ceiling from which on the host is what limits: runs of a reference differ by a tenth.
	ceilingReached = 0.9
	// ceilingPassed is the share from which on the reference is not that of the host as it is now.
	ceilingPassed = 1.15
)

// readCeiling reads a metric of a reference, by the way that data goes.
func readCeiling(forward, reverse measure.Metric) func(*Subject, *measure.Result) (float64, bool) {
	return func(s *Subject, r *measure.Result) (float64, bool) {
		m := forward
		if s.Name == measure.Reverse {
			m = reverse
		}
		value, told := r.Get(m)
		return value, told && value > 0
	}
}
