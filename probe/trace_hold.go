package probe

import (
	"fmt"
	"hash/fnv"

	"github.com/pathwise-net/pathwise/input"
)

// All traces from an address of this host to a target by one protocol are of one flow, unless they ask for another (Trace.NewFlow): routers that balance flows send them
// the same way each time, so that what differs between two traces is a change of the route. The flow's source port, or its ICMP identifier, follows from the
// three of them, and nobody has to remember it. What tells packets apart stays random.
const (
	// heldFirst is the lowest port of such flows: from there on are those that nobody registers (RFC 6335, 6), and that Linux gives to nobody who asks for
	// any port (ip_local_port_range).
	heldFirst = 61000
	heldPorts = 1<<16 - heldFirst
	// heldTries is how many ports are tried in turn, the same ones each time, where another program has the first.
	heldTries = 3
)

// strayedNote is of a trace that could not have the flow of the others.
const strayedNote = "another program has the port of the flow that traces to this target are of: this one is of another, which routers that balance flows may send another way"

// checkNewFlow says with what NewFlow is of no use.
func (t Trace) checkNewFlow() error {
	if t.NewFlow && (t.Multipath || t.Middlebox) {
		return &input.Error{Field: "new flow", Value: "true", Remedy: "leave it away with multipath and middlebox, whose packets are always of other flows"}
	}
	return nil
}

// heldPort is the source port of the flow of all traces to a target, or its identifier, by the number of the try.
func (f *traceFlow) heldPort(try int) uint16 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%v %v %s %d", f.own(), f.to.Addr(), f.protocol, try)
	return uint16(heldFirst + h.Sum64()%heldPorts)
}

// wantedPorts are the ports by which a trace may leave, the best first; 0 is any. A flow that has one already keeps it.
func (f *traceFlow) wantedPorts(t Trace) (ports []uint16) {
	if own := f.from.Port(); own != 0 {
		return []uint16{own}
	}
	if !t.NewFlow && !t.Multipath && !t.Middlebox { // whose connection leaves the port in use for a minute
		for try := range heldTries {
			ports = append(ports, f.heldPort(try))
		}
	}
	return append(ports, 0)
}
