package echo

import (
	"errors"
	"net"
	"os"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// inNamespace runs f in a network namespace of its own, with its loopback up, where the kernel allows nobody a datagram socket of ICMP.
func inNamespace(t testing.TB, f func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread dies with the goroutine
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			err = up("lo")
		}
		if err == nil {
			f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Skipf("no new network namespace here: %v", err)
	}
}

func up(name string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	return netlink.LinkSetUp(link)
}

// silentNeighbours makes an interface with addresses, on whose networks nobody answers.
func silentNeighbours(addresses ...string) error {
	veth := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "silent"}, PeerName: "peer"}
	if err := netlink.LinkAdd(veth); err != nil {
		return err
	}
	if err := errors.Join(up("silent"), up("peer")); err != nil {
		return err
	}
	for _, family := range []string{"ipv4", "ipv6"} { // asks three times, so long after one another
		if err := os.WriteFile("/proc/sys/net/"+family+"/neigh/silent/retrans_time_ms", []byte("10"), 0); err != nil {
			return err
		}
	}
	for _, address := range addresses {
		ip, network, err := net.ParseCIDR(address)
		if err != nil {
			return err
		}
		network.IP = ip
		if err := netlink.AddrAdd(veth, &netlink.Addr{IPNet: network, Flags: unix.IFA_F_NODAD}); err != nil {
			return err
		}
	}
	return nil
}
