package sock

import (
	"maps"
	"net"
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
	}{{"snmp", ParseNetstat}, {"netstat", ParseNetstat}, {"snmp6", parseNamed}, {"softnet_stat", parseSoftnet}} {
		if text, err := os.ReadFile("/proc/thread-self/net/" + one.file); err == nil {
			maps.Copy(all, one.parse(string(text)))
		}
	}
	maps.Copy(all, linkCounts(interfaceOf(address)))
	return all
}

// interfaceOf is the index of the interface that has an address; 0: none has.
func interfaceOf(address netip.Addr) int {
	all, err := net.Interfaces()
	if err != nil {
		return 0
	}
	for _, one := range all {
		addresses, err := one.Addrs()
		if err != nil {
			continue
		}
		for _, a := range addresses {
			if prefix, ok := a.(*net.IPNet); ok && prefix.IP.Equal(address.AsSlice()) {
				return one.Index
			}
		}
	}
	return 0
}

// linkCounts are those of an interface that tell of trouble.
func linkCounts(index int) Counts {
	if index == 0 {
		return nil
	}
	link, err := netlink.LinkByIndex(index)
	if err != nil || link.Attrs().Statistics == nil {
		return nil
	}
	s := link.Attrs().Statistics
	return Counts{
		"link.rx_errors": s.RxErrors, "link.rx_crc_errors": s.RxCrcErrors, "link.rx_frame_errors": s.RxFrameErrors,
		"link.rx_dropped": s.RxDropped, "link.rx_missed_errors": s.RxMissedErrors, "link.rx_fifo_errors": s.RxFifoErrors,
		"link.tx_errors": s.TxErrors, "link.tx_dropped": s.TxDropped, "link.tx_carrier_errors": s.TxCarrierErrors, "link.collisions": s.Collisions,
	}
}
