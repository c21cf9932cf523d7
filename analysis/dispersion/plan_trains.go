package dispersion

import "math"

// What trains are sent.
const (
	shortTrain   = 5
	surveyRest   = 0.03 // s: five packets take 20 ms at 3 Mbit/s
	surveyLost   = 0.25 // share of a survey that a short queue drops
	longestShort = 16   // packets of the longest of these
	leastLong    = 48   // packets
	mostLong     = 256  // 3 ms at 1 Gbit/s
	longFor      = 0.3  // s that a long train may take
	briefFor     = 0.15 // s, where that shall be over soon
	suspectFirst = 1.3  // times the capacity, at which the very first packets came
	fillRest     = 0.7  // s, in which a bucket of some packets fills
	mostRest     = 1.5  // s, in which a larger one does
	leastRested  = 128  // packets of a train that empties a bucket
)

// survey sends short trains, which pass queues of some packets, before anything is known.
func (s *Study) survey(Findings) []Step {
	switch {
	case s.Goal.Light:
		return repeated(8, Step{Packets: shortTrain, Rest: surveyRest})
	case s.Goal.Brief:
		return surveyTrains(3)
	}
	return surveyTrains(5)
}

// surveyTrains are pairs and short trains, so many times over.
func surveyTrains(times int) []Step {
	two, five, sixteen := Step{Packets: 2, Rest: surveyRest / 2}, Step{Packets: shortTrain, Rest: surveyRest}, Step{Packets: longestShort, Rest: 2 * surveyRest}
	return repeated(times, five, two, five, two, sixteen)
}

// surveyAnew follows a brief study that is in doubt: it goes on as one that is not brief.
func (s *Study) surveyAnew(f Findings) []Step {
	sure := f.Capacity.Certain() && (!f.Bucket.Known() || f.Bucket.Rate.Certain())
	if !s.Goal.Brief || s.lostAll() || sure {
		return nil
	}
	return surveyTrains(5)
}

// longAnew sends the long trains of a study that is not brief, where a brief one goes on as such.
func (s *Study) longAnew(f Findings) []Step {
	if s.sent != anew {
		return nil
	}
	return s.usualLong(f)
}

// more follows a survey of which much was lost: long trains would lose more, and of short ones many tell.
func (s *Study) more(f Findings) []Step {
	if s.Goal.Light || s.lostAll() || lostOf(s.shorts) < surveyLost || f.Capacity.Certain() {
		return nil
	}
	return repeated(20, Step{Packets: 3, Rest: surveyRest}, Step{Packets: shortTrain, Rest: surveyRest})
}

// lostAll reports whether nothing arrived of a survey, as where packets of that size vanish: more of them would not either.
func (s *Study) lostAll() bool { return len(s.shorts) > 0 && arrived(s.shorts) == 0 }

// long sends trains that are longer than most buckets, and in which the receiver's lateness of tens of microseconds is small beside the whole.
func (s *Study) long(f Findings) []Step {
	switch {
	case s.Goal.Light || s.lostAll():
		return nil
	case s.Goal.Brief && f.Capacity.Certain() && s.takes(longestShort, f) >= longFor: // short ones took as long as long ones shall
		return nil
	case s.Goal.Brief:
		packets := s.longest(briefFor, f)
		return repeated(2, Step{Packets: packets, Rest: surveyRest + 1.2*s.takes(packets, f)})
	}
	return s.usualLong(f)
}

// usualLong are the long trains of a study that is not brief.
func (s *Study) usualLong(f Findings) []Step {
	packets, times := s.longest(longFor, f), 5
	if s.takes(packets, f) > longFor/3 {
		times = 3
	}
	return repeated(times, Step{Packets: packets, Rest: 0.05 + 2*s.takes(packets, f)})
}

// longest is how many packets a long train has that takes so many seconds at most.
func (s *Study) longest(seconds float64, f Findings) int {
	c := f.Capacity.BitsPerSecond
	if c == 0 {
		return mostLong
	}
	return int(math.Min(mostLong, math.Max(leastLong, seconds*c/s.bits())))
}

// waits sends short trains after rests, where the very first packets came faster than those that followed: a bucket may have been full for these alone.
func (s *Study) waits(f Findings) []Step {
	if s.Goal.Light || !f.Capacity.Known() || f.Bucket.Known() || firstRate(s.shorts) < suspectFirst*f.Capacity.BitsPerSecond {
		return nil
	}
	return repeated(4, Step{Packets: 1, Rest: fillRest}, Step{Packets: shortTrain})
}

// firstRate is the highest rate, in bit/s, at which the first three packets of one of the first trains came; 0: none
// took long enough to tell.
func firstRate(trains []Train) (most float64) {
	for _, t := range trains[:min(3, len(trains))] {
		if len(t.Packets) < 3 {
			continue
		}
		if took := float64(t.Packets[2].At-t.Packets[0].At) / 1e9; took >= leastSpanTime {
			most = max(most, float64(2*t.Size)*8/took)
		}
	}
	return most
}

// rests sends long trains, each after a bucket has filled again.
func (s *Study) rests(f Findings) []Step {
	if !f.Bucket.Known() {
		return nil
	}
	rate := f.Bucket.Rate.BitsPerSecond
	fill := math.Min(mostRest, math.Max(fillRest, 1.2*f.Bucket.Bytes*8/rate))
	packets := max(f.Bucket.Passed*3/2+24, leastRested)
	s.held = f.Bucket.Bytes
	return append([]Step{{Packets: 1, Rest: fill}}, repeated(2, Step{Packets: packets, Rest: fill + float64(packets)*s.bits()/rate})...)
}

// restsLonger does it again where that showed that the bucket holds more.
func (s *Study) restsLonger(f Findings) []Step {
	if s.held == 0 || f.Bucket.Bytes < 1.1*s.held {
		return nil
	}
	return s.rests(f)
}

func (s *Study) bits() float64 { return float64(s.Size) * 8 }

// takes is how long so many packets take, in seconds, as far as is known.
func (s *Study) takes(packets int, f Findings) float64 {
	if c := f.Capacity.BitsPerSecond; c > 0 {
		return float64(packets) * s.bits() / c
	}
	return 0
}
