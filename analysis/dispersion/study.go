package dispersion

import (
	"math"
	"slices"
)

// Step is a train to send, or, with a Spacing, a stream.
type Step struct {
	Packets int
	Spacing float64 // s from one packet to the next; 0: back to back
	Rest    float64 // s after the last one
}

// Goal is what a Study is to tell.
type Goal struct {
	Free  bool // the available bandwidth, too
	Light bool // as well as a second allows
	Brief bool // by no more trains than tell, where they agree
}

// Study is a measurement under way: what is to be sent next follows from what arrived so far.
//
//	short trains -> long trains, but for a brief study of a slow link -> more of both, where a brief study is in doubt -> both after rests, where a bucket shows
//	             -> streams from slow to fast -> streams about what is free; in their place, where these lose packets,
//	                -> sips, or, where a bucket shows -> streams above it -> streams about what it leaves
type Study struct {
	Goal Goal
	Size int // bytes of a packet, at the IP layer

	Stopped bool // it was ended before it knew all

	shorts, afterRests, longs, streams, near, sips []Train

	next int     // of the plan
	sent stage   // that is under way, the last with trains
	rest []Step  // of it
	held float64 // bytes of a bucket, before the last long trains after rests
}

// stage is one set of trains, or several that are alike.
type stage string

const (
	survey   stage = "short trains"
	more     stage = "more of them"
	long     stage = "long trains"
	anew     stage = "short trains, more of them than a brief study sends"
	longAnew stage = "long trains, more and longer than those of a brief study"
	waited   stage = "short trains after rests"
	rested   stage = "long trains after rests"
	longer   stage = "long trains after longer rests"
	sweep    stage = "streams from slow to fast"
	sipped   stage = "sips at the rate of the link"
	moreSips stage = "more sips"
	emptied  stage = "streams above a token bucket"
	onset    stage = "streams about as fast as what a bucket leaves"
	nearer   stage = "the same, nearer"
	around   stage = "streams faster than what is free"
	again    stage = "the same again"
)

// plan has all stages in their order, with what each sends by what was found so far; nothing: it is not needed.
func (s *Study) plan() []planned {
	return []planned{{survey, s.survey}, {more, s.more}, {long, s.long}, {anew, s.surveyAnew}, {longAnew, s.longAnew}, {waited, s.waits}, {rested, s.rests}, {longer, s.restsLonger},
		{sweep, s.sweep}, {sipped, s.sip}, {moreSips, s.sipMore}, {emptied, s.empty}, {onset, s.meet}, {nearer, s.meetNearer}, {around, s.around}, {again, s.again}}
}

type planned struct {
	stage
	steps func(Findings) []Step
}

// Add takes what arrived of the steps that Next planned.
func (s *Study) Add(trains []Train) {
	Align(trains)
	for _, t := range trains {
		switch {
		case s.sent == sipped || s.sent == moreSips:
			s.sips = append(s.sips, t)
		case s.sent == onset || s.sent == nearer:
			s.near = append(s.near, t)
		case t.Paced:
			s.streams = append(s.streams, t)
		case s.sent == waited:
			s.afterRests = append(s.afterRests, t)
		case s.sent == survey || s.sent == more || s.sent == anew:
			s.shorts = append(s.shorts, t)
		case s.sent == long || s.sent == longAnew || s.sent == rested || s.sent == longer:
			s.longs = append(s.longs, t)
		}
	}
}

// Next plans the next set; none: what is to be known is, or will not be.
func (s *Study) Next() []Step {
	if len(s.rest) > 0 {
		return s.bite()
	}
	plan, f := s.plan(), s.Findings()
	for s.next < len(plan) {
		p := plan[s.next]
		s.next++
		if steps := p.steps(f); len(steps) > 0 {
			if s.sent, s.rest = p.stage, steps; p.stage == nearer { // in place of those before
				s.near = nil
			}
			return s.bite()
		}
	}
	return nil
}

const (
	mostPackets = 10_000 // of a set
	mostPause   = 5.0    // s: no path takes longer for a packet
)

// bite takes as many steps of a stage as one set may have.
func (s *Study) bite() []Step {
	packets := 0
	for i, step := range s.rest {
		s.rest[i].Spacing, s.rest[i].Rest = math.Min(step.Spacing, mostPause), math.Min(step.Rest, mostPause)
		if packets += step.Packets; packets > mostPackets && i > 0 {
			now := s.rest[:i]
			s.rest = s.rest[i:]
			return now
		}
	}
	now := s.rest
	s.rest = nil
	return now
}

// LongTrains are the long trains that arrived, or, where none were sent, the short ones.
func (s *Study) LongTrains() []Train {
	if len(s.longs) > 0 {
		return s.longs
	}
	return s.shorts
}

func (s *Study) trains() []Train { return slices.Concat(s.shorts, s.afterRests, s.longs) }

// Seconds is how long steps take to send.
func Seconds(steps []Step) (sum float64) {
	for _, step := range steps {
		sum += float64(max(0, step.Packets-1))*step.Spacing + step.Rest
	}
	return sum
}

// repeated are steps, so many times over.
func repeated(times int, steps ...Step) (all []Step) {
	for range times {
		all = append(all, steps...)
	}
	return all
}

// Findings are what a Study found so far.
type Findings struct {
	Capacity Capacity // of the narrowest link, or of the narrowest before a bucket
	Bucket   Bucket
	Free     Estimate
	Streams  []Response
}

// Findings reduces what arrived so far.
func (s *Study) Findings() (f Findings) {
	defer func() {
		if s.Stopped && f.Free.Certain() {
			f.Free.Doubt = Unfinished
		}
	}()
	heads := s.shorts
	if len(s.afterRests) > 0 {
		heads = s.afterRests
	}
	f.Bucket, f.Capacity = shaper(heads, s.longs, len(s.afterRests) > 0)
	if !f.Bucket.Known() {
		f.Capacity = NarrowestLink(s.trains())
	}
	f.Streams = responses(s.streams)
	if len(f.Streams) == 0 || !f.Capacity.Known() {
		return f
	}
	if !f.Bucket.Known() {
		if f.Bucket, f.Free = throttle(f.Capacity.BitsPerSecond, s.shorts, s.streams, s.nearOnes()); f.Bucket.Known() {
			return f
		}
	}
	streams := slices.DeleteFunc(slices.Clone(f.Streams), Response.swallowed)
	switch {
	case len(s.sips) > 0:
		streams = append(streams, sips(s.sips)...)
	case len(s.near) > 0:
		streams = responses(s.nearOnes())
	case !Available(f.Capacity.BitsPerSecond, streams).Known() || len(loading(Available(f.Capacity.BitsPerSecond, streams).BitsPerSecond, streams)) < leastStreams:
		streams = f.Streams
	}
	f.Free = Available(s.lasting(f), streams)
	if f.Free.Doubt == "" && (early(s.shorts, s.streams) || s.split(f)) {
		f.Free.Doubt = Lossy
	}
	return f
}

// nearOnes are the streams about what a bucket leaves, without the first, which emptied it.
func (s *Study) nearOnes() []Train { return s.near[min(1, len(s.near)):] }
