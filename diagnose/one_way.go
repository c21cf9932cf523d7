package diagnose

import (
	"math"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// Facts about what a way takes by itself, by packets that the far end stamps and reflects (owd). What the clocks of both ends show is in the
// delays, and not in how much longer some take than others.
const (
	WayLeast      Name = "least_one_way"
	WayUsual      Name = "usual_one_way"
	WayHigh       Name = "late_one_way" // the 95th percentile
	WayError      Name = "one_way_error"
	WaySent       Name = "sent_one_way"
	WayLost       Name = "lost_one_way"
	WayReordered  Name = "reordered_one_way"
	WayDuplicates Name = "duplicates_one_way"
	BackLeast     Name = "least_one_way_back" // of the other way
	BackUsual     Name = "usual_one_way_back"

	// QueueThere is how much longer packets take on a way while a transfer goes that way than at the least, and QueueBack how much longer
	// they take the other way meanwhile.
	QueueThere Name = "queue_one_way"
	QueueBack  Name = "queue_back"
)

// oneWayDefinitions are of these facts.
var oneWayDefinitions = []definition{
	{Name: WayLeast, Metric: "owd_min_seconds", Unit: "s", Means: "from {sender} to {receiver} at the least, by the clocks of both, which may be off by " +
		"{one_way_error}", Step: idleOneWay},
	{Name: WayUsual, Metric: "owd_median_seconds", Unit: "s", Means: "from {sender} to {receiver} as a rule; {least_one_way} at the least"},
	{Name: WayHigh, Metric: "owd_p95_seconds", Unit: "s", Means: "from {sender} to {receiver}, which 5 of 100 packets exceeded"},
	{Name: WayError, Metric: string(measure.OneWayError), Unit: "s", Means: "by which delays of one way may be off for the clocks of both ends"},
	{Name: WaySent, Metric: "sent_packets", Unit: "packets", Means: "small ones from {sender} to {receiver} on the idle path"},
	{Name: WayLost, Metric: "lost_packets", Unit: "packets", Means: "lost of {sent_one_way} small packets from {sender} to {receiver} on the idle path"},
	{Name: WayReordered, Metric: "reordered_packets", Unit: "packets", Means: "came behind later ones from {sender} to {receiver} on the idle path"},
	{Name: WayDuplicates, Metric: "duplicate_packets", Unit: "packets", Means: "came twice from {sender} to {receiver} on the idle path"},
	{Name: BackLeast, Metric: "owd_min_seconds", Unit: "s", Means: "from {receiver} to {sender} at the least"},
	{Name: BackUsual, Metric: "owd_median_seconds", Unit: "s", Means: "from {receiver} to {sender} as a rule; {least_one_way_back} at the least"},
	{Name: QueueThere, Metric: "queue_seconds", Unit: "s", Means: "that packets wait from {sender} to {receiver} while a transfer goes that way",
		Step: loadedOneWay},
	{Name: QueueBack, Metric: "queue_seconds", Unit: "s", Means: "that packets wait from {receiver} to {sender} meanwhile"},
}

const (
	oneWayCount    = 20
	oneWayInterval = 0.05 // seconds, as pings have
	// loadedInterval is the time between packets beside a transfer, in seconds: a tenth of a second takes 9 kbit/s of the narrowest way, and leaves
	// leastLoaded packets three times over of a transfer's later part.
	loadedInterval = 0.1
	loadedLasts    = 3.0 // seconds of the transfer: slow start and the first losses take 1 to 2
	// loadedTrips is how many round trips such a transfer lasts at the least: slow start and the first queue take ten on long paths.
	loadedTrips = 20
	// loadedTripsPatience is how many round trips under load a packet is waited for, as one that is lost keeps the test waiting: its queue may grow to twice
	// that, and more.
	loadedTripsPatience = 4
	// loadedLeastPatience and loadedMostPatience bound that, in seconds: the usual timeout, and what 20 kB take before 16 kbit/s.
	loadedLeastPatience, loadedMostPatience = 2.0, 10.0

	leastLoaded = 5 // packets of which a median says something
	// openingTrips is how many round trips pass until a transfer's connections are open and its parameters agreed.
	openingTrips = 6
)

// Lead is how long a step that is made under a transfer goes on before that begins, so that some of what it measures is of the empty path.
const Lead = 500 * time.Millisecond

// idleOneWay measures what each way takes while nothing is moved.
func idleOneWay(s *Subject) (Step, bool) {
	return Step{Name: "owd", Kind: "owd", Why: "what each way takes by itself", Seconds: oneWayCount*oneWayInterval + setUpTakes,
		Parameters: map[string]any{"count": oneWayCount, "interval": oneWayInterval}}, s.Responder
}

// loadedOneWay measures what each way takes while a transfer runs: on which of them the queue stands.
func loadedOneWay(s *Subject) (Step, bool) {
	trip := s.Value(EmptyRoundTrip)
	transfer := max(loadedLasts, math.Ceil(loadedTrips*trip))
	under := step("owd-transfer", "throughput", s.Name, "a transfer beside which one-way delays are measured", transfer+setUpTakes,
		map[string]any{"duration": transfer, "length": surveyWrite, "event-loop": true})
	why := "on which way packets wait while data moves"
	if s.Name == measure.Reverse {
		why += ", on the way back"
	}
	lasts := Lead.Seconds() + transfer + max(setUpTakes, openingTrips*trip)
	patience := loadedMostPatience
	if s.Known(LoadedRoundTrip) {
		patience = min(patience, max(loadedLeastPatience, loadedTripsPatience*s.Value(LoadedRoundTrip)))
	}
	return Step{Name: called("owd-loaded", s.Name), Kind: "owd", Why: why, Seconds: lasts, Way: measure.Way(s.Name), Under: &under,
		Calm:       queueStands*trip + othersQueue,
		Parameters: map[string]any{"count": int(lasts / loadedInterval), "interval": loadedInterval, "timeout": patience}}, s.Responder
}

// loadsOf are the transfers that ran while one-way delays were measured, by the Results of these.
func loadsOf(results []*measure.Result) map[*measure.Result]*measure.Result {
	loads := map[*measure.Result]*measure.Result{}
	for _, r := range results {
		if r.Kind != "owd" {
			continue
		}
		for _, t := range results {
			if since := t.Started.Sub(r.Started); sortOf(t) == ofTransfer && since >= 0 && since < seconds(r.DurationSeconds) {
				loads[r] = t
			}
		}
	}
	return loads
}

// isLoad reports whether one-way delays were measured beside a transfer.
func (g *gathering) isLoad(transfer *measure.Result) bool {
	for _, t := range g.loads {
		if t == transfer {
			return true
		}
	}
	return false
}

// readOneWay takes what each way takes on the idle path, or while a transfer ran, on which way packets waited.
func readOneWay(g *gathering, r *measure.Result) {
	if t := g.loads[r]; t != nil {
		readQueues(g.ways[string(measure.WayOf(t.Kind, t.Parameters))], r, t)
		return
	}
	g.each(r, func(s *Subject) {
		get := func(n Name, m measure.Metric) {
			if v, told := r.Get(m); told {
				s.set(n, exactly(v, r))
			}
		}
		get(WayError, measure.OneWayError)
		get(WayLeast, measure.OneWay(s.Name, "min"))
		get(WayUsual, measure.OneWay(s.Name, "median"))
		get(WayHigh, measure.OneWay(s.Name, "p95"))
		get(WaySent, measure.SentOn(s.Name))
		get(WayLost, measure.LostOn(s.Name))
		get(WayReordered, measure.ReorderedOn(s.Name))
		get(WayDuplicates, measure.DuplicateOn(s.Name))
	})
}

// readQueues takes how much longer each way takes once a transfer runs than at the least.
//
//	packets    . . . . . . . . . . . . . . . . . . . . . . .
//	transfer         |-----------------------------|
//	                             these are loaded    (its steady part)
//
// Where most of these were lost, as a way back loses them that acknowledgements fill, the last that came back of the transfer's time tell.
func readQueues(s *Subject, r, transfer *measure.Result) {
	lasts, told := transfer.Number("duration")
	if s == nil || !told {
		return
	}
	began := transfer.Started.Sub(r.Started).Seconds()
	var all, during [2][]float64 // the way of the data, and the other one
	sent, came := 0, 0           // of the steady part
	for _, e := range r.Samples.Echoes {
		at := e.SentSeconds - began
		steady := at >= settled*lasts && at <= lasts
		if steady {
			sent++
		}
		if e.ForwardSeconds == nil || e.ReverseSeconds == nil {
			continue
		}
		if steady {
			came++
		}
		took := [2]float64{*e.ForwardSeconds, *e.ReverseSeconds}
		if s.Name == measure.Reverse {
			took[0], took[1] = took[1], took[0]
		}
		for i, one := range took {
			all[i] = append(all[i], one)
			if at >= 0 && at <= lasts {
				during[i] = append(during[i], one)
			}
		}
	}
	for i, n := range []Name{QueueThere, QueueBack} {
		if sent < leastLoaded || len(during[i]) < leastLoaded {
			s.set(n, Fact{Result: r.ID, Unknown: "too few packets came back while the transfer ran"})
			continue
		}
		loaded := during[i][len(during[i])-min(len(during[i]), max(came, leastLoaded)):]
		s.set(n, exactly(max(0, median(loaded)-slices.Min(all[i])), r))
	}
}

// deriveOneWay adds to a way what the other one takes.
func deriveOneWay(s, back *Subject) {
	for n, of := range map[Name]Name{BackLeast: WayLeast, BackUsual: WayUsual} {
		if back.Known(of) {
			s.set(n, back.Fact(of))
		}
	}
}

// losesOn is the share of its packets that a transfer loses once it runs: what slow start makes a queue lose is over then. What it makes a full path
// lose, while a paced probe loses nothing, does not count: a sender that hears late of losses sends far too much.
func losesOn(s *Subject) float64 {
	if s.Known(PacedLoss) && s.Value(PacedLost) == 0 && s.Known(FullLosses) && s.Value(FullLosses) >= mostlyOfFull*s.Value(Retransmits) {
		return 0
	}
	if !s.Known(LateSegments) || s.Value(LateSegments) == 0 {
		return s.Value(ResentShare)
	}
	return min(s.Value(ResentShare), s.Value(LateRetransmits)/s.Value(LateSegments))
}

// mostlyOfFull is the share of what was sent again from which on a full path lost it.
const mostlyOfFull = 0.95

// waitsBack reports whether packets are known to wait on the way back while a transfer runs, and not on the way of its data.
func waitsBack(s *Subject) bool {
	return s.Known(QueueBack) && s.Value(QueueBack) > max((queueStands-1)*s.Value(EmptyRoundTrip), othersQueue) &&
		s.Value(QueueThere) <= flatShare*s.Value(QueueBack)
}

// waitsThere reports whether packets are known to wait on the way of the data, and not on the way back.
func waitsThere(s *Subject) bool {
	return s.Known(QueueThere) && s.Value(QueueThere) > max((queueStands-1)*s.Value(EmptyRoundTrip), othersQueue) &&
		s.Value(QueueBack) <= flatShare*s.Value(QueueThere)
}

// flatShare is the share of a queue on one way up to which the other way counts as free: bursts that a late acknowledgement lets go wait for
// their own packets.
const flatShare = 0.5
