package dispersion

import "math"

// What trains are sent.
const (
	shortTrain   = 5
	surveyRest   = 0.03 // s: five packets take 20 ms at 3 Mbit/s
	surveyLost   = 0.25 // share of a survey that a short queue drops
	leastLong    = 48   // packets
	mostLong     = 256  // 3 ms at 1 Gbit/s
	longFor      = 0.3  // s that a long train may take
	suspectFirst = 1.3  // times the capacity, at which the very first packets came
	fillRest     = 0.7  // s, in which a bucket of some packets fills
	mostRest     = 1.5  // s, in which a larger one does
	leastRested  = 128  // packets of a train that empties a bucket
)

// survey sends short trains, which pass queues of some packets, before anything is known.
func (s *Study) survey(Findings) []Step {
	two, five, sixteen := Step{Packets: 2, Rest: surveyRest / 2}, Step{Packets: shortTrain, Rest: surveyRest}, Step{Packets: 16, Rest: 2 * surveyRest}
	if s.Goal.Light {
		return repeated(8, five)
	}
	return repeated(5, five, two, five, two, sixteen)
}

// more follows a survey of which much was lost: long trains would lose more, and of short ones many tell.
func (s *Study) more(f Findings) []Step {
	if s.Goal.Light || lostOf(s.shorts) < surveyLost || f.Capacity.Certain() {
		return nil
	}
	return repeated(20, Step{Packets: 3, Rest: surveyRest}, Step{Packets: shortTrain, Rest: surveyRest})
}

// long sends trains that are longer than most buckets, and in which the receiver's lateness of tens of microseconds is small beside the whole.
func (s *Study) long(f Findings) []Step {
	if s.Goal.Light {
		return nil
	}
	packets, times := mostLong, 5
	if c := f.Capacity.BitsPerSecond; c > 0 {
		packets = int(math.Min(mostLong, math.Max(leastLong, longFor*c/s.bits())))
	}
	if s.takes(packets, f) > longFor/3 {
		times = 3
	}
	return repeated(times, Step{Packets: packets, Rest: 0.05 + 2*s.takes(packets, f)})
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
