package main

import (
	"context"
	"maps"
	"time"
)

// keysEvery is how often the keys on disk are looked at: `mesh deploy` makes new ones while the controller runs.
const keysEvery = 2 * time.Second

// watchKeys lets in the hosts that were deployed meanwhile, and cuts off those whose keys were withdrawn.
func (p *messaging) watchKeys(ctx context.Context) error {
	if p.server == nil {
		return nil // who runs the cluster decides who may come
	}
	tick := time.NewTicker(keysEvery)
	defer tick.Stop()
	known, err := p.keys.Agents()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		agents, readErr := p.keys.Agents()
		if readErr != nil {
			if err == nil {
				p.log.Error("read keys of agents", "error", readErr)
			}
			err = readErr
			continue
		}
		if err = nil; maps.Equal(agents, known) {
			continue
		}
		if err := p.server.SetAgents(agents); err != nil {
			p.log.Error("let agents in", "error", err)
			continue
		}
		known = agents
	}
}
