package probe

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/proto/stamp"
	"github.com/pathwise-net/pathwise/sock"
)

// MTU finds the largest packet that comes through to a target: packets of many sizes that no router may cut, of which what the target answers alone counts
// (RFC 8899). What routers say of a size is tried first and not believed. Then packets one byte too large die at each hop in turn,
// which tells behind which hop they are refused, or vanish.
type MTU struct {
	Target  string        // name or address; required
	Family  sock.Family   // zero: the first of the target's addresses that can be reached
	Timeout time.Duration // the longest wait for an answer; 0: 1 s
	Proto   string        // "" or "auto": the first of the others that the target answers; "icmp": echoes; "stamp": a reflector; "tcp": any server
	Port    int           // of stamp and tcp; 0: those of mtuPorts, one after the other

	// BackPort is where the target seeks the hop behind which larger packets vanish on the way back; 0: where `pathwise respond` does.
	BackPort int
	Secret   string // that is shown there, of a responder that was opened for this run; "": it answers everybody
}

// protoAuto is the first protocol that the target answers.
const protoAuto = "auto"

var (
	mtuProtos = []string{protoAuto, protoICMP, protoSTAMP, protoTCP}
	mtuPorts  = map[string][]int{protoSTAMP: {stamp.DefaultPort, stamp.SparePort}, protoTCP: {443, 80}}
)

const (
	mtuTimeout = time.Second
	mtuTries   = 4                     // packets of a size in a round
	mtuGap     = 12 * time.Millisecond // between packets: at 1500 bytes 1 Mbit/s, as of LightRate
	mtuTrips   = 4                     // an answer comes within so many of the round trips seen, or within mtuLeast
	mtuLeast   = 200 * time.Millisecond
	mtuHops    = 30 // as traceroute goes
	mtuWave    = 8  // hops that are asked at once; where none of so many answers the search for the one that narrows the path is over

	// What is sought by one run is bounded, whatever is told and answered: what comes through at one time and not at another has no end.
	mtuRounds   = 6  // of a search, where nothing is lost by accident: the usual sizes, four of others, and one to be sure
	mtuLimit    = 32 // of a search, where much is lost by accident
	mtuMostTold = 8  // sizes of routers that are tried: each that is none costs two rounds
	mtuSearches = 5  // of a way; one that narrows twice takes three to be known in all its hops
)

// mtuTrial is a protocol to try, by a port.
type mtuTrial struct {
	proto   string
	port    int
	opening time.Duration // how long a connection may take to open
}

// trials are the protocols to try, and their ports, until the target answers one.
func (p MTU) trials() (all []mtuTrial) {
	for _, proto := range mtuProtos[1:] {
		if p.Proto != "" && p.Proto != protoAuto && p.Proto != proto {
			continue
		}
		if proto == protoICMP {
			all = append(all, mtuTrial{proto: proto})
			continue
		}
		ports := mtuPorts[proto]
		if p.Port != 0 {
			ports = []int{p.Port}
		}
		for _, port := range ports {
			t := mtuTrial{proto: proto, port: port}
			if proto == protoTCP {
				t.opening = 3 * p.Timeout / 2
				if len(ports) == 1 {
					t.opening = 7 * p.Timeout / 2
				}
			}
			all = append(all, t)
		}
	}
	return all
}

// contactWaits are how long the packets of a contact are waited for, one after the other.
func contactWaits(timeout time.Duration) [mtuTries]time.Duration {
	var waits [mtuTries]time.Duration
	for i := range waits {
		waits[i] = timeout / mtuTries
	}
	waits[mtuTries-1] = timeout
	return waits
}

// takes is how long so many searches take, where nothing is lost by accident, and how many packets: every contact is in vain but the last, every round lasts until its
// longest wait is over, and each search is followed by packets to all hops. Once these were sought, a wave after the other.
func (p MTU) takes(searches int) (time.Duration, int) {
	setDefault(&p.Timeout, mtuTimeout)
	trials := p.trials()
	var waits time.Duration
	for _, t := range trials {
		waits += t.opening
		for _, wait := range contactWaits(p.Timeout) {
			waits += wait
		}
	}
	const waves = (mtuHops + mtuWave - 1) / mtuWave
	waits += time.Duration(searches*(mtuRounds+1)+waves) * p.Timeout
	packets := mtuTries * (len(trials) + searches*(mtuRounds*mtuFan+mtuHops) + mtuHops)
	return waits + time.Duration(packets)*mtuGap, packets
}

