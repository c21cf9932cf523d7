// Package gateway takes real machines through the lab: an emulated link between two Ethernet interfaces of this host, so
// that an unchanged application on another machine, in a virtual machine or in a container feels the path. What stands
// on either side sees a wire: the gateway is a bridge, it has no address and is no hop.
//
//	station --- [ interface ] --- forward ---> [ interface ] --- station
//	                          <--- reverse ---
//
// What becomes of a frame:
//
//   - IPv4 and IPv6, untagged or in one VLAN tag, crosses the emulated link (package link, with all its keys, rules too).
//     It counts from when the kernel saw it, not from when the gateway woke.
//   - IPv6's neighbour discovery (RFC 4861) is given the link's delay, and nothing else: it is not lost, queued or counted
//     in the truth, for on the long path that the link stands for it would never cross, and a path that loses 10 % does
//     not lose its neighbours. At a round trip above 3 s Linux no longer waits for it; set neighbours by hand then.
//   - All else (ARP, other types, two tags, PPPoE) passes at once, unchanged.
//   - What IEEE 802.1Q keeps on one wire (LLDP, LACP, 802.1X, pause) stays, and so does what is addressed to the
//     interface's own host. Spanning tree (BPDU) passes, so that switches see a loop that is closed through a gateway.
//
// An MTU on the link is a router's: what exceeds it is cut, dropped, or answered with ICMP, in the name of the packet's
// target since the gateway has none.
//
// Super-packets from offloads (GRO, or a container's TSO) are welcome: rates, losses and the truth count their segments,
// and what can stay whole does. An adapter's LRO is not: it cannot be undone; switch it off. Nor are the super-packets of
// tunnels, unless `ethtool -K IFACE gro off tso off` makes them packets again.
//
// The gateway changes no setting of the host. Promiscuity is its sockets' and ends with them, however the process ends.
// It needs CAP_NET_RAW in the network namespace that it runs in, and Linux. Linux's own IPv6 greets the stations by the
// interfaces; who wants them silent sets net.ipv6.conf.IFACE.disable_ipv6=1.
//
// Commands build a Config (ParseConfig, With), Open the gateway, print its Warnings, Run it until they are told to end, take
// a last Snapshot, and Close. Change takes settings while it runs.
package gateway

import (
	"path/filepath"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// Config is the emulated link. Forward is from the first interface to the second. The zero value is a plain wire.
type Config struct {
	Seed             uint64 // of everything random; the same seed and frames give the same drops
	Forward, Reverse link.Shape
}

// ParseConfig reads a link file: the keys of a link in a lab file for both ways, forward and reverse for one, and a seed.
// Files that it names (link.Shape.ReadFiles) are found beside it. Errors are *document.Error and name the file; the name is
// used for nothing else.
//
//	delay: 20ms
//	forward: {rate: 10mbit, loss: 1%}
//	rules:
//	  - {match: {port: 5201}, delay: 100ms}
func ParseConfig(name string, text []byte) (Config, error) {
	var file struct {
		Seed       uint64 `yaml:"seed"`
		link.Shape `yaml:",inline"`
		Forward    *link.Shape `yaml:"forward"`
		Reverse    *link.Shape `yaml:"reverse"`
	}
	err := notation.Unmarshal(text, &file)
	c := Config{file.Seed, file.Shape.Over(file.Forward), file.Shape.Over(file.Reverse)}
	if err == nil {
		err = c.readFiles(filepath.Dir(name))
	}
	if err == nil {
		err = link.CheckPair(c.Forward, c.Reverse)
	}
	if err != nil {
		return Config{}, document.InFile(name, err)
	}
	return c, nil
}

// With returns the link with settings on top, each as link.ParseSetting has it: "loss=1%", "reverse.rate=10mbit". Files
// that they name are looked for in the working directory. Errors are *document.Error.
func (c Config) With(settings ...string) (Config, error) {
	c, err := c.merge(settings)
	if err == nil {
		err = link.CheckPair(c.Forward, c.Reverse)
	}
	return c, err
}

// merge is With, but for what is wrong with the whole.
func (c Config) merge(settings []string) (Config, error) {
	for _, s := range settings {
		forward, reverse, err := link.ParseSetting(s)
		if err != nil {
			return Config{}, err
		}
		c.Forward, c.Reverse = c.Forward.Over(&forward), c.Reverse.Over(&reverse)
	}
	return c, c.readFiles("")
}

func (c *Config) readFiles(folder string) error {
	if err := c.Forward.ReadFiles(folder); err != nil {
		return err
	}
	return c.Reverse.ReadFiles(folder)
}
