package stat

// OutageRule says when packets that were lost one after another are an outage, and not mere loss.
type OutageRule struct {
	// Losses is the least number of packets lost in a row. 0: OutageLosses.
	Losses int
	// Shortest, in seconds, is how long an outage lasts at least, however many packets were lost in it. 0: OutageShortest; below 0: no bound.
	Shortest float64
	// Stands, in seconds, is the longest time for which the fate of one packet holds: what goes beyond it until the next is sent is time of which
	// nothing is known: a pause of the test. 0: there is no such bound.
	Stands float64
}

const (
	// OutageLosses is how many packets in a row are lost in an outage: of packets that are lost by chance, each of a hundred, three in a row are one
	// in a million.
	OutageLosses = 3
	// OutageShortest, in seconds, is Linux's least retransmission timeout: of what is over sooner, TCP sees a loss and no pause.
	OutageShortest = 0.2
)

// Outage is a time without connectivity, in seconds by the clock of the passages: from when the first packet that was lost was sent to when the first was
// sent that arrived again.
type Outage struct {
	Began, Ended float64
	Lost         int  // packets that were lost in it
	Open         bool // it had not ended when the sample did, or a pause of the test began
}

// Availability is the share of a time in which there was connectivity.
type Availability struct {
	Known   float64 // seconds of which something is known: those for which packets stand
	Down    float64 // seconds of them without connectivity
	Outages []Outage
}

// Ratio is the share of the known time with connectivity, 0 to 1; 1 of no time.
func (a Availability) Ratio() float64 {
	if a.Known <= 0 {
		return 1
	}
	return 1 - a.Down/a.Known
}

// Longest is how long the longest outage lasted, in seconds; 0 without any.
func (a Availability) Longest() (seconds float64) {
	for _, o := range a.Outages {
		seconds = max(seconds, o.Ended-o.Began)
	}
	return seconds
}

// AvailabilityOf reduces passages, in the order of sending, to times with connectivity and without, until a moment that is not before the last of them.
// Each packet stands for the time from when it was sent until the next one was. The path is down from the first of the losses of an outage:
//
//	passages   | . . x . x x x x . . x x        . arrived, x lost; Losses: 3
//	state      | up      down    up
//
// The last two losses are no outage yet, and count as up. It says nothing (false) where nothing was sent.
func AvailabilityOf(passages []Passage, until float64, rule OutageRule) (Availability, bool) {
	if len(passages) == 0 {
		return Availability{}, false
	}
	if rule.Losses <= 0 {
		rule.Losses = OutageLosses
	}
	if rule.Shortest == 0 {
		rule.Shortest = OutageShortest
	}
	var a Availability
	for begin := 0; begin < len(passages); {
		o := Outage{Began: passages[begin].Sent}
		made, end := passages[begin].Made(), begin // of passages of one fate, without a pause between them
		for paused := false; end < len(passages) && passages[end].Made() == made && !paused; end++ {
			o.Ended, paused = rule.standing(passages, end, until)
			o.Open = paused || end+1 == len(passages)
		}
		o.Lost = end - begin
		a.Known += o.Ended - o.Began
		if !made && o.Lost >= rule.Losses && o.Ended-o.Began >= rule.Shortest {
			a.Outages = append(a.Outages, o)
			a.Down += o.Ended - o.Began
		}
		begin = end
	}
	return a, true
}

// standing is until when the i-th passage stands, and whether a pause of the test follows it.
func (r OutageRule) standing(passages []Passage, i int, until float64) (end float64, paused bool) {
	next := until
	if i+1 < len(passages) {
		next = passages[i+1].Sent
	}
	next = max(next, passages[i].Sent)
	if last := passages[i].Sent + r.Stands; r.Stands > 0 && last < next {
		return last, true
	}
	return next, false
}
