package probe

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/owamp"
	"github.com/pathwise-net/pathwise/proto/stamp"
	"github.com/pathwise-net/pathwise/proto/twamp"
	"github.com/pathwise-net/pathwise/sock"
)

// OWD measures what each way takes: one-way delay (RFC 7679), its variation (RFC 3393, RFC 5481), loss (RFC 7680), reordering (RFC 4737) and
// duplication (RFC 5560), there and back, and the round trip (RFC 2681), by packets that the far end stamps and reflects; or by
// OWAMP the ways alone, by packets of each.
//
// One-way delays are those that the clocks of both ends show. How far the clocks may be apart stands beside them, and is never taken out of them.
//
// A packet is answered when its reflection comes within Timeout after it left, by this host's clock alone: a far clock that is wrong makes no loss.
type OWD struct {
	Target   string        // name or address; required
	Family   sock.Family   // zero: the first of the target's addresses that can be reached
	Proto    string        // "stamp" (RFC 8762), "twamp" (RFC 5357) or "owamp" (RFC 4656); "": stamp
	Port     int           // of the reflector, or of the control connection; 0: that of the protocol
	Mode     string        // "O", "A", "E" or "M", see owdModes; "": authenticated by STAMP with a key, as the server prefers by TWAMP, open without
	KeyFile  string        // of STAMP the key in hexadecimal, of TWAMP pass phrases by key ID as servers have them; "": none
	KeyID    string        // of TWAMP; "": the only one in the file
	Count    int           // packets to send; 0: 100
	Interval time.Duration // between packets, with Poisson their mean; 0: 100 ms; at least 100 µs
	Size     int           // bytes of UDP payload; 0: the least that protocol and mode have, by STAMP with all that packets ask of reflectors
	Timeout  time.Duration // 0: 2 s; at most 60 s
	TTL      int           // of the packets; 0: 255, so that the far end knows how many hops they passed
	DSCP     int           // of the packets, 0..63
	Classes  string        // marks that take turns, such as "ef,be,le", in place of DSCP: see quantity.ParseDSCP; not by OWAMP; "": one
	Deadline time.Duration // no packet leaves later than this after the first; 0: no limit

	Continuous bool                  // go on, with a Result each Every; Count 0 is no limit then
	Every      time.Duration         // with Continuous the length of a Result; 0: a minute
	Time       time.Duration         // with Continuous, how long packets leave; 0: until the end of ctx
	Finished   func(*measure.Result) // gets each Result but the last, which Do returns, from a goroutine of its own; may be nil
	Begin      time.Time             // of one Result of several that follow each other without a gap: when it is planned to begin; zero: at once
	renewAfter time.Duration         // of TWAMP, how old a session is when another takes over; 0: sessionAge
	alone      bool                  // one Result of a continuous measurement, which others before and after it complete

	Poisson bool // exponential intervals, which meet periodic behaviour of the path without bias (RFC 2330, 11.1.1)

	Rand   *rand.Rand // source of intervals and identifiers; nil: a random seed
	secret string     // of a responder that was opened for this run
	key    []byte

	Progress func(measure.Echo) // called once for each packet when its fate is known, by the goroutine of Do; may be nil
}

// Defaults and limits of OWD.
const (
	owdCount    = 100
	owdMaxCount = 1_000_000 // each is kept until the end, in some 200 bytes
	owdInterval = 100 * time.Millisecond
	// owdMinInterval is 10,000 packets a second: as many as one goroutine sends and receives with stamps.
	owdMinInterval = 100 * time.Microsecond
	owdTimeout     = 2 * time.Second
	owdMostSize    = 65507 - 20 // what IPv4 carries beside its own header, options and that of UDP
	owdTTL         = 255        // RFC 8762 section 4.2.1
	// owdMostSamples is how many packets a Result has one by one.
	owdMostSamples = 10_000
)

// The protocols of OWD.
const (
	protoSTAMP = "stamp"
	protoTWAMP = "twamp"
	protoOWAMP = "owamp"
)

var (
	owdProtos = []string{protoSTAMP, protoTWAMP, protoOWAMP}
	// owdPorts are where reflectors of STAMP answer over UDP, and servers of TWAMP and OWAMP over TCP.
	owdPorts = map[string]int{protoSTAMP: stamp.DefaultPort, protoTWAMP: twamp.DefaultPort, protoOWAMP: owamp.DefaultPort}
)

// Validate says what is wrong with the parameters, as an input.Error, or returns nil.
func (p OWD) Validate() error {
	all := p.withDefaults()
	var proto error
	if !slices.Contains(owdProtos, all.Proto) {
		proto = &input.Error{Field: "proto", Value: p.Proto, Remedy: "give " + oneOf(owdProtos)}
	}
	if err := cmp.Or(
		checkTarget(p.Target, p.Family), proto, all.checkMode(),
		checkRange("port", all.Port, 1, 65535),
		all.checkCount(), all.checkContinuous(),
		checkDuration("interval", p.Interval, owdMinInterval, time.Hour),
		all.checkSize(),
		checkDuration("timeout", p.Timeout, time.Millisecond, maxTimeout),
		checkRange("TTL", all.TTL, 1, 255), all.checkTTL(),
		checkRange("DSCP", p.DSCP, 0, 63), all.checkClasses(),
	); err != nil {
		return err
	}
	// A stalled machine finds what came meanwhile in its socket's buffer; longer than that nothing is worth being kept open.
	if open := float64(all.Timeout) / float64(all.Interval); open > owdMaxCount/2 {
		return &input.Error{Field: "timeout", Value: all.Timeout.String(),
			Remedy: fmt.Sprintf("at this interval give at most %v", all.Interval*owdMaxCount/2)}
	}
	return nil
}

func (p OWD) withDefaults() OWD {
	setDefault(&p.Proto, protoSTAMP)
	setDefault(&p.Port, owdPorts[p.Proto])
	setDefault(&p.Interval, owdInterval)
	if p.Continuous {
		setDefault(&p.Every, owdEvery)
	} else {
		setDefault(&p.Count, owdCount)
	}
	setDefault(&p.Size, p.usualSize())
	setDefault(&p.Timeout, owdTimeout)
	setDefault(&p.TTL, owdTTL)
	if p.Rand == nil {
		p.Rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	return p
}

// checkCount refuses counts that cannot be; a continuous measurement needs none.
func (p OWD) checkCount() error {
	if p.Continuous && p.Count == 0 {
		return nil
	}
	return checkRange("count", p.Count, 1, owdMaxCount)
}

// checkTTL refuses another TTL than that which RFC 4656 section 4.1.2 has.
func (p OWD) checkTTL() error {
	if p.Proto == protoOWAMP && p.TTL != owdTTL {
		return &input.Error{Field: "TTL", Value: fmt.Sprint(p.TTL), Remedy: "packets of owamp leave with 255; leave it out"}
	}
	return nil
}

// checkSize refuses sizes that packets cannot have, and those of STAMP that have no room for the header of padding.
func (p OWD) checkSize() error {
	if err := checkRange("size", p.Size, p.leastSize(), owdMostSize); err != nil || p.Proto != protoSTAMP {
		return err
	}
	return checkPadding(p.Size, p.leastSize())
}
