package dispersion

import (
	"math"
	"slices"
)

// What streams are sent.
const (
	mostStream  = 3000  // packets: at 1 Gbit/s 36 ms
	bucketBytes = 300e3 // of the fastest stream of a sweep: more than most buckets hold
	sweepFor    = 0.15  // s, of each stream but that one
	sweepMost   = 1.5   // s, of that one
	lightFor    = 0.1   // s, of each of a light one
	aroundFor   = 0.3   // s, of each
	emptyFor    = 0.5   // s, of each
	emptyMost   = 1.2   // s, of each, where a bucket passes few packets in that time
	emptyCame   = 50    // packets, which tell its rate within a few percent
	onsetFor    = 0.4   // s, of each
	sipFor      = 4.0   // s, of all
	mostSips    = 400   // by which as much of others' traffic is seen as in two seconds of streams at 10 Mbit/s
	sipsEnough  = 0.07  // half of the interval of what is free, as a share of it, which a second set of sips does not have to narrow
	sipFaster   = 1.02  // times the capacity, so that the queue does not empty within a sip
	longQueue   = 120e6 // ns: one that streams somewhat faster than what is free do not fill soon: in a shorter one they lose packets of others, and show too much free
	splitBelow  = 0.8   // of what sips show to be free: far below what a short queue makes of the difference, of which streams lose less than others
	suspect     = 0.85  // of the capacity, below which what streams show together may be a token bucket
)

// stream is a stream of a rate in bit/s and a duration in seconds; its queue is empty again after its rest, if it is as long.
func (s *Study) stream(rate, seconds float64) Step {
	spacing := s.bits() / rate
	return Step{Packets: int(math.Min(mostStream, math.Max(2*leastStream, seconds/spacing))), Spacing: spacing}
}

// sweep sends streams from slow ones to one that is faster than the link, and long enough to empty most buckets.
func (s *Study) sweep(f Findings) []Step {
	c := s.lasting(f)
	if !s.Goal.Free || c == 0 {
		return nil
	}
	var steps []Step
	shares, seconds := []float64{0.3, 0.5, 0.7, 0.9, 1.1}, sweepFor
	if s.Goal.Light {
		seconds = lightFor
	}
	for i, share := range shares {
		if i == len(shares)-1 && !s.Goal.Light {
			seconds = math.Min(sweepMost, math.Max(seconds, bucketBytes*8/(share*c)))
		}
		steps = append(steps, s.drained(f, share*c, seconds)...)
	}
	return steps
}

// drained is a stream whose bucket, if there is one, is empty when it begins.
func (s *Study) drained(f Findings, rate, seconds float64) (steps []Step) {
	stream := s.stream(rate, seconds)
	stream.Rest = 0.02 + float64(stream.Packets)*stream.Spacing*math.Min(1, rate/s.lasting(f))/2
	if f.Bucket.Known() && !f.Bucket.Drops {
		steps = append(steps, Step{Packets: f.Bucket.Passed + 2, Rest: s.takes(f.Bucket.Passed+2, f)})
	}
	return append(steps, stream)
}

// lasting is what passes for long, in bit/s.
func (s *Study) lasting(f Findings) float64 {
	if f.Bucket.Known() {
		return f.Bucket.Rate.BitsPerSecond
	}
	return f.Capacity.BitsPerSecond
}

// empty sends, after a rest, a stream that empties the bucket of a policer, and others at several rates above it.
func (s *Study) empty(f Findings) []Step {
	tails := tailsOf(s.streams)
	if s.Goal.Light || !s.Goal.Free || f.Bucket.Known() && !f.Bucket.Drops && len(s.longs) > 0 && f.Bucket.Rate.Certain() || len(tails) == 0 {
		return nil
	}
	c := f.Capacity.BitsPerSecond
	if rate, _ := share(tails); !early(s.shorts, s.streams) && (rate == 0 || rate > suspect*c) && !s.split(f) {
		return nil
	}
	slowest := math.Inf(1)
	for _, r := range tails {
		slowest = min(slowest, r.Rate/(1+r.Strain))
	}
	steps := []Step{{Packets: 1, Rest: 1}, s.stream(0.9*c, onsetFor)}
	seconds := math.Max(emptyFor, math.Min(emptyMost, emptyCame*s.bits()/slowest))
	for _, over := range []float64{1.2, 8, 1.2, 8, 1.5, 3} {
		steps = append(steps, s.stream(math.Min(1.2*c, slowest*over), seconds))
	}
	return steps
}

