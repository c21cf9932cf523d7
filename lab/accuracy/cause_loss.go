package accuracy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/pathwise-net/pathwise/model"
)

// lossCauses are those by which packets are lost on their way, or seem to be.
var lossCauses = []cause{
	{name: "random-loss", expect: named("random-loss"), controls: lossBased,
		strength: lossOf(fullPayload, 5e-4, 0.05),
		fault: func(p *Path, v float64) fault {
			return fault{says: percent(v) + " of the packets are lost, each by itself", leaves: lossy(p, fullPayload, v),
				set: forward("loss", percent(v)), mend: forward("loss", "0")}
		}},
	{name: "burst-loss", expect: named("burst-loss", "random-loss", "transaction-loss"), controls: lossBased,
		strength: lossOf(fullPayload, 5e-4, 0.01),
		fault: func(p *Path, v float64) fault {
			gilbert := fmt.Sprintf("{gilbert: {enter: %s, leave: 12%%, bad: 80%%}}", percent(v))
			return fault{says: percent(v) + " of the packets begin a burst of losses", leaves: lossy(p, fullPayload, v),
				set: forward("loss", gilbert), mend: forward("loss", "0")}
		}},
	{name: "wan-bit-errors", expect: named("wan-bit-errors", "random-loss"), controls: lossBased,
		strength: lossOf(fullPayload, 5e-4, 0.05),
		fault: func(p *Path, v float64) fault {
			// Pings and requests have about a fifteenth of the bits of a full packet.
			sizes := fmt.Sprintf("[{larger_than: 1000B, ratio: %s}, %s]", percent(v), percent(digits(v/15, 2)))
			return fault{says: percent(v) + " of full packets are lost, and a fifteenth of that of small ones", leaves: lossy(p, fullPayload, v),
				set: forward("loss", sizes), mend: forward("loss", "0")}
		}},
	{name: "small-mss", expect: named("small-mss", "random-loss"), controls: lossBased,
		strength: lossOf(smallPayload, 5e-4, 0.02),
		fault: func(p *Path, v float64) fault {
			return fault{says: percent(v) + " of the packets are lost, and none has more than 600 bytes", leaves: lossy(p, smallPayload, v),
				access: "mtu: 600B", set: forward("loss", percent(v)), mend: forward("loss", "0")}
		}},
	{name: "shallow-buffer", expect: named("shallow-buffer"), controls: lossBased, seen: shallowSeen,
		strength: shallow,
		fault: func(p *Path, v float64) fault {
			return fault{says: fmt.Sprintf("the queue holds %.0f bytes", v), leaves: overflowing(p, v),
				set:  []Change{{Between: narrowLink, Setting: fmt.Sprintf("forward.queue=%.0fB", v)}},
				mend: []Change{{Between: narrowLink, Setting: fmt.Sprintf("forward.queue=%.0fB", p.Queue)}}}
		}},
	{name: "policer", expect: named("policer"), controls: controls,
		strength: func(r *rand.Rand, p *Path) (float64, bool) { v := shareOf(r, p); return v, v >= leastPoliced },
		fault: func(p *Path, v float64) fault {
			// What a policer lets through at once is commonly some tens of milliseconds of its rate.
			burst := max(leastQueue, v/8*0.05)
			return fault{says: fmt.Sprintf("what is above %s is dropped", kbit(v)), leaves: v,
				set:  forward("police", fmt.Sprintf("{rate: %s, burst: %.0fB}", kbit(v), burst)),
				mend: forward("police", "none")}
		}},
	{name: "reordering-harmful", expect: named("reordering-harmful"), controls: lossBased, seen: reorderedSeen,
		strength: func(r *rand.Rand, p *Path) (float64, bool) {
			// Later than a round trip: TCP has retransmitted by then. A rate at which two in a hundred are some a round trip.
			return digits(p.RTT*between(r, 1.2, 2), 3), p.RTT >= 0.01 && p.product() >= 40*fullFrame
		},
		fault: func(p *Path, v float64) fault {
			return fault{says: "2% of the packets come late by " + millis(v),
				set:  forward("reorder", fmt.Sprintf("{ratio: 2%%, by: %s}", millis(v))),
				mend: forward("reorder", "{ratio: 0.0001%, by: 0.001ms}")}
		}},
	{name: "no-sack", expect: named("no-sack"), controls: lossBased,
		strength: func(r *rand.Rand, p *Path) (float64, bool) { // slow start overshoots a queue that is shorter than the product
			p.Queue = queueOf(p, between(r, 0.3, 0.7))
			return float64(r.IntN(2)), p.product() >= 60*fullFrame
		},
		fault: func(_ *Path, v float64) fault {
			host := []string{"a", "b"}[int(v)]
			return fault{says: "selective acknowledgements are off at " + host,
				set: sysctl(host, "net.ipv4.tcp_sack", "0"), mend: sysctl(host, "net.ipv4.tcp_sack", "1")}
		}},
}

