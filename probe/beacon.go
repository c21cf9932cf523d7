package probe

import (
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/beacon"
)

// Beacon measures a multicast group as one of its members: each member sends probes to the group, listens to those of all others, and tells the group
// what it received. So each knows loss (RFC 7680), delay (RFC 7679), delay variation (RFC 5481), duplicates (RFC 5560) and reordering (RFC 4737)
// between any two: see package beacon. All members run at the same time.
type Beacon struct {
	Target    string        // what the Result calls the group; "": its address
	Group     string        // address of the group; "": 239.255.86.3
	Port      int           // of the group; 0: 5863
	Interface string        // which sends and listens; "": the one that routes lead to
	Name      string        // by which others know this member; "": the host's
	Count     int           // probes to send; 0: 100
	Interval  time.Duration // between them; 0: 100 ms; at least 10 ms
	Size      int           // bytes of UDP payload; 0: 100; 80 to 1200
	TTL       int           // 0: 64
	DSCP      int           // 0..63

	Progress func(beacon.Report) // once a second, by the goroutine of Do; may be nil
}

// beaconGroup is a group of the organisation's own (RFC 2365 section 6.1), whose last bytes nobody else has by habit.
const beaconGroup = "239.255.86.3"

func (p Beacon) withDefaults() Beacon {
	setDefault(&p.Group, beaconGroup)
	setDefault(&p.Target, p.Group)
	setDefault(&p.Port, beacon.DefaultPort)
	setDefault(&p.Count, 100)
	setDefault(&p.Interval, 100*time.Millisecond)
	setDefault(&p.Size, 100)
	setDefault(&p.TTL, 64)
	return p
}

// config is what the parameters are to package beacon. A group that is no address is the zero value.
func (p Beacon) config() beacon.Config {
	p = p.withDefaults()
	group, _ := netip.ParseAddr(p.Group)
	return beacon.Config{Group: group, Port: p.Port, Interface: p.Interface, Name: p.Name, Count: p.Count, Interval: p.Interval, Size: p.Size,
		TTL: p.TTL, DSCP: p.DSCP, Progress: p.Progress}
}

// Validate says what is wrong with the parameters, as an input.Error, or returns nil.
func (p Beacon) Validate() error {
	if _, err := netip.ParseAddr(p.withDefaults().Group); err != nil {
		return &input.Error{Field: "group", Value: p.Group, Remedy: "give the address of a multicast group, such as 239.255.86.3 or ff15::5863"}
	}
	return p.config().Validate()
}

// demand is of the probes of this member alone; how many others there are nobody knows beforehand.
func (p *Beacon) demand() measure.Demand {
	all := p.withDefaults()
	each := wire(all.Group, "", udpHeader+float64(all.Size))
	return measure.Demand{DurationSeconds: p.config().Longest().Seconds(), Bytes: each * float64(all.Count), BitsPerSecond: 8 * each / all.Interval.Seconds(),
		Together: true}
}

// resultBytes are those of a dozen pairs, and of Results of their own of three. Nobody knows beforehand how many members a group has.
func (p *Beacon) resultBytes() float64 { return 2000 + 3*700 }
