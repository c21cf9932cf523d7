package lab

import (
	"fmt"
	"maps"
	"slices"
)

// handle does a request that has one answer.
func (e *engine) handle(r request) (answer, error) {
	switch r.Do {
	case "set":
		return answer{}, e.set(r.Between, r.Settings)
	case "sysctl":
		return answer{}, e.sysctl(r.Host, r.Sysctl)
	case "show":
		return answer{State: e.state()}, nil
	case "truth":
		e.pump.mu.Lock()
		defer e.pump.mu.Unlock()
		t := e.pump.network.Truth()
		t.EmulatorRefused = e.pump.refused
		return answer{Truth: t}, nil
	case "down":
		return answer{}, nil
	}
	return answer{}, fmt.Errorf("%q: this lab does not know that request; it runs another version of pathwise", r.Do)
}

// set changes the links between two nodes, all settings or none.
func (e *engine) set(between, settings []string) error {
	if len(between) != 2 {
		return specErrorf("link: %d nodes; want two, such as london geneva", len(between))
	}
	var ids [2]int
	for i, name := range between {
		id, ok := e.plan.NodeByName(name)
		if !ok {
			return specErrorf("link: %q: no such host or router in lab %s", name, e.name)
		}
		ids[i] = id
	}
	links, reversed := e.plan.LinksBetween(ids[0], ids[1])
	if len(links) == 0 {
		return specErrorf("link: no link joins %s and %s", between[0], between[1])
	}
	var forward, reverse Shape
	for _, s := range settings {
		f, r, err := ParseSetting(s)
		if err != nil {
			return err
		}
		forward, reverse = forward.over(&f), reverse.over(&r)
	}
	e.pump.mu.Lock()
	defer e.pump.mu.Unlock()
	for k, link := range links {
		ways := [2]Shape{forward, reverse}
		if reversed[k] { // the caller named the nodes the other way round
			ways[0], ways[1] = reverse, forward
		}
		for way, shape := range ways {
			id := 2*link + way
			whole := e.plan.Directions[id].Shape.over(&shape)
			e.plan.Directions[id].Shape = whole
			e.pump.network.directions[id].set(whole)
		}
	}
	e.pump.poke()
	return nil
}

// sysctl changes settings of a host's network.
func (e *engine) sysctl(host string, settings map[string]string) error {
	ns, err := e.host(host)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if !sysctlName.MatchString(key) {
			return specErrorf("sysctl: %q: want a name below net, such as net.ipv4.tcp_rmem", key)
		}
		if err := ns.do(func() error { return writeSysctl(key, settings[key]) }); err != nil {
			return err
		}
	}
	return nil
}

func (e *engine) host(name string) (*namespace, error) {
	ns, ok := e.hosts[name]
	if !ok {
		return nil, specErrorf("host: %q: no such host in lab %s; it has %v", name, e.name, slices.Sorted(maps.Keys(e.hosts)))
	}
	return ns, nil
}

func (e *engine) state() *State {
	e.pump.mu.Lock()
	defer e.pump.mu.Unlock()
	s := &State{Schema: StateSchema, Name: e.name, Seed: e.plan.Seed}
	for _, n := range e.plan.Nodes {
		node := NodeState{Name: n.Name, Kind: "host", Addresses: []string{}}
		if n.Router {
			node.Kind = "router"
		}
		for _, id := range n.Interfaces {
			node.Addresses = append(node.Addresses, e.plan.Interfaces[id].Address.String())
		}
		s.Nodes = append(s.Nodes, node)
	}
	for l := 0; l < len(e.plan.Directions); l += 2 {
		s.Links = append(s.Links, LinkState{
			Between: [2]string{e.plan.nodeOf(l), e.plan.nodeOf(l + 1)},
			Forward: e.plan.Directions[l].Shape.state(), Reverse: e.plan.Directions[l+1].Shape.state()})
	}
	return s
}
