package probe

import (
	"math"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/sock"
)

// LightRate in bit/s of payload is what a test may send in a direction and still share the path with others: the rate
// that iperf3 gives a UDP test which asks for none, as one that any shared link can bear.
const LightRate = 1e6

const (
	mtu         = 1500 // of Ethernet, which paths across networks have as a rule
	shortest    = 84   // bytes that the shortest frame of Ethernet takes on the link
	icmpHeader  = 8
	udpHeader   = 8
	ackEvery    = 2                // segments that Linux acknowledges at once, at least (RFC 1122, 4.2.3.2)
	defaultUDP  = 1460             // bytes of a datagram where the path's MSS is not known, as iperf3 has it
	iperf3Setup = time.Second      // six round trips of 150 ms: a test's two connections, its parameters, its results
	capacityFor = 5 * time.Second  // both sets of trains where the path has 10 Mbit/s, which takes longest
	transferFor = 10 * time.Second // where none is asked for, as iperf3 has it
)

// wire is how many bytes of a link's time an IP packet with that much after its IP header takes, in fragments if it
// must be.
func wire(target string, family sock.Family, afterIP float64) float64 {
	ip := float64(model.IPv4Header)
	if a, err := netip.ParseAddr(target); err == nil {
		ip = float64(ipHeader(a))
	} else if family == sock.IPv6 {
		ip = model.IPv6Header
	}
	packets := math.Max(1, math.Ceil(afterIP/(mtu-ip)))
	return math.Max(shortest, afterIP+packets*(ip+model.EthernetFraming))
}

// ipHeader is the size in bytes of the header of packets to an address.
func ipHeader(to netip.Addr) int {
	if sock.FamilyOf(to) == sock.IPv6 {
		return model.IPv6Header
	}
	return model.IPv4Header
}

// bound sets when the last echo leaves at the latest, so that a run fits what was planned for it, however the intervals
// are drawn: later than it by chance in one run of 30,000, which then sends fewer.
func (p *Ping) bound() {
	all := p.withDefaults()
	slack := 1.
	if p.Poisson {
		slack = 4 * math.Sqrt(float64(all.Count-1)) // standard deviations of the sum of exponential intervals
	}
	const most = 1 << 62 // ns, 146 years
	p.Deadline = time.Duration(min(most, (float64(all.Count-1)+slack)*float64(all.Interval)))
}

// demand is that of a ping whose last echo is lost.
func (p *Ping) demand() measure.Demand {
	all := p.withDefaults()
	each := wire(p.Target, p.Family, float64(all.Size+icmpHeader))
	last := float64(all.Count-1) * all.Interval.Seconds()
	if p.Poisson {
		last = p.Deadline.Seconds()
	}
	d := measure.Demand{DurationSeconds: last + all.Timeout.Seconds(), Bytes: 2 * each * float64(all.Count),
		BitsPerSecond: 8 * each / all.Interval.Seconds()}
	d.Exclusive = 8*float64(all.Size)/all.Interval.Seconds() > LightRate
	return d
}

// demand is that of a route of which no hop answers, so that probes wait for their timeouts, a window at a time.
func (t *Trace) demand() measure.Demand {
	all := t.withDefaults()
	probes := float64(all.MaxTTL * all.Queries)
	each := wire(t.Target, t.Family, udpHeader+tracePayload)
	windows := math.Ceil(probes / traceWindow)
	return measure.Demand{DurationSeconds: windows * all.Timeout.Seconds(), Bytes: 2 * each * probes,
		BitsPerSecond: 8 * each * traceWindow / traceMinWait.Seconds()}
}

// bound keeps a test that is to end after so many bytes from going on for ever where the path is slow.
func (p *Throughput) bound() { setDefault(&p.Config.Duration, transferFor) }

func (p *Throughput) demand() measure.Demand {
	c := &p.Config
	d := measure.Demand{DurationSeconds: (c.Duration + iperf3Setup).Seconds(), Far: measure.FarIperf3}
	payload := float64(c.Rate * int64(max(1, c.Parallel))) // bit/s in a direction
	if c.Proto == iperf3.UDP && c.Rate == 0 {
		payload = LightRate * float64(max(1, c.Parallel))
	}
	d.Exclusive = payload == 0 || payload > LightRate
	ahead, back := p.overhead()
	d.BitsPerSecond = payload * ahead
	bytes := payload / 8 * c.Duration.Seconds()
	if limit := float64(c.Bytes); limit > 0 && (limit < bytes || payload == 0) {
		bytes = limit
	}
	if c.Bidir {
		bytes *= 2
		d.BitsPerSecond += payload * back
	}
	d.Bytes = bytes * (ahead + back)
	return d
}

// overhead is how many bytes take a link's time for each byte of payload: in its own direction, and the other way.
func (p *Throughput) overhead() (ahead, back float64) {
	if c := &p.Config; c.Proto == iperf3.UDP {
		length := float64(c.Length)
		if length == 0 {
			length = defaultUDP
		}
		return wire(p.Target, p.Family, udpHeader+length) / length, 0
	}
	const headers = model.TCPHeader + model.TCPTimestamps
	segment := float64(mtu - model.IPv4Header - headers)
	if p.Config.MSS > 0 {
		segment = float64(p.Config.MSS - model.TCPTimestamps)
	}
	return wire(p.Target, p.Family, headers+segment) / segment, wire(p.Target, p.Family, headers) / (ackEvery * segment)
}

func (p *Capacity) demand() measure.Demand {
	packets := float64(shortTrains.Packets*shortTrains.Trains + longTrains.Packets*longTrains.Trains)
	return measure.Demand{DurationSeconds: (capacityFor + iperf3Setup).Seconds(), Exclusive: true,
		Bytes: packets * wire(p.Target, p.Family, udpHeader+trainPayload), Far: measure.FarIperf3, FarTests: 2} // short trains, then long ones
}
