package diagnose

import "github.com/pathwise-net/pathwise/measure"

// Facts about connections to a service.
const (
	ServiceOpened Name = "service_connections"
	ServiceLate   Name = "late_service_connections"
	ServiceUsual  Name = "usual_service_opening"
)

// acceptQueueFull: the first packets of connections to one service get no answer and have to be sent again, while those to the responder
// on the same host are answered at once: the way loses nothing, and the service has no room for one more. A firewall that lets only so
// many new connections through to a port looks the same from outside, which the counters of the host tell.
var acceptQueueFull = Rule{
	ID:    "accept-queue-full",
	Of:    OfExchange,
	Needs: []Name{ServiceOpened, ServiceLate, Openings, OpeningsLate},
	Reads: []Name{ServiceUsual, OpeningUsual, Pings, Answers},
	Brings: []definition{
		{Name: ServiceOpened, Metric: "connections_count", Unit: "connections", Means: "connections to the service that were tried"},
		{Name: ServiceLate, Metric: "late_connections_count", Unit: "connections",
			Means: "of {service_connections} connections to the service, those whose first packet had to be sent again"},
		{Name: ServiceUsual, Metric: "connect_median_seconds", Unit: "s",
			Means: "until a connection to the service was open, as a rule"},
	},
	Apart: map[string]Name{"transaction-loss": OpeningsLate},
	Look: func(s *Subject) *Claim {
		lossless := s.Value(OpeningsLate) == 0 && s.Value(Answers) >= s.Value(Pings)
		if s.Value(ServiceLate) < fewLate || s.Value(Openings) < enoughOpenings || !lossless {
			return nil
		}
		return &Claim{
			Where: AtTarget, Confidence: 0.7,
			Evidence: []Name{ServiceLate, ServiceUsual, OpeningsLate, OpeningUsual, Answers},
			Advice:   []string{"look", "room", "faster"},
			Words:    map[string]string{"port": s.service}, Unpredicted: true,
		}
	},
}

const (
	fewLate = 2 // connections: one alone may be a packet lost by chance
	// enoughOpenings is how many other connections have to open at once: where every second SYN is lost, five do in one of 32 cases.
	enoughOpenings = 5
)

// readService takes how soon a service took connections.
func readService(s *Subject, r *measure.Result) {
	if port, told := r.Number("port"); told {
		s.service = format(port, "")
	}
	late, all, silent := 0., 0., 0.
	for i, t := range r.Samples.Transactions {
		switch {
		case t.ConnectSeconds != nil:
			all++
			if *t.ConnectSeconds >= synTakes && t.Retransmits > 0 {
				late++
			}
		case lasted(r, i) >= synTakes: // a refusal comes at once
			silent++
		}
	}
	if all > 0 { // the service is there: what got no answer at all, it had no room for
		all, late = all+silent, late+silent
	}
	s.set(ServiceOpened, exactly(all, r))
	s.set(ServiceLate, exactly(late, r))
	s.setPositive(ServiceUsual, r.Metrics[measure.ConnectMedian], r)
}

// lasted is how long a transaction was tried, in seconds: until the next one, or the end of all.
func lasted(r *measure.Result, i int) float64 {
	all, until := r.Samples.Transactions, r.DurationSeconds
	if i+1 < len(all) {
		until = all[i+1].StartSeconds
	}
	return until - all[i].StartSeconds
}
