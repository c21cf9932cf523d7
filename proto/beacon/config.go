package beacon

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"strconv"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/proto/endpoint"
)

// Config says what a member does.
type Config struct {
	Group     netip.Addr // a multicast address, without a zone; required
	Port      int        // 0: DefaultPort
	Interface string     // by its name, which sends and listens; "": the one that routes lead to
	Name      string     // of 1 to 32 graphic characters of ASCII, by which others know the member; "": the host's

	Count    int           // probes to send; 0: 100; at most MostProbes
	Interval time.Duration // between them; 0: 100 ms; at least 10 ms
	Size     int           // bytes of UDP payload of each; 0: 100; 80 to 1200
	TTL      int           // of all packets; 0: 64
	DSCP     int           // of all packets, 0..63
	// Settle is from joining to the first probe. In its first half routers graft the member to the group's trees, and it judges nothing; in its second
	// one those members join that were started together with it. 0: 2 s.
	Settle time.Duration
	Grace  time.Duration // for how long, after the last probe, it waits for others at the most; 0: 10 s

	Clock    endpoint.Clock // the zero value: this machine's
	Rand     *rand.Rand     // source of the member's ID; nil: a random seed
	Joined   func()         // called once, when the member listens; it waits for the function, and for Settle then; may be nil
	Progress func(Report)   // called with what is known by then, once a second and more often at the end, by the goroutine of Run; may be nil
}

// Defaults and limits of Config.
const (
	defaultCount    = 100
	defaultInterval = 100 * time.Millisecond
	defaultSize     = 100
	defaultTTL      = 64 // of IP (RFC 1700); Linux lets packets to groups live for 1 hop
	defaultSettle   = 2 * time.Second
	defaultGrace    = 10 * time.Second
	// leastInterval is 100 packets a second to each member of the group, of each member.
	leastInterval = 10 * time.Millisecond
	mostWait      = time.Minute
	leastGrace    = 2 * Drain // the last probes of others are judged a Drain after this member's last
)

// Validate says what is wrong with the parameters, as an input.Error, or returns nil.
func (c Config) Validate() error {
	all := c.withDefaults()
	if !c.Group.IsMulticast() || c.Group.Zone() != "" || c.Group.Is4In6() {
		return &input.Error{Field: "group", Value: c.Group.String(), Remedy: "give a multicast address, such as 239.255.86.3 or ff15::5863"}
	}
	if !goodName(all.Name) {
		return &input.Error{Field: "name", Value: c.Name, Remedy: fmt.Sprintf("give up to %d graphic characters of ASCII", mostName)}
	}
	return cmp.Or(
		within("port", all.Port, 1, 65535),
		within("count", all.Count, 1, MostProbes),
		within("size", all.Size, LeastBytes, MostBytes),
		within("TTL", all.TTL, 1, 255),
		within("DSCP", all.DSCP, 0, mostDSCP),
		during("interval", all.Interval, leastInterval, mostInterval),
		during("settle", all.Settle, time.Millisecond, mostWait),
		during("grace", all.Grace, leastGrace, mostWait),
	)
}

func within(field string, value, least, most int) error {
	if value < least || value > most {
		return &input.Error{Field: field, Value: strconv.Itoa(value), Remedy: fmt.Sprintf("give %d to %d", least, most)}
	}
	return nil
}

func during(field string, value, least, most time.Duration) error {
	if value < least || value > most {
		return &input.Error{Field: field, Value: value.String(), Remedy: fmt.Sprintf("give %v to %v", least, most)}
	}
	return nil
}

func (c Config) withDefaults() Config {
	c.Port, c.Count, c.Size, c.TTL = cmp.Or(c.Port, DefaultPort), cmp.Or(c.Count, defaultCount), cmp.Or(c.Size, defaultSize), cmp.Or(c.TTL, defaultTTL)
	c.Interval, c.Settle, c.Grace = cmp.Or(c.Interval, defaultInterval), cmp.Or(c.Settle, defaultSettle), cmp.Or(c.Grace, defaultGrace)
	if c.Name == "" {
		c.Name = hostName()
	}
	if c.Rand == nil {
		c.Rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	return c
}

// Longest is how long Run takes at the most; what it sends of probes ends a Grace before.
func (c Config) Longest() time.Duration {
	all := c.withDefaults()
	return all.Settle + time.Duration(all.Count-1)*all.Interval + all.Grace
}

// hostName is the host's name, or as much of it as can be told.
func hostName() string {
	host, err := os.Hostname()
	host = host[:min(len(host), mostName)]
	if err != nil || !goodName(host) {
		return "unnamed"
	}
	return host
}
