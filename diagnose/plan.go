package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// Step is one measurement that a diagnosis is made of: a Task that has no target yet, and why it is made.
type Step struct {
	Name       string         `json:"step"` // what it is called in its plan, in which no two are called alike
	Kind       string         `json:"tool"` // of probe
	Parameters map[string]any `json:"parameters"`
	Why        string         `json:"why"`
	Seconds    float64        `json:"seconds"` // that it takes, about
}

const (
	surveyPings    = 20
	surveyInterval = 0.05 // seconds between them
	// surveyWrite is how many bytes the transfers write at once: what programs that move files commonly do, so that the send
	// buffer limits the test where it limits them. The same holds for their event loop.
	surveyWrite = 32 << 10
	// leastTransfer is the shortest transfer that says anything, in seconds: slow start and the first losses take 1 to 2.
	leastTransfer = 2.0

	// What steps take beside the time that they are told, over 50 ms or so: connections, parameters, results.
	capacityTakes = 2.0
	traceTakes    = 1.0
	setUpTakes    = 0.5
)

// Plan lists the steps of a diagnosis, the light ones first so that none disturbs the next. transfer is how long each
// transfer lasts, and directions which way they go: measure.Forward, measure.Reverse.
//
//	ping, trace  ->  each way: capacity  ->  transfer  ->  what that asks for: see Extend
func Plan(transfer time.Duration, directions ...string) []Step {
	plan := []Step{
		{Name: "ping", Kind: "ping", Why: "how long round trips take, and how many are lost",
			Parameters: map[string]any{"count": surveyPings, "interval": surveyInterval}, Seconds: surveyPings*surveyInterval + setUpTakes},
		{Name: "trace", Kind: "trace", Why: "which way the packets go", Parameters: map[string]any{}, Seconds: traceTakes},
	}
	for _, d := range directions {
		plan = append(plan,
			step("capacity", "capacity", d, "what the narrowest link can carry", capacityTakes, map[string]any{}),
			step("transfer", "throughput", d, "how fast data moves, and what holds it back", transfer.Seconds()+setUpTakes,
				map[string]any{"duration": transfer.Seconds(), "length": surveyWrite, "event-loop": true}))
	}
	return plan
}

// step makes a step that goes one way.
func step(name, kind, direction, why string, takes float64, parameters map[string]any) Step {
	parameters["reverse"] = direction == measure.Reverse
	if direction == measure.Reverse {
		why += ", on the way back"
	}
	return Step{Name: called(name, direction), Kind: kind, Parameters: parameters, Why: why, Seconds: takes}
}

// called is the name of a step that goes one way.
func called(name, direction string) string {
	if direction == measure.Reverse {
		return name + "-" + measure.Reverse
	}
	return name
}

// Transfer says whether a step moves data as fast as it goes, without which there is no diagnosis.
func (s Step) Transfer() bool { return s.Kind == "throughput" && s.Parameters["proto"] != "udp" }

// NeedsResponder says whether a step needs a listener at the target: see measure.Responder.
func (s Step) NeedsResponder() bool { return s.Kind == "capacity" || s.Kind == "throughput" }

// Shorter returns a step that takes half the time, or false if it would say nothing then.
func (s Step) Shorter() (Step, bool) {
	lasts, _ := s.Parameters["duration"].(float64)
	if lasts <= leastTransfer {
		return s, false
	}
	half := max(lasts/2, leastTransfer)
	s.Parameters = maps.Clone(s.Parameters)
	s.Parameters["duration"] = half
	s.Seconds -= lasts - half
	return s, true
}

// Extend returns a plan with what the Results so far ask for beyond it: behind a transfer that lost packets, a paced
// probe the same way; behind one on which nothing moved, the sizes of packets that come through, and with these its capacity.
func Extend(plan []Step, results []*measure.Result) []Step {
	for _, direction := range []string{measure.Forward, measure.Reverse} {
		plan = extendStuck(plan, results, direction)
		p, needed := PacedProbe(results, direction == measure.Reverse)
		if !needed {
			continue
		}
		paced := step("paced", "throughput", direction, "whether packets are lost on a path that is nearly empty",
			p.Duration.Seconds()+setUpTakes, map[string]any{"proto": "udp", "rate": float64(int64(p.BitsPerSecond)),
				"duration": p.Duration.Seconds(), "length": p.PacketBytes})
		plan = insert(plan, called("transfer", direction), paced)
	}
	return plan
}

