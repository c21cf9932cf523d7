package agent

import (
	"fmt"
	"net"
	"os/exec"

	"github.com/pathwise-net/pathwise/agent/policy"
	"github.com/pathwise-net/pathwise/agent/spool"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/sock"
)

// look finds what this host cannot do, by trying, and what its owner forbids to all.
func look(p *policy.Policy) []fleet.MissingCapability {
	lacks := []fleet.MissingCapability{}
	lack := func(kind, what, why string) {
		lacks = append(lacks, fleet.MissingCapability{Kind: kind, What: what, Why: why})
	}
	// Opening a socket of package sock asks for the kernel's time stamps, too.
	if s, err := sock.OpenEcho(false); err != nil {
		lack("ping", "raw-sockets", err.Error())
	} else {
		s.Close()
	}
	if s, err := sock.OpenUDP(false); err != nil {
		lack("trace", "timestamps", err.Error())
	} else {
		s.Close()
	}
	if why := noIPv6(net.InterfaceAddrs()); why != "" {
		lack("", "ipv6", why)
	}
	for _, kind := range probe.Kinds() {
		if !p.AllowsKind(kind.Name) {
			lack(kind.Name, "policy", "the owner of this host allows no "+kind.Name)
		}
	}
	if !p.AllowsOpening(measure.ResponderIperf3) {
		lack("", "target", "the owner of this host lets no "+measure.ResponderIperf3+" listener be opened")
	}
	programs := p.AllPrograms()
	if len(programs) > 0 && !p.AllowsOpening(measure.ResponderCommand) {
		lack("", "target "+measure.ResponderCommand, "the owner of this host lets no program answer others' tests")
	}
	if len(programs) == 0 {
		lack("command", "programs", "the owner of this host allows no external programs")
	}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			lack("command", "program "+program, err.Error())
		}
	}
	return lacks
}

// noIPv6 says why a host reaches nobody by IPv6, or "".
func noIPv6(addresses []net.Addr, err error) string {
	if err != nil {
		return err.Error()
	}
	for _, address := range addresses {
		if n, ok := address.(*net.IPNet); ok && n.IP.To4() == nil && n.IP.IsGlobalUnicast() {
			return ""
		}
	}
	return "no interface has an IPv6 address beyond its link"
}

// disk says what the spool cannot keep.
func disk(s spool.State) (lacks []fleet.MissingCapability) {
	if s.Trouble != nil {
		lacks = append(lacks, fleet.MissingCapability{What: "disk", Why: fmt.Sprintf("%v; %d Results are in memory only", s.Trouble, s.Memory)})
	}
	if s.Dropped > 0 {
		lacks = append(lacks, fleet.MissingCapability{What: "room", Why: fmt.Sprintf("%d Results were lost for want of room", s.Dropped)})
	}
	return lacks
}
