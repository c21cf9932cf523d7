package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/pathwise-net/pathwise/lab/link"
)

// AdapterVariable names, in the environment of a lab's commands, the file in memory in which the engine keeps what hosts'
// adapters have counted: a JSON object by host and interface.
const AdapterVariable = "PATHWISE_LAB_ADAPTERS"

// adapters are counters by host and interface.
type adapters map[string]map[string]link.Adapter

// adapterTries is how often a file is read that was being written.
const adapterTries = 3

// ReadAdapters returns what the Ethernet adapters of the lab's host on which this process runs have counted, by interface,
// as a host's own would tell (ethtool -S). It is nil outside of labs, and has no interface whose link was never anything
// but full duplex: those count nothing. It is up to date to 50 ms.
func ReadAdapters() (map[string]link.Adapter, error) {
	path := os.Getenv(AdapterVariable)
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

// adapters returns the counters of the hosts' ends of links that are shared media, or were.
func (n *Network) adapters() adapters {
	all := adapters{}
	for id, d := range n.plan.Directions {
		node := n.plan.Nodes[n.plan.Interfaces[d.From].Node]
		if n.media[id/2] == nil || node.Router {
			continue
		}
		if all[node.Name] == nil {
			all[node.Name] = map[string]link.Adapter{}
		}
		all[node.Name][n.plan.Interfaces[d.From].Name] = n.directions[id].Counts().Adapter
	}
	return all
}
