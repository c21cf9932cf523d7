package host

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/sock"
)

// Identify reads what this host is, where data goes to an address. It reads four files, and sends nothing.
func Identify(to netip.Addr) (Identity, error) {
	id := Identity{Processors: runtime.NumCPU()}
	var err error
	if id.Name, err = os.Hostname(); err != nil {
		return id, fmt.Errorf("read name of this host: %w", err)
	}
	release, err := readBounded("/proc/sys/kernel/osrelease")
	if err != nil {
		return id, fmt.Errorf("read kernel's release: %w", err)
	}
	id.Kernel = strings.TrimSpace(release)
	source, err := sock.Source(to)
	if err != nil {
		return id, fmt.Errorf("find route to %s: %w", to, err)
	}
	links, err := net.Interfaces()
	if err != nil {
		return id, fmt.Errorf("list interfaces: %w", err)
	}
	for _, l := range links {
		addresses, _ := l.Addrs() // one that is gone by now has none
		for _, a := range addresses {
			if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr().Unmap() == source.WithZone("") {
				id.Interface, id.Hardware, id.MTU, id.LinkRate = l.Name, l.HardwareAddr.String(), l.MTU, linkRateOf(l.Name)
				return id, nil
			}
		}
	}
	return id, fmt.Errorf("find interface to %s: none has the address %s", to, source)
}

// linkRateOf is what an interface says of its speed, in bit/s; 0: nothing.
func linkRateOf(name string) float64 {
	text, err := readBounded("/sys/class/net/" + name + "/speed")
	if err != nil {
		return 0
	}
	megabits, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || megabits <= 0 { // -1 where it is not known
		return 0
	}
	const mega = 1e6
	return megabits * mega
}
