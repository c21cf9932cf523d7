package sock

import (
	"maps"
	"net/netip"
	"os"

	"github.com/vishvananda/netlink"
)

// ReadCounts reads what the kernel has counted up to now in the network namespace of the caller's thread, and of the interface that has an
// address. What cannot be read is not there.
func ReadCounts(address netip.Addr) Counts {
	all := Counts{}
	for _, one := range []struct {
		file  string
		parse func(string) map[string]uint64
	}{{"snmp", ParseNetstat}, {"netstat", ParseNetstat}, {"snmp6", func(text string) map[string]uint64 { return ParseNamed(text, "") }}} {
		if text, err := os.ReadFile("/proc/thread-self/net/" + one.file); err == nil {
			maps.Copy(all, one.parse(string(text)))
		}
	}
	maps.Copy(all, linkCounts(address))
	return all
}

// linkCounts are what the interface that has an address counts of trouble, and what it sends.
func linkCounts(address netip.Addr) Counts {
	with, err := interfaceWith(address.AsSlice())
	if err != nil {
		return nil
	}
	link, err := netlink.LinkByIndex(with.Index)
	if err != nil || link.Attrs().Statistics == nil {
		return nil
	}
	s := link.Attrs().Statistics
	all := Counts{
		"link.rx_errors": s.RxErrors, "link.rx_crc_errors": s.RxCrcErrors, "link.rx_frame_errors": s.RxFrameErrors,
		"link.rx_dropped": s.RxDropped, "link.rx_missed_errors": s.RxMissedErrors, "link.rx_fifo_errors": s.RxFifoErrors,
		"link.tx_errors": s.TxErrors, "link.tx_dropped": s.TxDropped, "link.tx_carrier_errors": s.TxCarrierErrors, "link.collisions": s.Collisions,
		"link.multicast": s.Multicast, "link.tx_bytes": s.TxBytes,
	}
	all.addPauses(with.Index)
	all.addEmulated(with.Name)
	return all
}
