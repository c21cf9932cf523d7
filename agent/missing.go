package agent

import (
	"fmt"
	"net"
	"os/exec"

	"github.com/pathwise-net/pathwise/agent/policy"
	"github.com/pathwise-net/pathwise/agent/spool"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/respond"
)

// look finds what kinds of Task need and this host lacks, by trying, and what its owner forbids to all.
func look(p *policy.Policy, kinds []probe.Kind) []fleet.MissingCapability {
	missing := []fleet.MissingCapability{}
	add := func(kind, what, why string) {
		missing = append(missing, fleet.MissingCapability{Kind: kind, What: what, Why: why})
	}
	for _, kind := range kinds {
		for _, need := range kind.Needs {
			if err := need.Try(); err != nil {
				add(need.Of(kind.Name), need.What, err.Error())
			}
		}
		if !p.AllowsKind(kind.Name) {
			add(kind.Name, "policy", "the owner of this host allows no "+kind.Name)
		}
	}
	if why := noIPv6(net.InterfaceAddrs()); why != "" {
		add("", "ipv6", why)
	}
	programs := p.AllPrograms()
	for _, kind := range respond.Kinds() {
		switch {
		case p.AllowsOpening(kind.Name):
		case !kind.Program:
			add("", respond.Lack(kind.Name), "the owner of this host lets no "+kind.Name+" listener be opened")
		case len(programs) > 0:
			add("", respond.Lack(kind.Name), "the owner of this host lets no program answer others' tests")
		}
	}
	if len(programs) == 0 {
		add("command", "programs", "the owner of this host allows no external programs")
	}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			add("command", "program "+program, err.Error())
		}
	}
	return missing
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
func disk(s spool.State) (missing []fleet.MissingCapability) {
	if s.Trouble != nil {
		missing = append(missing, fleet.MissingCapability{What: "disk",
			Why: fmt.Sprintf("%v; %d Results are in memory only", s.Trouble, s.Memory)})
	}
	if s.Dropped > 0 {
		missing = append(missing, fleet.MissingCapability{What: "room", Why: fmt.Sprintf("%d Results were lost for want of room", s.Dropped)})
	}
	return missing
}
