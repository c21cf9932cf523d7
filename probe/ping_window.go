package probe

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
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
