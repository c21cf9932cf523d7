package lab

import "github.com/pathwise-net/pathwise/lab/link"

// adapters are counters by host and interface, as the engine keeps them in a file in memory that programs on its hosts read (sock.AdapterVariable). It has no
// interface whose link was never anything but full duplex without pauses: those count nothing.
type adapters map[string]map[string]link.Adapter

// adapters returns the counters, by a time, of the hosts' ends of links that are shared media or pause, or did.
func (n *Network) adapters(now int64) adapters {
	all := adapters{}
	for id, d := range n.plan.Directions {
		node := n.plan.Nodes[n.plan.Interfaces[d.From].Node]
		counts, counted := n.directions[id].Adapter(now, n.directions[id^1])
		if !counted || node.Router {
			continue
		}
		if all[node.Name] == nil {
			all[node.Name] = map[string]link.Adapter{}
		}
		all[node.Name][n.plan.Interfaces[d.From].Name] = counts
	}
	return all
}
