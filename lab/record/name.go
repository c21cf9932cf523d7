package record

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// NameWith is the flow's name with nodes instead of addresses, as names has them: "tcp bob:38412 > carol:5201",
// "icmp bob > carol id 7". An address that names lacks stands for itself.
func (f *FlowTruth) NameWith(names map[string]string) string {
	if f.Source == "" {
		return f.Name // "others"
	}
	end := func(address string, port uint16) string {
		name, known := names[address]
		switch {
		case !known && port != 0:
			return net.JoinHostPort(address, strconv.Itoa(int(port)))
		case !known:
			return address
		case port != 0:
			return fmt.Sprintf("%s:%d", name, port)
		}
		return name
	}
	if id := max(f.SourcePort, f.TargetPort); strings.HasPrefix(f.Protocol, "icmp") && id != 0 {
		return fmt.Sprintf("%s %s > %s id %d", f.Protocol, end(f.Source, 0), end(f.Target, 0), id)
	}
	return fmt.Sprintf("%s %s > %s", f.Protocol, end(f.Source, f.SourcePort), end(f.Target, f.TargetPort))
}
