package lab

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// namespace is an anonymous network namespace with a host name of its own, held by a thread that lives in it. It ends with the process.
type namespace struct {
	work chan func()
	file *os.File // names the namespace to netlink
}

func newNamespace(hostname string) (*namespace, error) {
	ns := &namespace{work: make(chan func())}
	ready := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread is of no use to anyone else
		err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWUTS)
		if err == nil {
			err = unix.Sethostname([]byte(hostname))
		}
		if err == nil {
			ns.file, err = os.Open("/proc/thread-self/ns/net")
		}
		ready <- err
		if err != nil {
			return
		}
		for f := range ns.work {
			f()
		}
	}()
	if err := <-ready; err != nil {
		return nil, fmt.Errorf("create host %s: %w", hostname, err)
	}
	return ns, nil
}

// do runs f on the thread that lives in the namespace.
func (ns *namespace) do(f func() error) error {
	done := make(chan error)
	ns.work <- func() { done <- f() }
	return <-done
}

// hostSettings are the same for every host of every lab, so that a lab behaves alike on every kernel and under every
// distribution's defaults. A host's own sysctl come after and win.
var hostSettings = []struct{ key, value string }{
	{"net.ipv6.conf.all.disable_ipv6", "0"},
	{"net.ipv6.conf.default.disable_ipv6", "0"},
	{"net.ipv6.conf.default.accept_dad", "0"}, // addresses are the lab's and serve at once
	{"net.ipv6.conf.default.accept_ra", "0"},
	{"net.ipv6.conf.default.addr_gen_mode", "1"}, // no link-local address, so no chatter about it
	{"net.ipv4.conf.all.rp_filter", "0"},         // ways there and back may differ
	{"net.ipv4.conf.default.rp_filter", "0"},
	{"net.ipv4.tcp_rmem", "4096 131072 33554432"}, // Linux 6.18's own on a machine with memory to spare
	{"net.ipv4.tcp_wmem", "4096 16384 4194304"},
	{"net.ipv4.tcp_no_metrics_save", "1"}, // no test starts with what the one before it found
}

// configureHost sets up what a host needs before its interfaces. Called on the namespace's thread.
func configureHost() error {
	if err := allowPing(); err != nil {
		return err
	}
	for _, s := range hostSettings {
		var absent *SpecError // such as IPv6's, where the kernel has none
		if err := writeSysctl(s.key, s.value); err != nil && !errors.As(err, &absent) {
			return err
		}
	}
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find loopback: %w", err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("raise loopback: %w", err)
	}
	return nil
}

// applySysctl sets a host's own settings, once its interfaces are there to have some. Called on the namespace's thread.
func applySysctl(n Node) error {
	for _, key := range slices.Sorted(maps.Keys(n.Host.Sysctl)) {
		if err := writeSysctl(key, n.Host.Sysctl[key]); err != nil {
			return err
		}
	}
	return nil
}

// congestionKey is the setting that names the congestion control that hosts use where a program does not choose.
const congestionKey = "net.ipv4.tcp_congestion_control"

// setCongestion makes cubic a host's default unless its own sysctl say otherwise. A kernel may keep a namespace from
// making an algorithm its default (net.ipv4.tcp_allowed_congestion_control); then the name is returned, for the
// host's routes to carry. Called on the namespace's thread.
func setCongestion(n Node) (onRoutes string, err error) {
	if n.Host.Sysctl[congestionKey] != "" {
		return "", nil
	}
	err = writeSysctl(congestionKey, "cubic")
	if errors.Is(err, unix.EPERM) {
		return "cubic", nil
	}
	return "", err
}

// allowPing opens ICMP datagram sockets to everyone: a new namespace denies them. In a user namespace only the one
// group that is mapped can be named.
func allowPing() error {
	if err := writeSysctl("net.ipv4.ping_group_range", "0 2147483647"); err == nil {
		return nil
	}
	return writeSysctl("net.ipv4.ping_group_range", "0 0")
}

// writeSysctl sets a setting of the calling thread's network namespace.
func writeSysctl(key, value string) error {
	path := "/proc/sys/" + strings.ReplaceAll(key, ".", "/")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return specErrorf("sysctl %s: this kernel has no such setting; check the name", key)
	}
	err := os.WriteFile(path, []byte(value), 0)
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, os.ErrNotExist): // the latter: a congestion control that is not there
		return specErrorf("sysctl %s: %q: the kernel does not take this value", key, value)
	case err != nil:
		return fmt.Errorf("sysctl %s=%q: %w", key, value, errors.Unwrap(err))
	}
	return nil
}

// addVeth makes a veth pair: one end as the host's interface in the namespace, one here; and opens the socket on ours.
func addVeth(id int, i Interface, ns *namespace, mtu, frames int, offload bool) (device, error) {
	local := fmt.Sprintf("port%d", id)
	hostMAC := [6]byte{0x02, 0, 0, 0, byte(id >> 8), byte(id)} // locally administered (IEEE 802 bit 1)
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU = local, mtu
	pair := &netlink.Veth{LinkAttrs: attrs, PeerName: i.Name, PeerMTU: uint32(mtu),
		PeerHardwareAddr: hostMAC[:], PeerNamespace: netlink.NsFd(int(ns.file.Fd()))}
	if err := netlink.LinkAdd(pair); err != nil {
		return nil, fmt.Errorf("create veth pair: %w", err)
	}
	link, err := netlink.LinkByName(local)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", local, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return nil, fmt.Errorf("raise %s: %w", local, err)
	}
	return newPacketDevice(link.Attrs().Index, hostMAC, offload, frames)
}

// configureInterface gives a host's interface its address and raises it. Called on the namespace's thread.
func configureInterface(i Interface, mtu int, offload bool) error {
	link, err := netlink.LinkByName(i.Name)
	if err != nil {
		return fmt.Errorf("find %s: %w", i.Name, err)
	}
	if link.Type() == "veth" {
		if !offload {
			if err := wholePackets(i.Name); err != nil {
				return err
			}
		}
		if err := netlink.LinkSetARPOff(link); err != nil { // every frame goes to the one other end
			return fmt.Errorf("set %s: %w", i.Name, err)
		}
	}
	addr := &netlink.Addr{IPNet: &net.IPNet{IP: i.Address.AsSlice(), Mask: net.CIDRMask(24, 32)}}
	err = errors.Join(
		netlink.LinkSetMTU(link, mtu),
		netlink.LinkSetTxQLen(link, 10_000), // TUN drops what overflows it, and says so to nobody
		netlink.AddrAdd(link, addr),
		netlink.LinkSetUp(link))
	if err == nil && withIPv6(mtu) {
		addr6 := &netlink.Addr{IPNet: &net.IPNet{IP: i.Address6.AsSlice(), Mask: net.CIDRMask(64, 128)}, Flags: unix.IFA_F_NODAD}
		err = netlink.AddrAdd(link, addr6)
	}
	if err != nil {
		return fmt.Errorf("set up %s: %w", i.Name, err)
	}
	return nil
}

// withIPv6 reports whether an interface of that MTU can carry IPv6 (RFC 8200 section 5), and the kernel has it.
func withIPv6(mtu int) bool {
	_, err := os.Stat("/proc/sys/net/ipv6")
	return err == nil && mtu >= 1280
}

// transmitDrops returns what an interface of a namespace dropped on the way out.
func transmitDrops(ns *namespace, name string) (drops uint64) {
	_ = ns.do(func() error {
		link, err := netlink.LinkByName(name)
		if err == nil && link.Attrs().Statistics != nil {
			drops = link.Attrs().Statistics.TxDropped
		}
		return err
	})
	return drops
}
