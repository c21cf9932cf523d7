package probe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// Need is something that Tasks of a kind need of the host that does them, and that a host may lack: a kind of socket, a right.
// Agents try what their hosts have, and nothing is planned that they lack.
type Need struct {
	What  string // in a word, such as "raw-sockets": statuses and pages have it
	Means string // for people: what it is, and what gives it to a host that lacks it

	// Parameter and Value say that only Tasks need it in which this parameter is, or defaults to, this value. "": all of the kind do.
	Parameter, Value string

	// Try says why this host lacks it; nil: it does not. It takes milliseconds: agents try each once a minute.
	Try func() error
}

// rawTCP is what SYNs of our own take.
const rawTCP = "a raw socket for TCP: `CAP_NET_RAW`"

// Of names the Tasks of a kind that have a Need, as an agent tells its controller: "mtu", or "ping proto=icmp".
func (n Need) Of(kind string) string {
	if n.Parameter == "" {
		return kind
	}
	return kind + " " + n.Parameter + "=" + n.Value
}

// Named reports whether a Task is one of those that an agent named as in Need.Of.
func Named(tasks string, t measure.Task) bool {
	kind, narrowed, some := strings.Cut(tasks, " ")
	if kind != t.Kind || !some {
		return kind == t.Kind
	}
	name, value, _ := strings.Cut(narrowed, "=")
	k, _ := KindOf(kind)
	parameters := k.today(t.Parameters)
	for name, value := range k.today(map[string]any{name: value}) {
		has, set := parameters[name]
		if i := slices.IndexFunc(k.Parameters, func(p Parameter) bool { return p.Name == name }); i >= 0 && !set {
			has = k.Parameters[i].Default
		}
		if fmt.Sprint(has) != value {
			return false
		}
	}
	return true
}
