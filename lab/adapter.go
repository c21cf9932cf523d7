package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/sock"
)

// adapters are counters by host and interface, as the engine keeps them in a file in memory that its commands may read (sock.AdapterVariable).
type adapters map[string]map[string]link.Adapter

// adapterTries is how often a file is read that was being written.
const adapterTries = 3

// ReadAdapters returns what the Ethernet adapters of the lab's host on which this process runs have counted, by interface,
// as a host's own would tell (ethtool -S). It is nil outside of labs, and has no interface whose link was never anything
// but full duplex without pauses: those count nothing. It is up to date to 50 ms.
func ReadAdapters() (map[string]link.Adapter, error) {
	path := os.Getenv(sock.AdapterVariable)
	if path == "" {
		return nil, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("read adapters: %w", err)
	}
	var faults []error
	for range adapterTries {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read adapters: %w", err)
		}
		var all adapters
		if err = json.Unmarshal(text, &all); err == nil {
			return all[host], nil
		}
		faults = append(faults, err)
	}
	return nil, fmt.Errorf("read adapters: %w", errors.Join(faults...))
}

// adapters returns the counters of the hosts' ends of links that are shared media or pause, or did.
func (n *Network) adapters() adapters {
	all := adapters{}
	for id, d := range n.plan.Directions {
		node := n.plan.Nodes[n.plan.Interfaces[d.From].Node]
		counts, counted := n.directions[id].Adapter(n.directions[id^1])
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