// meet sends streams about as fast as what a token bucket leaves, each after one that empties it: the slowest that loses packets, or waits, tells.
func (s *Study) meet(f Findings) []Step {
	if s.Goal.Light || !s.Goal.Free || !f.Bucket.Known() {
		return nil
	}
	free, rate := math.Max(0.1*f.Bucket.Rate.BitsPerSecond, f.Free.BitsPerSecond), f.Bucket.Rate.BitsPerSecond
	steps := []Step{s.stream(math.Min(0.95*f.Capacity.BitsPerSecond, 3*rate), math.Min(1, f.Bucket.Bytes*8/rate))}
	for _, over := range []float64{1.15, 1, 1.2, 0.9, 1.1, 0.95, 1.05} {
		steps = append(steps, s.stream(free*over, onsetFor))
	}
	return steps
}

// meetNearer sends such streams about what those showed to be free: of large packets a bucket drops more than of small ones, the more so the fuller it is.
func (s *Study) meetNearer(f Findings) []Step {
	if len(s.near) == 0 {
		return nil
	}
	f.Free.BitsPerSecond *= 0.95
	return s.meet(f)
}

// split reports whether streams leave much less free than sips, which are too short to empty a bucket.
func (s *Study) split(f Findings) bool {
	return len(s.sips) > 0 && Available(f.Capacity.BitsPerSecond, f.Streams).BitsPerSecond < splitBelow*Available(f.Capacity.BitsPerSecond, sips(s.sips)).Low
}

// sip sends many streams of a few packets at the rate of the link, where longer ones lost packets in a short queue: what a queue drops of others' packets is not
// known.
func (s *Study) sip(f Findings) []Step {
	if s.Goal.Light || !s.Goal.Free || f.Bucket.Known() || !slices.ContainsFunc(f.Streams, Response.swallowed) ||
		median(lossWaits(s.streams)) > longQueue {
		return nil
	}
	spacing := s.bits() / (sipFaster * f.Capacity.BitsPerSecond)
	free := math.Max(0.1, f.Free.BitsPerSecond/f.Capacity.BitsPerSecond)
	rest := math.Max(0.002, shortTrain*spacing*(2/free-1)) // half of what is free, on average
	times := int(math.Min(mostSips, sipFor/(rest+shortTrain*spacing)))
	return repeated(times, Step{Packets: shortTrain, Spacing: spacing, Rest: rest})
}

// sipMore sends as many again, and half as many more, where what those show of others' traffic is too little: on a slow link they see few packets of others.
func (s *Study) sipMore(f Findings) []Step {
	if len(s.sips) == 0 || f.Bucket.Known() || !f.Free.Known() || f.Free.width() < sipsEnough {
		return nil
	}
	steps := s.sip(f)
	return append(steps, steps[:len(steps)/2]...)
}

// around sends streams that are somewhat faster than what is free: those load the path, and their queue is not soon full.
func (s *Study) around(f Findings) []Step {
	if !s.Goal.Free || s.Goal.Light || !f.Free.Known() || len(s.sips) > 0 || f.Bucket.Known() {
		return nil
	}
	c := s.lasting(f)
	var steps []Step
	for _, over := range []float64{1.2, 1.5, 1.3, 1.6, 1.1, 1.4, 1.25, 1.35} {
		rate := math.Min(1.1*c, math.Max(0.15*c, f.Free.BitsPerSecond)*over)
		steps = append(steps, s.drained(f, rate, aroundFor)...)
	}
	return steps
}

// again sends them again, about what they showed, where that is not certain.
func (s *Study) again(f Findings) []Step {
	if f.Free.Certain() || f.Free.BitsPerSecond > 0.9*s.lasting(f) {
		return nil
	}
	return s.around(f)
}
