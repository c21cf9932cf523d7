package host

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/sock"
)

// ethtoolSetRings has the attributes of ethtoolRings.
const ethtoolSetRings = 16

// ringKinds are the attributes of what a ring is set to (ETHTOOL_A_RINGS_).
var ringKinds = map[string]int{"rx": 6, "tx": 9}

// getLink reads a setting of an interface.
func getLink(name, setting string) (string, error) {
	l, err := netlink.LinkByName(name)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", name, err)
	}
	if setting == queueLengthSetting {
		return strconv.Itoa(l.Attrs().TxQLen), nil
	}
	which, _ := strings.CutSuffix(setting, ringSetting)
	one := Link{Index: l.Attrs().Index}
	one.ask(ethtoolRings, (*Link).rings)
	r, there := one.Rings[which]
	if !there {
		return "", fmt.Errorf("read rings of %s: its driver has none", name)
	}
	return strconv.Itoa(r.Now), nil
}

// setLink changes a setting of an interface. The link of some adapters goes down for a moment when their rings change.
func setLink(name, setting, to string) error {
	l, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find %s: %w", name, err)
	}
	n, err := strconv.ParseUint(to, 10, 31)
	if err != nil {
		return fmt.Errorf("%s of %s: %q is no number", setting, name, to)
	}
	if setting == queueLengthSetting {
		return netlink.LinkSetTxQLen(l, int(n))
	}
	which, _ := strings.CutSuffix(setting, ringSetting)
	_, err = sock.Generic(ethtoolFamily, ethtoolSetRings, ethtoolVersion, ethtoolAbout(l.Attrs().Index),
		nl.NewRtAttr(ringKinds[which], nl.Uint32Attr(uint32(n))))
	return err
}

// ethtoolAbout is the attribute that says which interface a message is about.
func ethtoolAbout(index int) *nl.RtAttr {
	header := nl.NewRtAttr(ethtoolHeader|unix.NLA_F_NESTED, nil)
	header.AddRtAttr(ethtoolHeaderDev, nl.Uint32Attr(uint32(index)))
	return header
}
