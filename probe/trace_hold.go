package probe

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"strings"

	"github.com/pathwise-net/pathwise/input"
)

// All traces from an address of this host to a target by one protocol are of one flow, unless they ask for another (Trace.NewFlow): routers that balance flows send them
// the same way each time, so that what differs between two traces is a change of the route. The flow's source port, or its ICMP identifier, follows from the
// three of them and from hostKey, and nobody has to remember it: who is not on the path has to guess it. What tells packets apart stays random.
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

// hostKey is what other hosts do not know of this one: the number of its installation, which is to be told to none of them other than hashed with a key
// (machine-id(5)); where it has none, as in containers, that of its kernel's start. "": nobody says.
func hostKey() string {
	for _, file := range []string{"/etc/machine-id", "/proc/sys/kernel/random/boot_id"} {
		text, _ := os.ReadFile(file)                                // without it the next one, or none
		if key := strings.TrimSpace(string(text)); len(key) >= 32 { // hexadecimal digits; "uninitialized" is none
			return key
		}
	}
	return ""
}

// heldPort is the source port of the flow of all traces to a target, or its identifier, by the number of the try and the hostKey.
func (f *traceFlow) heldPort(key string, try int) uint16 {
	h := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(h, "pathwise trace %v %v %s %d", f.own(), f.to.Addr(), f.protocol, try)
	return uint16(heldFirst + binary.BigEndian.Uint64(h.Sum(nil))%heldPorts)
}

// wantedPorts are the ports by which a trace may leave, the best first, by the hostKey; 0 is any. A flow that has one already keeps it.
func (f *traceFlow) wantedPorts(t Trace, key string) (ports []uint16) {
	if own := f.from.Port(); own != 0 {
		return []uint16{own}
	}
	if !t.NewFlow && !t.Multipath && !t.Middlebox { // whose connection leaves the port in use for a minute
		for try := range heldTries {
			ports = append(ports, f.heldPort(key, try))
		}
	}
	return append(ports, 0)
}
