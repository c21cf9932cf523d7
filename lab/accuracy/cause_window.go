package accuracy

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// Linux 6.18 makes this of a buffer: see limits.go of package diagnose, and the library's cases.
const (
	windowOfBuffer = 0.59 // of tcp_rmem, that the receiver offers
	flightOfBuffer = 0.6  // of tcp_wmem, that is under way
	windowOfSet    = 1.2  // of SO_RCVBUF, with packets of 9,000 bytes: the kernel doubles what is asked for
	flightOfSet    = 1.0  // of SO_SNDBUF
)

// unscaled is the largest window without the window scale option, in bytes (RFC 7323 section 2).
const unscaled = 65535

// windowCauses hold what is under way below the bandwidth-delay product.
var windowCauses = []cause{
	{name: "receive-window-limited", expect: named("receive-window-limited"), controls: controls,
		strength: buffer(windowOfBuffer, 16<<10),
		fault: func(p *Path, v float64) fault {
			return fault{says: fmt.Sprintf("tcp_rmem of b ends at %.0f bytes", v), leaves: inFlight(p, v*windowOfBuffer),
				set: sysctl("b", "net.ipv4.tcp_rmem", fmt.Sprintf("4096 %.0f %.0f", min(131072, v), v)), fresh: true, mend: wideReceiver}
		}},
	{name: "send-buffer-limited", expect: named("send-buffer-limited"), controls: controls,
		strength: buffer(flightOfBuffer, 32<<10),
		fault: func(p *Path, v float64) fault {
			return fault{says: fmt.Sprintf("tcp_wmem of a ends at %.0f bytes", v), leaves: inFlight(p, v*flightOfBuffer),
				set: sysctl("a", "net.ipv4.tcp_wmem", fmt.Sprintf("4096 16384 %.0f", v)), mend: wideSender}
		}},
	// --window fixes the buffers of both ends. Large packets fill the receiver's by twice their payload, so that it is the one that
	// binds; middling ones leave it to the sender's, as long as the window is not the tighter of two that are nearly the same.
	{name: "receive-buffer-fixed", expect: named("receive-buffer-fixed", "receive-window-limited", "send-buffer-fixed"), controls: controls,
		strength: buffer(windowOfSet, 32<<10), fault: fixedBuffers(9000, windowOfSet)},
	{name: "send-buffer-fixed", expect: named("send-buffer-fixed", "send-buffer-limited", "receive-buffer-fixed"), controls: controls,
		strength: buffer(flightOfSet, 32<<10), fault: fixedBuffers(3600, flightOfSet)},
	{name: "no-window-scaling", expect: named("no-window-scaling"), controls: controls,
		strength: withoutScaling,
		fault: func(p *Path, v float64) fault {
			host := []string{"a", "b"}[int(v)]
			return fault{says: "window scaling is off at " + host, leaves: inFlight(p, unscaled),
				set:  sysctl(host, "net.ipv4.tcp_window_scaling", "0"),
				mend: sysctl(host, "net.ipv4.tcp_window_scaling", "1")}
		}},
	{name: "middlebox", expect: named("middlebox", "no-window-scaling"), controls: controls,
		strength: withoutScaling,
		fault: func(p *Path, _ float64) fault {
			return fault{says: "a box strips the window scale option", leaves: inFlight(p, unscaled),
				hosts: map[string]string{"c": wideHost}, routers: "{x: {strip: wscale}, r: {}, s: {}}", gate: "x", from: "c", lasts: true,
				links: []string{"between: [x, r], rate: 2gbit", fmt.Sprintf("between: [c, r], rate: 2gbit, delay: %s", millis(accessShare*p.RTT))}}
		}},
}

// buffer draws the size of a buffer of which a share is under way, at least so many bytes: programs and hosts are not set to less.
func buffer(underWay, least float64) func(*rand.Rand, *Path) (float64, bool) {
	return func(r *rand.Rand, p *Path) (float64, bool) {
		v := whole(shareOf(r, p) * p.RTT / 8 / underWay)
		return v, v >= least
	}
}

// withoutScaling draws the end that lacks the option: 0 is a, 1 is b.
func withoutScaling(r *rand.Rand, p *Path) (float64, bool) {
	left := inFlight(p, unscaled) / (payloadShare * p.Rate)
	return float64(r.IntN(2)), left <= bindsBelow && left >= leastShare/4
}

// fixedBuffers has the program set its buffers, on links of an MTU.
func fixedBuffers(mtu int, underWay float64) func(*Path, float64) fault {
	return func(p *Path, v float64) fault {
		jumbo := fmt.Sprintf("mtu: %dB", mtu)
		p.Queue = max(p.Queue, 20*float64(mtu))
		return fault{says: fmt.Sprintf("the program sets its buffers to %.0f bytes, packets have %d", v, mtu), leaves: inFlight(p, v*underWay),
			access: jumbo, narrow: jumbo, far: jumbo, args: []string{"--window", strconv.Itoa(int(v))}}
	}
}

// inFlight is the rate in bit/s of so many bytes each round trip.
func inFlight(p *Path, bytes float64) float64 { return bytes * 8 / p.RTT }

var (
	wideReceiver = sysctl("b", "net.ipv4.tcp_rmem", "4096 131072 134217728")
	wideSender   = sysctl("a", "net.ipv4.tcp_wmem", "4096 16384 134217728")
)
