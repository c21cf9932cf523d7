package probe

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// Ping measures round trips by ICMP echo (RFC 792, RFC 4443), UDP (RFC 768), a STAMP reflector (RFC 8762), or by the first packets of TCP
// connections (RFC 9293): round-trip delay (RFC 2681), loss (RFC 2680), reordering (RFC 4737) and duplication (RFC 5560) of a sample of
// Type-P packets, where Type-P is ICMP echo of Size bytes, a datagram of Size bytes to Port, or SYN to Port.
//
// A request is answered when its reply comes within Timeout; a later one is lost (RFC 2680, 2.4). Do ends as soon as every
// request is answered or lost, so a duplicate of the very last reply is not seen.
type Ping struct {
	Target   string        // name or address; required
	Family   sock.Family   // zero: the first of the target's addresses that can be reached
	Proto    string        // "icmp"; "udp"; "stamp" (RFC 8762); "tcp"; "": icmp
	Method   string        // of tcp: "connect": whole connections; "syn": SYN alone, by a raw socket; "": connect
	Port     int           // of all but icmp; 0: see pingPorts
	Count    int           // requests to send; 0: 10
	Interval time.Duration // between requests, with Poisson their mean; 0: 1 s; at least 10 µs, 1 ms by SYN, or 3 ms by connections
	Size     int           // of icmp, udp and stamp: payload bytes after the header of ICMP or UDP; 0: 56
	Timeout  time.Duration // 0: 2 s; at most 60 s, or 500 intervals by connections
	TTL      int           // of the requests; 0: the kernel's default
	DSCP     int           // of the requests, 0..63
	Deadline time.Duration // no request leaves later than this after the first; 0: no limit

	Window string // packets to keep in flight, such as "32" or "1..32", each for a while, instead of Count at an Interval; "": none

	Schedule string // "periodic"; "poisson"; "geometric", see geometricSlots; "": periodic
	Sizes    string // of icmp: payloads between two sizes, such as "64..1472", in random order, in place of Size; "": one size
	Flood    bool   // of all but tcp: send as answers come, and 100 a second at least: for root, and for agents whose owners admit it
	Burst    bool   // of icmp: five long packets and five short ones back to back, each Interval: what a path can reorder, it does

	DontFragment bool // of icmp, udp and stamp: let links drop what is too large for them, see sock.SetDontFragment
	Poisson      bool // the former spelling of Schedule poisson: exponential intervals, which meet periodic behaviour of the path without bias (RFC 2330, 11.1.1)

	MayFlood bool                       // somebody answers for a Flood by another user than root
	Rand     *rand.Rand                 // source of intervals and identifiers; nil: a random seed
	Progress func(measure.Echo)         // called once for each request when its fate is known, by the goroutine of Do; may be nil
	Windowed func(measure.WindowSample) // called after each window, as Progress is; may be nil
}

// Defaults and limits of Ping.
const (
	pingCount    = 10
	pingMaxCount = 10_000_000
	pingInterval = time.Second
	// pingMinInterval is 100,000 packets a second: as many as a core sends, without time to receive any.
	pingMinInterval = 10 * time.Microsecond
	synMinInterval  = time.Millisecond // each half-opens a connection at the target, whose queue of those is short
	// tcpMinInterval keeps a host in ports: each connection holds one for 60 s after it was closed (TIME_WAIT), and Linux gives out
	// 28,232 of them to one target, so that faster than 2.1 ms none is left after a minute.
	tcpMinInterval = 3 * time.Millisecond
	// tcpMostOpen is how many connections may wait for their answers at once: half of the files that a process may have open, where
	// nobody allows more.
	tcpMostOpen = 500
	sizesCount  = 200             // 20 of each size
	burstCount  = 100             // ten bursts
	pingSize    = 56              // with headers 84 bytes of IPv4, what every ping sends
	pingMaxSize = 65507           // what IPv4 carries beside its own header and that of ICMP
	pingTimeout = 2 * time.Second // over two satellite hops, a round trip takes 1.2 s
	maxTimeout  = time.Minute
)

// Validate says what is wrong with the parameters, as an input.Error, or returns nil.
func (p Ping) Validate() error {
	return cmp.Or(
		checkTarget(p.Target, p.Family), p.checkPlan(), p.checkProto(),
		checkRange("port", p.Port, 0, 65535),
		checkRange("count", p.Count, 0, pingMaxCount),
		checkDuration("interval", p.Interval, pingMinInterval, time.Hour),
		checkRange("size", p.Size, 0, pingMaxSize),
		checkDuration("timeout", p.Timeout, time.Millisecond, maxTimeout),
		checkRange("TTL", p.TTL, 0, 255),
		checkRange("DSCP", p.DSCP, 0, 63),
		p.checkConnections(), p.checkWindow(),
	)
}

// checkConnections refuses to open connections faster than this host has ports and open files for them.
func (p Ping) checkConnections() error {
	interval, timeout := cmp.Or(p.Interval, pingInterval), cmp.Or(p.Timeout, pingTimeout)
	switch {
	case p.Proto != protoTCP || p.bySYN():
	case interval < tcpMinInterval:
		return &input.Error{Field: "interval", Value: interval.String(), Remedy: fmt.Sprintf(
			"each connection keeps a port for a minute; give at least %v, or ask for method syn", tcpMinInterval)}
	case timeout > tcpMostOpen*interval:
		return &input.Error{Field: "interval", Value: interval.String(), Remedy: fmt.Sprintf(
			"with a timeout of %v, more than %d connections may be under way; give at least %v, or a timeout of at most %v",
			timeout, tcpMostOpen, (timeout+tcpMostOpen-1)/tcpMostOpen, tcpMostOpen*interval)}
	}
	return nil
}

func (p Ping) withDefaults() Ping {
	setDefault(&p.Proto, protoICMP)
	if p.Proto == protoTCP {
		setDefault(&p.Method, methodConnect)
	}
	setDefault(&p.Port, pingPorts[p.Proto])
	if p.hasPayload() && p.Window != "" {
		setDefault(&p.Size, windowSize)
	}
	if p.Burst {
		setDefault(&p.Size, burstSize)
	}
	if p.hasPayload() && p.Sizes == "" {
		setDefault(&p.Size, pingSize)
	}
	if p.Flood {
		setDefault(&p.Interval, floodLeast)
	}
	if p.Sizes != "" {
		setDefault(&p.Count, sizesCount)
	}
	if p.Burst {
		setDefault(&p.Count, burstCount)
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
