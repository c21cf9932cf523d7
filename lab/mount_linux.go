package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/lab/link"
)

// privateMounts gives the engine and its children a /proc that shows their own PID namespace, an /etc/hosts that names
// the lab's nodes, and no name servers: the machine's cannot be reached from inside, and waiting for them would only
// slow things down. Nothing outside the engine's mount namespace sees any of it.
func privateMounts(p *Plan) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	// Refused inside some containers, where parts of /proc are hidden. What is there serves, with outer process ids.
	_ = unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")

	// A tmpfs holds the files; it needs a folder to stand on for a moment, and stays alive below the files afterwards.
	const folder = "/mnt"
	if err := unix.Mount("pathwise", folder, "tmpfs", 0, "size=4m,mode=0755"); err != nil {
		return fmt.Errorf("mount tmpfs: %w", err)
	}
	defer func() { _ = unix.Unmount(folder, unix.MNT_DETACH) }()
	if err := mountText(folder, "/etc/hosts", hostsFile(p)); err != nil {
		return err
	}
	for _, file := range replaced {
		if _, err := os.Stat(file.path); err != nil {
			continue
		}
		if err := mountText(folder, file.path, file.text); err != nil {
			return err
		}
	}
	return nil
}

// replaced are files of the machine that hosts see otherwise, if they are there.
var replaced = []struct{ path, text string }{
	{"/etc/resolv.conf", "# a lab has no name servers; see /etc/hosts\n"},
	// Names have both addresses; a program that was not told which takes IPv4, here as in Go's own resolver (RFC 6724
	// section 10.3; the lab's IPv6 addresses are private).
	{"/etc/gai.conf", "precedence ::ffff:0:0/96 100\n"},
}

func mountText(folder, path, text string) error {
	file := filepath.Join(folder, filepath.Base(path))
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := unix.Mount(file, path, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount %s: %w", path, err)
	}
	return nil
}

func hostsFile(p *Plan) string {
	var b strings.Builder
	b.WriteString("127.0.0.1 localhost\n::1 localhost\n")
	for id, n := range p.Nodes {
		if addr := p.Address(id); addr.IsValid() {
			fmt.Fprintf(&b, "%s %s\n%s %s\n", addr, n.Name, p.Address6(id), n.Name)
		}
	}
	return b.String()
}

// defaultMTU is Ethernet's.
const defaultMTU = 1500

// MTU returns what an interface is set to: its link's MTU where that is known, as on a router, and Ethernet's where the
// link is a black hole, which nobody knows of. It is never below what Linux needs.
func (p *Plan) MTU(iface int) int {
	m := p.Directions[p.Interfaces[iface].Leaves].Shape.MTU
	switch {
	case m == nil:
		return defaultMTU
	case m.Excess == link.Discard:
		return max(defaultMTU, int(m.Size))
	}
	return int(m.Size)
}

// deviceMTU is what a host's interface takes: what it may send and what its link may bring. Where it may send less than
// that, its routes say so.
func (p *Plan) deviceMTU(iface int) int { return max(p.MTU(iface), p.MTU(p.Interfaces[iface].Peer)) }

// largestMTU is the largest MTU of any host's interface, in bytes, and Ethernet's at least.
func (p *Plan) largestMTU() int {
	largest := defaultMTU
	for _, id := range p.HostInterfaces() {
		largest = max(largest, p.deviceMTU(id))
	}
	return largest
}

// Receive rings take at most 48 MiB in all; one takes no more than 100 ms of 1.5 Gbit/s needs, and no less than 256 packets,
// a window of 384 kB at once. A lab of more than 96 interfaces has none.
const (
	ringsTotal  = 48 << 20
	ringMost    = 12288
	ringFewest  = 256
	ringDivisor = ringBlock / ringFrame // frames come in blocks
)

// ringFrames is how many frames each host interface's receive ring has; 0: there is none, as packets may be too large or
// interfaces too many.
func (p *Plan) ringFrames() int {
	if p.Offload || p.largestMTU() > ringMTU {
		return 0
	}
	frames := ringsTotal / ringFrame / max(1, len(p.HostInterfaces()))
	if frames < ringFewest {
		return 0
	}
	return min(frames, ringMost) / ringDivisor * ringDivisor
}
