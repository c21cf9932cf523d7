package host

import (
	"encoding/binary"
	"math"

	"github.com/vishvananda/netlink/nl"

	"github.com/pathwise-net/pathwise/sock"
)

// Numbers of ethtool's family of generic netlink (include/uapi/linux/ethtool_netlink.h).
const (
	ethtoolFamily  = "ethtool"
	ethtoolVersion = 1

	ethtoolModes    = 4
	ethtoolFeatures = 11
	ethtoolRings    = 15
	ethtoolChannels = 17
	ethtoolCoalesce = 19

	ethtoolHeader    = 1 // attribute of each message
	ethtoolHeaderDev = 1 // in it: the interface's index
)

// attributes are those of one netlink message, by their kind.
type attributes map[uint16][]byte

func readAttributes(raw []byte) (attributes, error) {
	all := attributes{}
	err := sock.EachAttr(raw, func(kind uint16, value []byte) error {
		all[kind] = value
		return nil
	})
	return all, err
}

// number is an attribute of one, two or four bytes; 0 where there is none.
func (a attributes) number(kind uint16) int {
	switch value := a[kind]; len(value) {
	case 1:
		return int(value[0])
	case 2:
		return int(binary.NativeEndian.Uint16(value))
	case 4:
		return int(binary.NativeEndian.Uint32(value))
	}
	return 0
}

// addEthtool adds what the driver of a link says of it.
func addEthtool(l *Link) {
	l.ask(ethtoolModes, (*Link).modes)
	l.ask(ethtoolFeatures, (*Link).features)
	l.ask(ethtoolRings, (*Link).rings)
	l.ask(ethtoolChannels, (*Link).channels)
	l.ask(ethtoolCoalesce, (*Link).coalesce)
}

// ask has the driver of a link fill in one part. Whatever it does not offer stays as it is.
func (l *Link) ask(command uint8, fill func(*Link, attributes) error) {
	replies, err := sock.Generic(ethtoolFamily, command, ethtoolVersion, ethtoolAbout(l.Index))
	if err != nil || len(replies) == 0 {
		return
	}
	if all, err := readAttributes(replies[0]); err == nil {
		_ = fill(l, all) // what cannot be read is as what is not offered
	}
}

// modes reads speed, duplex and negotiation: attributes ETHTOOL_A_LINKMODES_.
func (l *Link) modes(a attributes) error {
	const (
		negotiates, ours, speed, duplex = 2, 3, 5, 6
		half, full                      = 0, 1 // DUPLEX_
	)
	if value, there := a[negotiates]; there && len(value) == 1 {
		on := value[0] != 0
		l.Negotiates = &on
	}
	if v := a.number(speed); v > 0 && v != math.MaxUint32 { // which is: not known
		l.Speed = float64(v) * megabit
	}
	if value := a[duplex]; len(value) == 1 && value[0] <= full {
		l.Duplex = map[byte]string{half: "half", full: "full"}[value[0]]
	}
	supported, err := readBits(a[ours])
	for name := range supported {
		l.Fastest = max(l.Fastest, speedOf(name))
	}
	return err
}

// features reads offloads: attributes ETHTOOL_A_FEATURES_.
func (l *Link) features(a attributes) error {
	const hardware, active, fixed = 2, 4, 5
	changeable, err := readBits(a[hardware])
	if err != nil {
		return err
	}
	on, err := readBits(a[active])
	if err != nil {
		return err
	}
	never, err := readBits(a[fixed])
	if err != nil {
		return err
	}
	l.Features = map[string]Feature{}
	for _, name := range offloads() {
		_, can := changeable[name]
		_, runs := on[name]
		_, not := never[name]
		l.Features[name] = Feature{On: runs, Can: can && !not}
	}
	return nil
}

// rings reads how many packets the adapter's rings hold: attributes ETHTOOL_A_RINGS_.
func (l *Link) rings(a attributes) error {
	l.Rings = ranges(a, map[string][2]uint16{"rx": {6, 2}, "tx": {9, 5}})
	return nil
}

// channels reads over how many queues packets spread: attributes ETHTOOL_A_CHANNELS_.
func (l *Link) channels(a attributes) error {
	l.Channels = ranges(a, map[string][2]uint16{"rx": {6, 2}, "tx": {7, 3}, "combined": {9, 5}})
	return nil
}

// ranges are those that the driver has: kinds are of what is set, and of the most.
func ranges(a attributes, kinds map[string][2]uint16) map[string]Range {
	all := map[string]Range{}
	for name, kind := range kinds {
		if most := a.number(kind[1]); most > 0 {
			all[name] = Range{Now: a.number(kind[0]), Most: most}
		}
	}
	return all
}

// coalesce reads how interrupts gather: attributes ETHTOOL_A_COALESCE_.
func (l *Link) coalesce(a attributes) error {
	const microseconds, frames, adaptive = 2, 3, 11
	if _, there := a[microseconds]; !there {
		return nil // a driver that gathers nothing by time has other parameters, or none
	}
	l.Coalesce = &Coalesce{Microseconds: a.number(microseconds), Frames: a.number(frames), Adaptive: a.number(adaptive) != 0}
	return nil
}

// readBits reads the names in a set of bits, and whether each is set (ETHTOOL_A_BITSET_; Documentation/networking/ethtool-netlink.rst). A
// set without a mask names those that are set.
func readBits(raw []byte) (map[string]bool, error) {
	const nomask, bits, name, value = 1, 3, 2, 3
	set := map[string]bool{}
	outer, err := readAttributes(raw)
	if err != nil {
		return nil, err
	}
	_, all := outer[nomask]
	err = sock.EachAttr(outer[bits], func(_ uint16, bit []byte) error {
		one, err := readAttributes(bit)
		if err != nil {
			return err
		}
		_, on := one[value]
		set[nl.BytesToString(one[name])] = on || all
		return nil
	})
	return set, err
}
