package host

import (
	"slices"
	"strconv"
	"strings"
)

const megabit = 1e6 // drivers give speeds in Mbit/s

// speedOf is the rate of a link mode by its name, such as 1000baseT/Full or 25000baseCR/Full, in bit/s; 0 of what is no mode.
func speedOf(name string) float64 {
	digits := strings.IndexFunc(name, func(r rune) bool { return r < '0' || r > '9' })
	if digits <= 0 || !strings.HasPrefix(name[digits:], "base") {
		return 0
	}
	v, err := strconv.ParseFloat(name[:digits], 64)
	if err != nil {
		return 0
	}
	return v * megabit
}

// Names of offloads as the kernel has them (net/ethtool/common.c netdev_features_strings).
const (
	cutsTCP         = "tx-tcp-segmentation"
	cutsGeneric     = "tx-generic-segmentation"
	joins           = "rx-gro"
	joinsLarge      = "rx-lro"
	sumsReceived    = "rx-checksum"
	sumsGeneric     = "tx-checksum-ip-generic"
	sumsIPv4        = "tx-checksum-ipv4"
	gathersFragment = "tx-scatter-gather"
)

// offloads are the names of those that are looked at.
func offloads() []string {
	return []string{cutsTCP, cutsGeneric, joins, joinsLarge, sumsReceived, sumsGeneric, sumsIPv4, gathersFragment}
}

// audited are the links that are looked at: the one on the way, and where no address was given, all adapters that are up. A machine
// with neither, such as a container without a default route, has all looked at that are up.
func (f *Facts) audited() []Link {
	var all, up []Link
	for _, l := range f.Network.Links {
		onWay := l.Name == f.Network.Way.Interface
		if !l.Up || l.Loopback {
			continue
		}
		up = append(up, l)
		if onWay || l.Adapter && !f.Network.Way.To.IsValid() {
			all = append(all, l)
		}
	}
	if len(all) == 0 {
		return up
	}
	return all
}

// onWay is the link that packets take.
func (f *Facts) onWay() (Link, bool) {
	i := slices.IndexFunc(f.Network.Links, func(l Link) bool { return l.Name == f.Network.Way.Interface })
	if i < 0 {
		return Link{}, false
	}
	return f.Network.Links[i], true
}
