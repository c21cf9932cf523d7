package record

import "testing"

func TestNameWith(t *testing.T) {
	names := map[string]string{"10.0.0.1": "bob", "fd70::2": "carol"}
	for _, c := range []struct {
		flow FlowTruth
		want string
	}{
		{FlowTruth{Name: "others"}, "others"},
		{FlowTruth{Protocol: "udp", Source: "10.0.0.1", SourcePort: 5, Target: "10.0.0.10", TargetPort: 7}, "udp bob:5 > 10.0.0.10:7"},
		{FlowTruth{Protocol: "tcp", Source: "fd70::9", SourcePort: 5, Target: "fd70::2", TargetPort: 7}, "tcp [fd70::9]:5 > carol:7"},
		{FlowTruth{Protocol: "icmp", Source: "10.0.0.1", SourcePort: 77, Target: "10.0.0.10"}, "icmp bob > 10.0.0.10 id 77"},
		{FlowTruth{Protocol: "icmpv6", Source: "fd70::2", Target: "fd70::9", TargetPort: 77}, "icmpv6 carol > fd70::9 id 77"},
		{FlowTruth{Protocol: "47", Source: "10.0.0.1", Target: "fd70::2"}, "47 bob > carol"},
	} {
		if got := c.flow.NameWith(names); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