const (
	smallPayload = 548 // bytes of a packet of 600, with time stamps
	// leastPoliced is the lowest rate of a policer, in bit/s: contracts begin there.
	leastPoliced = 2.5e5
	// leastLosses is how many packets a transfer should lose so that its model holds: see enoughLosses in package diagnose.
	leastLosses = 4
)

// Paths and queues in bytes that were once called random-loss; 60 ms of reordering that was.
var (
	shallowSeen = []fixed{
		{Path{5e7, 0.04, 250e3, "cubic"}, 15e3}, {Path{1e8, 0.03, 375e3, "cubic"}, 9e3},
		{Path{5e7, 0.04, 250e3, "reno"}, 15e3}, {Path{1e8, 0.03, 375e3, "reno"}, 9e3},
	}
	reorderedSeen = []fixed{{Path{5e7, 0.04, 250e3, "cubic"}, 0.06}, {Path{5e7, 0.04, 250e3, "reno"}, 0.06}}
)

// lossOf draws a loss ratio between two at which segments of so much payload bind.
func lossOf(payload, least, most float64) func(*rand.Rand, *Path) (float64, bool) {
	return func(r *rand.Rand, p *Path) (float64, bool) {
		v := digits(between(r, least, most), 2)
		left := lossy(p, payload, v)
		share := left / (payloadShare * p.Rate)
		return v, share <= bindsBelow && share >= leastShare/4 && left*transferSeconds/8/payload*v >= leastLosses
	}
}

// lossy is what TCP gets at a loss ratio, the more of two models: Mathis, and RFC 9438 section 5.2 for CUBIC on long paths.
func lossy(p *Path, payload, loss float64) float64 {
	trip := time.Duration(p.RTT * float64(time.Second))
	rate := model.Mathis(payload, trip, loss, model.CIndependent)
	if p.Control == "cubic" {
		segments := 1.054 * math.Pow(p.RTT/loss, 0.75)
		rate = max(rate, segments*payload*8/p.RTT)
	}
	return rate
}

// shallow draws a queue of 4 to 20 packets.
func shallow(r *rand.Rand, p *Path) (float64, bool) {
	v := math.Round(between(r, 6e3, 30e3))
	return v, overflowing(p, v) <= bindsBelow*payloadShare*p.Rate
}

// overflowing is what a transfer gets whose slow start ends at its first overflow, when its window is twice the queue, and which then
// grows by a segment each round trip; CUBIC grows by time instead (RFC 9438 section 4.2), and not slower.
func overflowing(p *Path, queue float64) float64 {
	from := 2 * queue / fullFrame
	rounds := transferSeconds / p.RTT
	mean := from + rounds/2
	if p.Control == "cubic" {
		const c, keeps = 0.4, 0.7
		k := math.Cbrt(from * (1 - keeps) / c)
		end := c*math.Pow(max(0, transferSeconds-k), 3) + from
		mean = max(mean*0.53, (keeps*from+end)/2) // what is Reno-friendly grows by 3(1-0.7)/(1+0.7) a round trip
	}
	return min(mean*fullPayload*8/p.RTT, payloadShare*p.Rate)
}
