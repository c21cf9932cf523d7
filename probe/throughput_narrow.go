package probe

import (
	"fmt"
	"math"
	"sort"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// What a transfer must have shown before it may end early.
const (
	// narrowLeast is the shortest such transfer, in seconds: the kernel books what it waited for in ticks of 4 ms, and the first
	// losses of a short path come within the first second.
	narrowLeast = 1.5
	// narrowTrips is its length in round trips of the empty path. Slow start takes five to ten of them, which shall be less than the
	// part that is not judged.
	narrowTrips = 25
	// narrowWindows is its length in round trips for each packet of its window, so that it meets losses which come later and hold it to half
	// of what it gets: by Mathis these are one in W^2/6 packets, and three are met on average in W^2/2, or W/2 round trips.
	narrowWindows = 0.5
	// narrowStart is the part of a transfer, from its start, that is not judged: that in which slow start and its losses are.
	narrowStart = 0.4
	// narrowBatches is into how many equal parts the rest is cut, and studentT what Student's distribution says of so many at
	// 95 %, two-sided, with one degree of freedom less. In a transfer of narrowTrips each part is two round trips long, so that
	// what one part gets says little of the next.
	narrowBatches = 8
	studentT      = 2.365
	// silentFor is how long, in seconds, a sender must have had nothing acknowledged from the start before its transfer ends as one that moves nothing,
	// and silentTimers how often in a row its retransmission timer must have run out. The timer doubles each time (RFC 6298 section 5.5), from 0.2 s and
	// a round trip on, so that a path which is gone for the first 1.5 s is tried again within 3.
	silentFor    = 4.0
	silentTimers = 3
)

// enough returns what is asked after each reading of TCP_INFO whether the readings say enough, and passes new ones on; nil: nothing is to
// be asked.
func (p *Throughput) enough() func([]iperf3.Sample) bool {
	if p.Config.Proto == iperf3.UDP || p.Narrow <= 0 && p.OnReading == nil {
		return nil
	}
	ask := func([]iperf3.Sample) bool { return false }
	if p.Narrow > 0 {
		ask = narrowly(p.Narrow)
	}
	if p.OnReading == nil {
		return ask
	}
	passed := -1. // when the last one was taken that was passed on
	return func(samples []iperf3.Sample) bool {
		from := len(samples)
		for from > 0 && samples[from-1].Elapsed > passed {
			from--
		}
		for _, s := range samples[from:] {
			p.OnReading(tcpSample(s))
			passed = s.Elapsed
		}
		return ask(samples)
	}
}

// tcpSample is what this end's kernel said of a stream: what it sends goes forward, as it is the one that calls.
func tcpSample(s iperf3.Sample) measure.TCPSample {
	r := measure.TCPSample{End: measure.Receiver, Direction: measure.Reverse, Stream: s.Stream, ElapsedSeconds: s.Elapsed, Values: s.Values}
	if s.Sender {
		r.End, r.Direction = measure.Sender, measure.Forward
	}
	return r
}

// narrowly returns a function that says whether the goodput of every direction is known within share of itself.
func narrowly(share float64) func([]iperf3.Sample) bool {
	return func(samples []iperf3.Sample) bool {
		ways := map[bool]*moving{}
		for i := range samples {
			s := &samples[i]
			if ways[s.Sender] == nil {
				ways[s.Sender] = &moving{}
			}
			ways[s.Sender].add(s)
		}
		for _, c := range ways {
			if !c.narrow(share) && !c.silent() {
				return false
			}
		}
		return len(ways) > 0
	}
}

// checkNarrow refuses an early end of what has no steady goodput.
func (p *Throughput) checkNarrow() error {
	switch {
	case p.Narrow < 0 || p.Narrow > 1:
		return &input.Error{Field: "narrow", Value: fmt.Sprint(p.Narrow), Remedy: "give a ratio above 0, such as 0.05 or 5%"}
	case p.Narrow > 0 && (p.Config.Proto == iperf3.UDP || p.Search != ""):
		return &input.Error{Field: "narrow", Value: fmt.Sprint(p.Narrow), Remedy: "leave it out with udp, whose rate is known before"}
	}
	return nil
}

// moving is how many bytes one direction had moved, over all of its streams, at each reading.
type moving struct {
	at, bytes []float64 // seconds; bytes acknowledged to the sender, or received
	trip      float64   // the least round trip, in seconds; 0: not known
	timers    float64   // how often in a row the sender's retransmission timer ran out, at the last reading
	segment   float64   // the largest payload of a packet, in bytes; 0: not known
}

func (c *moving) add(s *iperf3.Sample) {
	name := "bytes_received"
	if s.Sender {
		name = "bytes_acked"
	}
	if trip := s.Values["min_rtt_seconds"]; trip > 0 && (c.trip == 0 || trip < c.trip) {
		c.trip = trip
	}
	c.timers = s.Values["backoff"]
	c.segment = max(c.segment, s.Values["snd_mss_bytes"])
	if last := len(c.at) - 1; last >= 0 && c.at[last] == s.Elapsed { // another stream of the same reading
		c.bytes[last] += s.Values[name]
		return
	}
	c.at, c.bytes = append(c.at, s.Elapsed), append(c.bytes, s.Values[name])
}

// narrow reports whether the goodput of the later part is known within share of itself: its 95 % interval, of the means of equal
// parts (batch means), and what its halves differ by, since a rate that still grows is not steady.
func (c *moving) narrow(share float64) bool {
	if len(c.at) == 0 {
		return false
	}
	until := c.at[len(c.at)-1]
	if until < max(narrowLeast, narrowTrips*c.trip, narrowWindows*c.window()*c.trip) {
		return false
	}
	rates := make([]float64, narrowBatches)
	mean, halves := 0.0, [2]float64{}
	from, part := narrowStart*until, (1-narrowStart)*until/narrowBatches
	for i := range rates {
		rates[i] = (c.bytesAt(from+float64(i+1)*part) - c.bytesAt(from+float64(i)*part)) / part
		mean += rates[i] / narrowBatches
		halves[2*i/narrowBatches] += 2 * rates[i] / narrowBatches
	}
	squares := 0.0
	for _, rate := range rates {
		squares += (rate - mean) * (rate - mean)
	}
	within := studentT * math.Sqrt(squares/(narrowBatches-1)/narrowBatches)
	return mean > 0 && within <= share*mean && math.Abs(halves[1]-halves[0]) <= share*mean
}

// silent reports whether a sender had nothing acknowledged since the start, but for the word that opens a stream.
func (c *moving) silent() bool {
	last := len(c.at) - 1
	return last >= 0 && c.at[last] >= silentFor && c.timers >= silentTimers && c.bytes[last] < c.segment
}

// window is how many packets are under way each round trip of the empty path, by what moved once slow start was over; 0: not known.
func (c *moving) window() float64 {
	until := c.at[len(c.at)-1]
	if c.segment == 0 || until == 0 {
		return 0
	}
	return (c.bytesAt(until) - c.bytesAt(narrowStart*until)) / ((1 - narrowStart) * until) * c.trip / c.segment
}

// bytesAt is how many bytes had moved at a moment between two readings, as if they moved evenly.
func (c *moving) bytesAt(moment float64) float64 {
	after := sort.SearchFloat64s(c.at, moment)
	switch {
	case after == 0:
		return c.bytes[0]
	case after == len(c.at):
		return c.bytes[after-1]
	}
	passed := (moment - c.at[after-1]) / (c.at[after] - c.at[after-1])
	return c.bytes[after-1] + passed*(c.bytes[after]-c.bytes[after-1])
}

// narrowField is the parameter that lets a transfer end early.
func narrowField() field[Throughput] {
	return field[Throughput]{Name: "narrow", Default: "off", Meaning: "end as soon as the goodput is known within this share of itself (95 %)," +
		" after 1.5 s and 25 round trips at the earliest, and when rare losses had their chance; or when nothing was acknowledged for 4 s; tcp",
		binding: share(func(p *Throughput) *float64 { return &p.Narrow })}
}
