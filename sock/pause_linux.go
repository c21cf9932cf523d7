package sock

import (
	"encoding/binary"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// Numbers of ethtool's family of generic netlink (include/uapi/linux/ethtool_netlink.h).
const (
	ethtoolFamily  = "ethtool"
	ethtoolVersion = 1
	getPause       = 21 // ETHTOOL_MSG_PAUSE_GET

	aboutLink   = 1 // attribute of each message
	linkIndex   = 1 // in it
	aboutFlags  = 3
	withCounts  = 4 // ETHTOOL_FLAG_STATS
	pauseCounts = 5 // attribute of the answer
	pausesSent  = 2 // in it
	pausesCame  = 3
)

// addPauses adds the frames by which the link's other end had this one pause, and this end the other one, as the driver counts them. Most
// drivers of adapters do, since Linux 5.9; those of virtual ones have none.
func (c Counts) addPauses(index int) {
	about := nl.NewRtAttr(aboutLink|unix.NLA_F_NESTED, nil)
	about.AddRtAttr(linkIndex, nl.Uint32Attr(uint32(index)))
	about.AddRtAttr(aboutFlags, nl.Uint32Attr(withCounts))
	replies, err := Generic(ethtoolFamily, getPause, ethtoolVersion, about)
	if err == nil && len(replies) > 0 {
		c.readPauses(replies[0])
	}
}

// readPauses takes the counts out of an answer. What cannot be read is as what is not counted.
func (c Counts) readPauses(answer []byte) {
	_ = EachAttr(answer, func(kind uint16, value []byte) error {
		if kind != pauseCounts {
			return nil
		}
		return EachAttr(value, func(kind uint16, value []byte) error {
			name := map[uint16]string{pausesSent: "link.tx_pause", pausesCame: "link.rx_pause"}[kind]
			if name != "" && len(value) == 8 {
				c[name] = binary.NativeEndian.Uint64(value)
			}
			return nil
		})
	})
}
