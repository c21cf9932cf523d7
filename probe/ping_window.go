package probe

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// Windowed ping keeps a number of packets in flight and raises it step by step, as Mathis's mping did. An answer lets the next packets out, so
// that a path is loaded as TCP would load it, without TCP's reactions. The rate that comes back rises with the window until the narrowest
// link is full; what happens beyond tells what is there.

const (
	windowMost = 4096
	windowSize = 1000 // bytes of payload: so much that packets and not their headers load the path, and no path cuts them
	// windowSteps is how many windows are tried at most: above it they grow by a share, so that a wide range takes no longer.
	windowSteps = 32
)

// readWindow reads "32", which stands for 1..32, or "8..64".
func readWindow(text string) (from, to int, err error) {
	low, high, ranged := strings.Cut(text, "..")
	if !ranged {
		low, high = "1", text
	}
	from, err = strconv.Atoi(low)
	if err == nil {
		to, err = strconv.Atoi(high)
	}
	if err != nil || from < 1 || to < from || to > windowMost {
		return 0, 0, &input.Error{Field: "window", Value: text, Remedy: fmt.Sprintf("give a number of packets such as 32, or 1..32, up to %d", windowMost)}
	}
	return from, to, nil
}

// checkWindow refuses what windows have no place for.
func (p Ping) checkWindow() error {
	if p.Window == "" {
		return nil
	}
	if _, _, err := readWindow(p.Window); err != nil {
		return err
	}
	refuse := func(field, value string) error {
		return &input.Error{Field: field, Value: value, Remedy: "a window sends as answers come; leave one of the two out"}
	}
	switch {
	case !p.hasPayload():
		return &input.Error{Field: "window", Value: p.Window, Remedy: "a window is of packets with a payload; ask for proto icmp, udp or stamp"}
	case p.Count != 0:
		return refuse("count", strconv.Itoa(p.Count))
	case p.Interval != 0:
		return refuse("interval", p.Interval.String())
	case p.Poisson:
		return refuse("poisson", "true")
	}
	return nil
}

// windowDemand reckons with windows that are lost to the end. What they carry is for the path to say.
func (p Ping) windowDemand() measure.Demand {
	from, to, _ := readWindow(p.Window)
	steps := float64(len(windowPlan(from, to)))
	d := measure.Demand{DurationSeconds: steps*2*(windowTime+windowRest).Seconds() + p.Timeout.Seconds(), Exclusive: true}
	if p.Proto == protoSTAMP {
		d.Responder = measure.ResponderSTAMP
	}
	return d
}

// windowPlan are the windows to try, each once.
func windowPlan(from, to int) (plan []int) {
	for n := from; n < to; n += max(1, (to-from+windowSteps-1)/windowSteps, n/8) {
		plan = append(plan, n)
	}
	return append(plan, to)
}

// windowFigures is what came of the echoes of one window, of bytes at the IP layer each.
func windowFigures(inFlight int, echoes []measure.Echo, bytes int) measure.WindowSample {
	s := measure.WindowSample{InFlight: inFlight, Sent: len(echoes)}
	var rtts, arrivals []float64
	for _, e := range echoes {
		if e.RTTSeconds == nil {
			s.Lost++
			continue
		}
		rtts, arrivals = append(rtts, *e.RTTSeconds), append(arrivals, e.SentSeconds+*e.RTTSeconds)
	}
	if len(rtts) == 0 {
		return s
	}
	slices.Sort(rtts)
	slices.Sort(arrivals)
	s.RTTMinSeconds, s.RTTMedianSeconds = rtts[0], stat.Median(rtts)
	begin, took := arrivals[0], arrivals[len(arrivals)-1]-arrivals[0]
	rate := func(from, to float64) float64 {
		first, _ := slices.BinarySearch(arrivals, begin+from*took)
		after, _ := slices.BinarySearch(arrivals, begin+to*took)
		return float64(8*bytes*(after-first)) / max(1e-9, (to-from)*took)
	}
	if took > 0 {
		s.EarlyBits, s.BitsPerSecond = rate(0, 0.25), rate(0.5, 1)
	}
	return s
}

// windowShape is what the rate, the loss and the delay of growing windows look like.
type windowShape string

