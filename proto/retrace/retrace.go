// Package retrace has a responder trace the route back to who asks for it.
//
// A caller asks over a TCP connection, which shows that the caller has the address that it asks from. Messages are JSON, a line each:
//
//	caller                                                       responder
//	  {"schema":"pathwise.retrace/1","protocol":"udp",…}    ->             how to trace: see Ask
//	               <-   {"cookie":"6f…","seen":"192.0.2.7:51000","local":"198.51.100.1"}
//	  {"cookie":"6f…"}                                      ->             it has heard the cookie
//	               <==  packets with TTL 1, 2, 3 … to 192.0.2.7
//	               <-   {"hops":[…],"route":{…},"network_bits":24}
//
// An ask with a size has the responder find where larger packets vanish on the way back. It sends small packets that die at each hop, as above, and then at the
// most MostSized packets of one byte more, which no router may cut, to the hops that answered. What it tells are no hops, but route.narrowings: one, or none where
// a larger packet comes to the caller.
//
//	{"schema":"pathwise.retrace/1",…,"size_bytes":1300}   ->             packets of 1300 bytes are known to come to the caller
//	             …
//	             <==  small packets, and up to 24 of 1301 bytes, to 192.0.2.7
//	             <-   {"hops":null,"route":{…,"narrowings":[{"ttl":2,"before":3,"mtu_bytes":1300,"address":"198.51.100.9"}]}}
//
// A responder traces to no address but the caller's, and sends nothing before it heard the cookie from there. So nobody has it trace a stranger. What
// it sends then is bounded by Ask's limits: some hundred small packets, of which most end at routers on the way, and MostSized of MostSize bytes, 221 kB, at the worst; of
// 1500 bytes they are 36 kB, some three times a route of MostTTL silent hops. They go to ports that traceroute
// has always used, or are echo requests, so that nobody has it try the ports of who else is behind the same translator of addresses. Where a responder was
// opened for one run, a caller shows the secret of that in its first message; who has the Responder looks at it.
//
// This file and report.go hold the format and open nothing; caller.go and responder.go talk. How a route is found is for who makes the Responder to say.
package retrace

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/jsonlines"
)

// Schema is of the first message. A responder of another version refuses it.
const Schema = "pathwise.retrace/1"

// Ask is how a route back is to be traced.
type Ask struct {
	Protocol string        // UDP or ICMP
	MaxTTL   int           // 1 to MostTTL
	Queries  int           // packets for each hop, 1 to MostQueries
	Timeout  time.Duration // the longest wait for one answer, up to MostTimeout
	Interval time.Duration // from one packet to the next, LeastInterval to MostInterval
	DSCP     int           // of the packets, 0 to 63
	Secret   string        // of the run that a responder was opened for; "": it was opened for everybody

	// Size is how large packets are known to come to the caller, in bytes of IP, where it is asked behind which hop larger ones vanish, in place of the route; 0: the route. Of
	// the other fields Timeout alone counts then.
	Size int
}

// What packets a route is traced by.
const (
	UDP  = "udp" // to the port of traceroute
	ICMP = "icmp"
)

// Limits of an Ask. A route that nobody answers on takes all of the packets, 192, and twice the timeout.
const (
	MostTTL       = 64 // what packets of most systems begin with, so that no host is farther
	MostQueries   = 3
	MostTimeout   = 2 * time.Second
	LeastInterval = time.Millisecond // half a megabit a second
	MostInterval  = 50 * time.Millisecond

	LeastSize = 68   // what every link carries (RFC 791)
	MostSize  = 9215 // jumbo frames of most switches take one byte more
	MostSized = 24   // packets of Size + 1 bytes: a search by halves of 30 hops, four for each
)

// Longest is what a test takes at the most: all packets at the longest interval, the timeouts, and the messages about it.
const Longest = 20 * time.Second

// Route is what a responder found.
type Route struct {
	Hops  []measure.Hop
	Whole measure.RouteSample
	// NetworkBits are those of the network of the responder's own interface, which the connection came by; 0: not known.
	NetworkBits int
}

const (
	// mostLine is more than any message but a route is long, in bytes, and mostRoute more than that of MostTTL hops which tell all they can.
	mostLine, mostRoute = 2048, 256 << 10
	// Of one hop: addresses and labels that are kept of what another end tells. One hop has no more than three packets to answer with them.
	mostAddresses, mostLabels = 8, 16
	// mostRemarks is more than there are kinds of them.
	mostRemarks = 32
)

