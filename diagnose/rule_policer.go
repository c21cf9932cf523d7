package diagnose

import (
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// What probes beside the paced one and that at half of the capacity lose: one slower than what TCP got, where the paced one may be above the
// rate of a policer, and one faster, where no capacity is known to take half of.
const (
	SlowLoss   Name = "slow_loss"
	SlowRate   Name = "slow_rate"
	BeyondLoss Name = "beyond_loss"
	BeyondRate Name = "beyond_rate"
)

// What trains of packets told of a token bucket.
const (
	BucketRate Name = "bucket_rate"
	BucketSize Name = "bucket_size"
)

// policer: what is above a rate is dropped, without a queue. Of two probes that send evenly, the faster loses what is above the rate, and the
// slower nothing.
var policer = Rule{
	ID:    "policer",
	Of:    OfWay,
	Needs: []Name{PacedLoss, Steady},
	Reads: []Name{BucketRate, BucketSize, HalfLoss, HalfRate, SlowLoss, BeyondLoss, BeyondRate, SlowRate, PacedRate, PacedLost, PacedSent, Capacity, Retransmits,
		ResentShare, LateRetransmits, LateSegments, LoadedRoundTrip, EmptyRoundTrip, PayloadCapacity},
	Brings: []definition{
		{Name: SlowLoss, Metric: "loss_ratio", Unit: "ratio", Means: "lost by a probe of {slow_rate}, half of what TCP got", Step: slowProbe},
		{Name: SlowRate, Metric: "sent_bits_per_second", Unit: "bit/s", Means: "rate of a probe at half of what TCP got"},
		{Name: BeyondLoss, Metric: "loss_ratio", Unit: "ratio", Means: "lost by a probe of {beyond_rate}, twice what TCP got", Step: beyondProbe},
		{Name: BeyondRate, Metric: "sent_bits_per_second", Unit: "bit/s", Means: "rate of a probe at twice what TCP got"},
		{Name: BucketRate, Metric: string(measure.Sustained), Unit: "bit/s", Means: "what a token bucket passes for long, by trains of packets", From: ofTrains,
			Read: readBucket(func(b *measure.TokenBucket) float64 { return b.Rate.BitsPerSecond })},
		{Name: BucketSize, Metric: string(measure.BucketSize), Unit: "bytes", Means: "what it passes at once, at the rate of the link", From: ofTrains,
			Read: readBucket(func(b *measure.TokenBucket) float64 { return b.Bytes })},
	},
	Apart:    map[string]Name{"shallow-buffer": HalfLoss, "random-loss": PacedLoss, "burst-loss": SlowLoss},
	Suspect:  func(s *Subject) bool { return losesWithoutQueue(s) || losesNear(s) || cutToSteady(s) },
	Replaces: []string{"random-loss", "burst-loss"},
	Look: func(s *Subject) *Claim {
		loss, sent, below := s.Value(HalfLoss), s.Value(HalfRate), s.Value(PacedLoss)
		c := &Claim{Where: OnPath, Confidence: 0.8, Advice: []string{"shape", "contract"}, Unpredicted: true, // to shape gains the lesser part
			Evidence: []Name{HalfLoss, BeyondLoss, PacedLoss, SlowLoss, Capacity, Steady, LoadedRoundTrip}}
		if s.Known(SlowLoss) {
			below, c.Says = s.Value(SlowLoss), []string{"slow"}
		}
		switch {
		case s.Known(HalfLoss):
		case s.Known(SlowLoss):
			loss, sent = s.Value(PacedLoss), s.Value(PacedRate)
		case s.Known(BeyondLoss):
			loss, sent, c.Says = s.Value(BeyondLoss), s.Value(BeyondRate), []string{"beyond"}
			if got := sent * (1 - loss); got > mostPoliced*s.Value(Steady) {
				return nil // a link that carries more, and loses bursts
			}
		}
		if loss < policed || below > loss/policedMore {
			return nil
		}
		rate := max(sent*(1-loss), s.Value(Steady))
		if s.Known(HalfLoss) {
			rate = sent * (1 - loss)
		}
		c.Words, c.Allows = map[string]string{"rate": quantity.FormatRate(rate)}, rate
		if b := s.Value(BucketRate); b >= rate/mostPoliced && b <= rate*mostPoliced {
			c.Evidence = append(c.Evidence, BucketRate)
			if s.Value(BucketSize) > 0 {
				c.Evidence = append(c.Evidence, BucketSize)
			}
		}
		return c
	},
}

// readBucket reads what trains told of a token bucket that drops what is above.
func readBucket(of func(*measure.TokenBucket) float64) func(*Subject, *measure.Result) (float64, bool) {
	return func(_ *Subject, r *measure.Result) (float64, bool) {
		c := r.Samples.Capacity
		if c == nil || c.Bucket == nil || !c.Bucket.Drops {
			return 0, false
		}
		value := of(c.Bucket)
		return value, value > 0
	}
}

// losesNear reports whether TCP loses much on a path that holds hardly any packets: all that is under way stands before the narrowest link
// then, so that no round trip tells whether a queue does.
func losesNear(s *Subject) bool {
	return state(s) == Slow && s.Value(Retransmits) >= enoughLosses && s.Value(ResentShare) >= nearResent && s.Known(PacedLoss) &&
		s.Value(EmptyRoundTrip) < packetsTake(s)
}

// cutToSteady reports whether a paced probe lost what it sent above the rate that TCP got: then that is the rate of a policer rather than
// what single losses leave.
func cutToSteady(s *Subject) bool {
	rate, steady := s.Value(PacedRate), s.Value(Steady)
	through := rate * (1 - s.Value(PacedLoss))
	return state(s) == Slow && pacedLost(s) && s.Value(PacedLoss) >= policed && rate >= steady/mostPoliced && steady >= through/mostPoliced &&
		!waitsLong(s)
}

// putOff is by how much acknowledgements that are put off make round trips longer where few packets are under way, in seconds: the least
// such time of Linux.
const putOff = 0.040

// halfProbe measures what gets lost at half of the capacity: a policer below that drops the rest, a short queue need not hold any. It lasts
// until what a policer's bucket may have saved is spent: what a transfer of this length got beyond its steady rate, or a second of that.
// Where the paced probe was cut, a slower one tells more.
func halfProbe(s *Subject) (Step, bool) {
	rate := float64(int64(halfPart * s.Value(Capacity)))
	if rate == 0 || rate > halfFastest || cutToSteady(s) {
		return Step{}, false
	}
	if s.Known(HalfLoss) {
		return halfAgain(s, rate)
	}
	lasts := halfLasts
	if steady := s.Value(Steady); steady < rate {
		saved := max((s.Value(Goodput)-steady)*s.Value(Duration), steady*bucketSeconds)
		lasts += saved / max(halfSent*rate-steady, saved/halfLongest)
	}
	lasts = min(lasts, halfLongest)
	return step("half", "throughput", s.Name, "whether half of what the narrowest link carries passes evenly", lasts+setUpTakes,
		map[string]any{"proto": "udp", "rate": rate, "duration": lasts, "length": pacedBytes}), true
}

// halfAgain is a probe that asks for a little more, where a host was so busy that it sent the first one at little more than TCP got: then that
// shows no policer, whose bucket had filled.
func halfAgain(s *Subject, rate float64) (Step, bool) {
	sent := s.Value(HalfRate)
	if sent == 0 || sent >= halfSent*rate || sent >= mostPoliced*s.Value(Steady) || s.Value(HalfLoss) >= policed || !losesWithoutQueue(s) && !losesNear(s) {
		return Step{}, false
	}
	return step("half-again", "throughput", s.Name, "whether more than TCP got passes evenly, since the last probe was sent too slowly", halfLongest+setUpTakes,
		map[string]any{"proto": "udp", "rate": float64(int64(halfMost * s.Value(Capacity))), "duration": halfLongest, "length": pacedBytes}), true
}

// slowProbe measures whether nothing is lost at half of what TCP got, where a paced probe lost what it sent above that.
func slowProbe(s *Subject) (Step, bool) {
	if !cutToSteady(s) {
		return Step{}, false
	}
	rate := s.Value(Steady) / 2
	lasts := min(max(pacedLosses/s.Value(PacedLoss)*pacedBytes*8/rate, pacedShortest), pacedLongest)
	return step("slow", "throughput", s.Name, "whether half of what TCP got passes evenly", lasts+setUpTakes,
		map[string]any{"proto": "udp", "rate": float64(int64(rate)), "duration": lasts, "length": pacedBytes}), true
}

// beyondProbe measures whether more than TCP got passes evenly, where trains of packets told no capacity to take half of.
func beyondProbe(s *Subject) (Step, bool) {
	rate := float64(int64(beyondPart * s.Value(Steady)))
	if s.Known(Capacity) || s.exceeded || rate == 0 || rate > halfFastest {
		return Step{}, false
	}
	return step("beyond", "throughput", s.Name, "whether twice what TCP got passes evenly", beyondLasts+setUpTakes,
		map[string]any{"proto": "udp", "rate": rate, "duration": beyondLasts, "length": pacedBytes}), true
}

const (
	halfPart    = 0.5
	beyondPart  = 2
	halfLasts   = 2.0 // seconds: what most policers' buckets hold is spent in far less
	halfLongest = 8.0 // seconds
	// halfSent is the part of the rate that it was told, at which a probe sends on a busy host.
	halfSent = 0.85
	// bucketSeconds is how long a policer may be idle and keep what it would have let pass: Linux's packet filter keeps a second of its rate
	// and the burst on top (nft_limit.c). beyondLasts is so long that such a bucket adds less than mostPoliced leaves room for.
	bucketSeconds = 1.0
	beyondLasts   = 5.0
	// halfFastest is the fastest such probe, in bit/s: above, what hosts drop would be taken for the path's doing.
	halfFastest = 500e6

	// nearResent is the share of packets that TCP sends again, from which on what is lost matters on a path that holds none: losses at
	// random, which do not slow TCP down there, make it send 0.4 % again, policers 8 to 11 %.
	nearResent = 0.03

	// policed is the loss of a probe above a policer's rate from which on something drops by rate. policedMore is how much more that must
	// be than what is lost by a slower one.
	policed     = 0.05
	policedMore = 5
	// mostPoliced is how many times what TCP gets a policer lets through: recorded ones, 1.0 to 1.2 times.
	mostPoliced = 1.3
)
