package probe

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// Ping measures round trips by ICMP echo (RFC 792, RFC 4443), or by the first packets of TCP connections (RFC 9293): round-trip
// delay (RFC 2681), loss (RFC 2680), reordering (RFC 4737) and duplication (RFC 5560) of a sample of Type-P packets, where Type-P
// is ICMP echo of Size bytes, or SYN to Port.
//
// A request is answered when its reply comes within Timeout; a later one is lost (RFC 2680, 2.4). Do ends as soon as every
// request is answered or lost, so a duplicate of the very last reply is not seen.
type Ping struct {
	Target   string        // name or address; required
	Family   sock.Family   // zero: the first of the target's addresses that can be reached
	Proto    string        // "icmp"; "tcp": whole connections; "syn": SYN alone, by a raw socket; "": icmp
	Port     int           // of tcp and syn; 0: 443
	Count    int           // requests to send; 0: 10
	Interval time.Duration // between requests, with Poisson their mean; 0: 1 s; at least 1 ms, or 3 ms for tcp
	Size     int           // of icmp: payload bytes after the ICMP header; 0: 56
	Timeout  time.Duration // 0: 2 s; at most 60 s, or 500 intervals for tcp
	TTL      int           // of the requests; 0: the kernel's default
	DSCP     int           // of the requests, 0..63
	Deadline time.Duration // no request leaves later than this after the first; 0: no limit

	DontFragment bool // of icmp: let links drop what is too large for them, see sock.SetDontFragment
	Poisson      bool // exponential intervals, which meet periodic behaviour of the path without bias (RFC 2330, 11.1.1)

	Rand     *rand.Rand         // source of intervals and identifiers; nil: a random seed
	Progress func(measure.Echo) // called once for each request when its fate is known, by the goroutine of Do; may be nil
}

// Defaults and limits of Ping.
const (
	pingCount       = 10
	pingMaxCount    = 10_000_000
	pingInterval    = time.Second
	pingMinInterval = time.Millisecond // 84 bytes each ms are 0.7 Mbit/s: what a shared link bears
	// tcpMinInterval keeps a host in ports: each connection holds one for 60 s after it was closed (TIME_WAIT), and Linux gives out
	// 28,232 of them to one target, so that faster than 2.1 ms none is left after a minute.
	tcpMinInterval = 3 * time.Millisecond
	// tcpMostOpen is how many connections may wait for their answers at once: half of the files that a process may have open, where
	// nobody allows more.
	tcpMostOpen = 500
	pingSize    = 56              // with headers 84 bytes of IPv4, what every ping sends
	pingMaxSize = 65507           // what IPv4 carries beside its own header and that of ICMP
	pingPort    = 443             // what most hosts that answer TCP listen on; those that do not refuse, which is an answer
	pingTimeout = 2 * time.Second // over two satellite hops, a round trip takes 1.2 s
	maxTimeout  = time.Minute     // at 1 ms a sequence number comes round after 65 s
)

// Validate says what is wrong with the parameters, as an input.Error, or returns nil.
func (p Ping) Validate() error {
	return cmp.Or(
		checkTarget(p.Target, p.Family), p.checkProto(),
		checkRange("port", p.Port, 0, 65535),
		checkRange("count", p.Count, 0, pingMaxCount),
		checkDuration("interval", p.Interval, pingMinInterval, time.Hour),
		checkRange("size", p.Size, 0, pingMaxSize),
		checkDuration("timeout", p.Timeout, time.Millisecond, maxTimeout),
		checkRange("TTL", p.TTL, 0, 255),
		checkRange("DSCP", p.DSCP, 0, 63),
		p.checkConnections(),
	)
}

// The protocols of Ping.
const (
	protoICMP = "icmp"
	protoTCP  = "tcp"
	protoSYN  = "syn"
)

var pingProtos = []string{protoICMP, protoTCP, protoSYN}

// hasPort reports whether the protocol has ports, and no payload.
func (p Ping) hasPort() bool { return p.Proto == protoTCP || p.Proto == protoSYN }

// checkProto refuses a protocol that there is not, and what the protocol has no place for.
func (p Ping) checkProto() error {
	switch {
	case p.Proto != "" && !slices.Contains(pingProtos, p.Proto):
		return &input.Error{Field: "proto", Value: p.Proto, Remedy: "give " + oneOf(pingProtos)}
	case !p.hasPort() && p.Port != 0:
		return &input.Error{Field: "port", Value: strconv.Itoa(p.Port), Remedy: "ICMP has no ports; leave it out, or ask for proto tcp"}
	case p.hasPort() && p.Size != 0:
		return &input.Error{Field: "size", Value: strconv.Itoa(p.Size), Remedy: "a SYN has no payload; leave it out, or ask for proto icmp"}
	case p.hasPort() && p.DontFragment:
		return &input.Error{Field: "df", Value: "true", Remedy: "a SYN is too small to be cut; leave it out, or ask for proto icmp"}
	}
	return nil
}

// checkConnections refuses to open connections faster than this host has ports and open files for them.
func (p Ping) checkConnections() error {
	interval, timeout := cmp.Or(p.Interval, pingInterval), cmp.Or(p.Timeout, pingTimeout)
	switch {
	case p.Proto != protoTCP:
	case interval < tcpMinInterval:
		return &input.Error{Field: "interval", Value: interval.String(), Remedy: fmt.Sprintf(
			"each connection keeps a port for a minute; give at least %v, or ask for proto syn", tcpMinInterval)}
	case timeout > tcpMostOpen*interval:
		return &input.Error{Field: "interval", Value: interval.String(), Remedy: fmt.Sprintf(
			"with a timeout of %v, more than %d connections may be under way; give at least %v, or a timeout of at most %v",
			timeout, tcpMostOpen, (timeout+tcpMostOpen-1)/tcpMostOpen, tcpMostOpen*interval)}
	}
	return nil
}

func (p Ping) withDefaults() Ping {
	setDefault(&p.Proto, protoICMP)
	if p.hasPort() {
		setDefault(&p.Port, pingPort)
	} else {
		setDefault(&p.Size, pingSize)
	}
	setDefault(&p.Count, pingCount)
	setDefault(&p.Interval, pingInterval)
	setDefault(&p.Timeout, pingTimeout)
	if p.Rand == nil {
		p.Rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	return p
}

func setDefault[T comparable](field *T, value T) {
	*field = cmp.Or(*field, value)
}

func checkTarget(target string, family sock.Family) error {
	if target == "" {
		return &input.Error{Field: "target", Value: target, Remedy: "give a host name or an address"}
	}
	return family.Validate()
}

func checkRange(field string, value, low, high int) error {
	if value < low || value > high {
		return &input.Error{Field: field, Value: strconv.Itoa(value),
			Remedy: fmt.Sprintf("give a number from %d to %d", low, high)}
	}
	return nil
}

// checkDuration accepts zero, which stands for the default, and low to high.
func checkDuration(field string, value, low, high time.Duration) error {
	if value != 0 && (value < low || value > high) {
		return &input.Error{Field: field, Value: value.String(),
			Remedy: fmt.Sprintf("give a time from %v to %v", low, high)}
	}
	return nil
}