// hello is an Ask as it is sent, in seconds.
type hello struct {
	Schema   string  `json:"schema"`
	Protocol string  `json:"protocol"`
	MaxTTL   int     `json:"max_ttl"`
	Queries  int     `json:"queries"`
	Timeout  float64 `json:"timeout_seconds"`
	Interval float64 `json:"interval_seconds"`
	DSCP     int     `json:"dscp"`
	Secret   string  `json:"secret,omitempty"`
	Size     int     `json:"size_bytes,omitempty"`
}

// offer is the responder's answer to it, or why there is none.
type offer struct {
	Cookie string `json:"cookie,omitempty"`
	Seen   string `json:"seen,omitempty"`  // address and port of the caller
	Local  string `json:"local,omitempty"` // the responder's own address
	Error  string `json:"error,omitempty"`
}

// ready says that the caller heard the cookie.
type ready struct {
	Cookie string `json:"cookie"`
}

// Within is an ask as far as a responder does what it asks for.
func (a Ask) Within() Ask {
	a.MaxTTL, a.Queries = min(a.MaxTTL, MostTTL), min(a.Queries, MostQueries)
	a.Timeout, a.Interval = min(a.Timeout, MostTimeout), min(max(a.Interval, LeastInterval), MostInterval)
	return a
}

func (a Ask) hello() hello {
	return hello{Schema: Schema, Protocol: a.Protocol, MaxTTL: a.MaxTTL, Queries: a.Queries, Timeout: a.Timeout.Seconds(), Interval: a.Interval.Seconds(), DSCP: a.DSCP,
		Secret: a.Secret, Size: a.Size}
}

func readHello(line []byte) (a Ask, err error) {
	var h hello
	if err := document.JSON(line, mostLine, &h); err != nil {
		return a, fmt.Errorf("read request: %w", err)
	}
	if h.Schema != Schema {
		return a, fmt.Errorf("schema %q: want %s", jsonlines.Printable(h.Schema), Schema)
	}
	if h.Protocol != UDP && h.Protocol != ICMP {
		return a, fmt.Errorf("protocol %q: want %s or %s", jsonlines.Printable(h.Protocol), UDP, ICMP)
	}
	a = Ask{Protocol: h.Protocol, MaxTTL: h.MaxTTL, Queries: h.Queries, DSCP: h.DSCP, Size: h.Size}
	if a.Timeout, a.Interval = duration(h.Timeout), duration(h.Interval); a.Timeout <= 0 {
		return a, fmt.Errorf("timeout of %v s: want one of up to %v", h.Timeout, MostTimeout)
	}
	if a.MaxTTL < 1 || a.Queries < 1 || a.DSCP < 0 || a.DSCP > 63 || a != a.Within() {
		return a, fmt.Errorf("%+v is beyond what is done: %d hops, %d packets for each, %v, %v to %v between packets, a DSCP of up to 63",
			a, MostTTL, MostQueries, MostTimeout, LeastInterval, MostInterval)
	}
	if a.Size != 0 && (a.Size < LeastSize || a.Size > MostSize) {
		return a, fmt.Errorf("packets of %d bytes: want %d to %d", a.Size, LeastSize, MostSize)
	}
	return a, nil
}

// duration is so many seconds, rounded to a nanosecond; 0 where they are no number above zero, or an hour and more.
func duration(seconds float64) time.Duration {
	if !(seconds > 0 && seconds < 3600) {
		return 0
	}
	return time.Duration(math.Round(seconds * 1e9))
}

// errOther is of a responder that knows another protocol on the same port, and not this one.
var errOther = errors.New("it knows nothing of routes back")

func readOffer(line []byte) (o offer, err error) {
	if err := document.JSON(line, mostLine, &o); err != nil {
		return o, fmt.Errorf("read answer: %w", err)
	}
	if strings.HasPrefix(o.Error, `schema "`) {
		return o, errOther
	}
	if o.Error != "" {
		return o, fmt.Errorf("the responder says: %s", jsonlines.Printable(o.Error))
	}
	_, err = netip.ParseAddrPort(o.Seen)
	_, bad := netip.ParseAddr(o.Local)
	return o, errors.Join(jsonlines.CheckCookie(o.Cookie), err, bad)
}

func readReady(line []byte, cookie string) error {
	var r ready
	if err := document.JSON(line, mostLine, &r); err != nil {
		return fmt.Errorf("read message: %w", err)
	}
	if r.Cookie != cookie {
		return errors.New("another cookie than was told")
	}
	return nil
}