const (
	shapeRising  windowShape = "no limit reached" // the rate grows with the window to its end
	shapeNormal  windowShape = "normal"           // the rate stops to grow, and the delay begins to
	shapeNoQueue windowShape = "no queue"         // the rate stops to grow, and packets are lost at once
	shapeShaper  windowShape = "shaper"           // as normal, after a burst at a higher rate
	shapePolicer windowShape = "policer"          // as no queue, after a burst at a higher rate
	shapeLossy   windowShape = "constant loss"    // some are lost, however few are in flight
	shapeDuplex  windowShape = "duplex fault"     // many are lost when both ways are busy, and the rate falls
	shapeUnknown windowShape = "unknown"
)

// windowReading is what a shape says.
type windowReading struct {
	shape    windowShape
	capacity float64 // bit/s at the IP layer; 0: not known
	knee     int     // packets in flight that fill the path
	queue    int     // packets that waited, at most
	full     bool    // the queue was: packets were lost at its end
}

// What tells the shapes apart. Each is a share.
const (
	windowFlat  = 0.85 // of the most that came back: a window which reaches it fills the path
	windowLoss  = 0.01 // from here on a window loses packets
	windowHeavy = 0.2  // from here on it loses so many that a rate which falls falls by them
	windowFall  = 0.6  // a rate that falls to this share of the highest collapses: a queue that overflows still serves its link
	windowBurst = 1.35 // times as fast at first as later is a bucket of tokens
	windowGrows = 0.4  // of the delay that the packets beyond the knee would add in a queue is seen where there is one
)

// readWindows says what the shape of a path's windows means. bits is a packet at the IP layer.
func readWindows(steps []measure.WindowSample, bits float64) windowReading {
	r := windowReading{shape: shapeUnknown}
	if len(steps) < 3 {
		return r
	}
	peak, least := 0., 0.
	for _, s := range steps {
		peak = max(peak, s.BitsPerSecond)
		if s.RTTMinSeconds > 0 && (least == 0 || s.RTTMinSeconds < least) {
			least = s.RTTMinSeconds
		}
	}
	at := slices.IndexFunc(steps, func(s measure.WindowSample) bool { return s.BitsPerSecond >= windowFlat*peak })
	light, beyond := steps[:max(1, at/2)], steps[min(at+1, len(steps)-1):]
	r.knee = steps[at].InFlight
	lightLoss, heavyLoss := pooledLoss(light), pooledLoss(beyond)
	last := steps[len(steps)-1]
	switch {
	case peak == 0:
		return r
	case lightLoss < windowHeavy/4 && heavyLoss > windowHeavy/2 && last.BitsPerSecond < windowFall*peak:
		r.shape = shapeDuplex
		return r
	case lightLoss > windowLoss && heavyLoss < 3*lightLoss:
		r.shape = shapeLossy
		return r
	case float64(last.InFlight) < 1.3*float64(r.knee):
		r.shape = shapeRising
		return r
	}
	var rates, bursts []float64
	for _, s := range beyond {
		rates, bursts = append(rates, s.BitsPerSecond), append(bursts, s.EarlyBits/max(1, s.BitsPerSecond))
	}
	slices.Sort(rates)
	slices.Sort(bursts)
	r.capacity = stat.Median(rates)
	wait := 0.
	for _, s := range steps {
		wait = max(wait, s.RTTMedianSeconds-least)
	}
	r.queue, r.full = int(wait*r.capacity/bits+0.5), heavyLoss > windowLoss
	pipe := r.capacity * least / bits // packets that the empty path holds
	queues := float64(r.queue) >= windowGrows*(float64(last.InFlight)-pipe) || float64(r.queue) > pipe && r.queue > 4
	burst := stat.Median(bursts) > windowBurst
	switch {
	case queues && burst:
		r.shape = shapeShaper
	case queues:
		r.shape = shapeNormal
	case burst && r.full:
		r.shape = shapePolicer
	case r.full:
		r.shape = shapeNoQueue
	default: // neither waits nor is lost what should be too much: an end is slow, and not the path
		r.shape, r.capacity = shapeRising, 0
	}
	return r
}

// pooledLoss is the share that windows lost together.
func pooledLoss(steps []measure.WindowSample) float64 {
	sent, lost := 0, 0
	for _, s := range steps {
		sent, lost = sent+s.Sent, lost+s.Lost
	}
	return float64(lost) / float64(max(1, sent))
}