func mtuKind() Kind {
	return newKind(declaration[MTU]{
		kind: Kind{Name: "mtu", Meaning: "the largest packet that comes through, and the hop that takes no larger one",
			Text: mtuText, Usage: Usage{
				Hosts: "HOST[:PORT]", Short: "The largest packet that comes through to HOST",
				Long: "Send packets of many sizes that no router may cut. Only answers count, so a path on which packets vanish and nobody\n" +
					"says why is measured as well. A host that answers no ICMP echo is asked by STAMP (pathwise respond), which measures the way\n" +
					"back, too, or over TCP. Needs no root where net.ipv4.ping_group_range admits the user, nor by STAMP; TCP does.",
				Examples: []string{"mtu 127.0.0.1", "mtu carol --json", "mtu carol -6", "mtu carol --proto stamp", "mtu carol:22 --proto tcp"},
				Doing:    "trying sizes to", Detail: true,
			}, Needs: []Need{
				{What: "raw-sockets", Means: echoSocket, Parameter: "proto", Value: protoICMP, Try: tryEcho},
				{What: "raw-tcp", Means: rawTCP, Parameter: "proto", Value: protoTCP, Try: trySYN},
			}},
		target: func(p *MTU) *string { return &p.Target },
		fields: mtuFields(),
	})
}

func mtuFields() []field[MTU] {
	return []field[MTU]{
		{Name: "proto", Default: protoAuto, Meaning: "icmp (echo), stamp (a reflector, such as pathwise respond), tcp (any server), or the first of them that is answered: auto",
			binding: word(func(p *MTU) *string { return &p.Proto }, mtuProtos...)},
		{Name: "port", Outward: true, Default: "stamp: 862, 5862; tcp: 443, 80", Meaning: "the target's, of stamp and tcp",
			binding: whole(func(p *MTU) *int { return &p.Port }, 1, 65535)},
		{Name: "timeout", Short: "W", Default: "1s", Meaning: "how long an answer may take",
			binding: span(func(p *MTU) *time.Duration { return &p.Timeout })},
		familyField(func(p *MTU) *sock.Family { return &p.Family }),
	}
}

// Validate says what is wrong with the parameters, as an input.Error, or returns nil.
func (p MTU) Validate() error {
	switch {
	case p.Proto != "" && !slices.Contains(mtuProtos, p.Proto):
		return &input.Error{Field: "proto", Value: p.Proto, Remedy: "give " + oneOf(mtuProtos)}
	case p.Proto == protoICMP && p.Port != 0:
		return &input.Error{Field: "port", Value: strconv.Itoa(p.Port), Remedy: "ICMP has no ports; leave it out, or ask for proto stamp or tcp"}
	}
	return cmp.Or(checkTarget(p.Target, p.Family), checkRange("port", p.Port, 0, 65535), checkDuration("timeout", p.Timeout, time.Millisecond, maxTimeout))
}

func (p *MTU) equip(o Options) {
	if r := o.Responder; r != nil && r.Kind == measure.ResponderSTAMP {
		p.Port, p.BackPort, p.Secret = r.Port, r.Port, r.Secret // which an agent answers over TCP, too
	}
}

// demand is of two searches, there and back. What any host answers takes nothing that is opened for it.
func (p *MTU) demand() measure.Demand {
	d := p.demandOf(2)
	if p.Proto == protoSTAMP && p.Port == 0 {
		d.Responder = measure.ResponderSTAMP
	}
	return d
}

// demandOf is the demand of so many searches.
func (p *MTU) demandOf(searches int) measure.Demand {
	packet := wire(p.Target, p.Family, mtu-model.IPv6Header)
	lasts, packets := p.takes(searches)
	if p.Proto != protoICMP && p.Proto != protoTCP { // what vanishes on the way back is sought by the far end
		lasts += backTimeout
	}
	return measure.Demand{DurationSeconds: lasts.Seconds(), BitsPerSecond: 8 * packet / mtuGap.Seconds(), Bytes: 2 * packet * float64(packets)}
}

// resultBytes are inferred from those of a trace, which has hops as well.
func (p *MTU) resultBytes() float64 { return 550 }