// insert puts a step behind another, unless that is not there or the step is.
func insert(plan []Step, behind string, s Step) []Step {
	at := find(plan, behind)
	if at < 0 || find(plan, s.Name) >= 0 {
		return plan
	}
	return slices.Insert(slices.Clone(plan), at+1, s)
}

// extendStuck asks for one size of packets after the other, each by what came of those before it, and at last for the
// capacity by packets that pass.
func extendStuck(plan []Step, results []*measure.Result, direction string) []Step {
	v, transfer := newView(results, direction), called("transfer", direction)
	if v == nil || !v.stuck || find(plan, transfer) < 0 {
		return plan
	}
	behind := transfer
	for _, s := range plan[find(plan, transfer):] {
		if s.Parameters["df"] == true {
			behind = s.Name
		}
	}
	if bytes, more := v.nextSize(); more {
		return insert(plan, behind, v.sizeStep(bytes))
	}
	if passes := v.largestPassing(); passes > 0 && v.smallestSilent() > 0 && v.capacity == 0 {
		return insert(plan, behind, step("capacity-small", "capacity", direction, "what the narrowest link can carry, by packets that pass",
			capacityTakes, map[string]any{"length": min(mostTrainLength, int(passes-v.ipHeader-udpHeader))}))
	}
	return plan
}

// mostTrainLength is what trains have as they are, and at most, in bytes of UDP payload: see probe.Capacity.
const mostTrainLength = 1452

// udpHeader is the size of a UDP header in bytes (RFC 768).
const udpHeader = 8

// sizeStep tries whether packets of a size come through.
func (v *view) sizeStep(bytes float64) Step {
	waits := min(max(sizeLeastWait, sizeTrips*v.baseRTT), sizeMostWait)
	return Step{Name: fmt.Sprintf("size-%.0f", bytes), Kind: "ping", Why: fmt.Sprintf("whether packets of %.0f bytes come through", bytes),
		Parameters: map[string]any{"count": sizePings, "interval": sizeInterval, "df": true, "timeout": waits,
			"size": int(bytes - v.ipHeader - icmpHeader)},
		Seconds: sizePings*sizeInterval + waits}
}

// Pings of one size. That all get lost by accident takes a path that loses a quarter of its packets for 1 in 1000, and their
// answers get a few round trips to come.
const (
	sizePings     = 5
	sizeInterval  = 0.02 // seconds
	sizeTrips     = 4
	sizeLeastWait = 0.3 // seconds; hosts answer within milliseconds
	sizeMostWait  = 2.0 // seconds
)

// find is where in a plan a step is; -1: it is not there.
func find(plan []Step, name string) int {
	return slices.IndexFunc(plan, func(s Step) bool { return s.Name == name })
}

// Paced is a probe that fills only a small part of the path: what it loses is lost at random.
type Paced struct {
	BitsPerSecond float64 // of UDP payload
	PacketBytes   int     // of UDP payload
	Duration      time.Duration
}

// The paced probe takes a tenth of the capacity, or of what TCP got where the capacity is not known; but at least
// 200 packets a second, since on slow paths it would count for too long, and at most a third of the path. It lasts
// until it should lose pacedLosses packets at the ratio that TCP saw, within bounds.
const (
	pacedPart     = 0.1
	pacedMost     = 1.0 / 3
	pacedLeast    = 200 // packets a second
	pacedShortest = 4 * time.Second
	pacedLongest  = 12 * time.Second
	pacedLosses   = 6    // then the chance to see none by accident is 1 in 400
	pacedBytes    = 1400 // UDP payload; fits any path that carries 1500 bytes and most tunnels
)

// PacedProbe says whether telling the causes of loss apart needs a paced probe in a direction, and which: it does
// where TCP sent packets again on a path that is not full.
func PacedProbe(results []*measure.Result, reverse bool) (Paced, bool) {
	direction := measure.Forward
	if reverse {
		direction = measure.Reverse
	}
	v := newView(results, direction)
	if v == nil || v.stuck || v.resent == 0 || v.sentSegments == 0 || v.full() {
		return Paced{}, false
	}
	whole := max(v.capacity, v.steady)
	if whole <= 0 { // nothing came through, and nothing is known of what could
		return Paced{}, false
	}
	rate := min(max(pacedPart*whole, pacedLeast*pacedBytes*8), pacedMost*whole)
	packets := pacedLosses * v.sentSegments / v.resent
	lasts := seconds(packets * pacedBytes * 8 / rate)
	return Paced{BitsPerSecond: rate, PacketBytes: pacedBytes, Duration: min(max(lasts, pacedShortest), pacedLongest)}, true
}
