package lab

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pathwise-net/pathwise/lab/link"
)

// handle does a request that has one answer.
func (e *engine) handle(r request) (answer, error) {
	switch r.Do {
	case "set":
		return answer{}, e.set(r.Between, r.Settings, r.Dir)
	case "sysctl":
		return answer{}, e.sysctl(r.Host, r.Sysctl)
	case "replace":
		return answer{}, e.replace(r.Replace)
	case "shapes":
		return answer{Shapes: e.shapes()}, nil
	case "show":
		return answer{State: e.state()}, nil
	case "truth":
		return answer{Truth: e.truth(r.Window)}, nil
	case "route":
		return answer{}, e.route(r.Route)
	case "down":
		return answer{}, nil
	}
	return answer{}, fmt.Errorf("%q: this lab does not know that request; it runs another version of pathwise", r.Do)
}

// set changes the links between two nodes, all settings or none. Files that they name are looked for in the folder.
func (e *engine) set(between, settings []string, folder string) error {
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
	if links, _ := e.plan.LinksBetween(ids[0], ids[1]); len(links) == 0 {
		return specErrorf("link: no link joins %s and %s", between[0], between[1])
	}
	var forward, reverse Shape
	for _, s := range settings {
		f, r, err := link.ParseSetting(s)
		if err != nil {
			return err
		}
		forward, reverse = forward.Over(&f), reverse.Over(&r)
	}
	for _, shape := range []*Shape{&forward, &reverse} {
		if err := shape.ReadFiles(folder); err != nil {
			return err
		}
	}
	e.pump.mu.Lock()
	defer e.pump.mu.Unlock()
	if err := e.pump.network.CheckLinks(ids[0], ids[1], forward, reverse); err != nil {
		return err
	}
	e.pump.network.SetLinks(e.pump.now(), ids[0], ids[1], forward, reverse)
	e.pump.poke()
	return nil
}

// route changes where a node sends what it has for another.
func (e *engine) route(r *Route) error {
	if r == nil {
		return specErrorf("route: want at, to and via")
	}
	known := map[string]string{}
	for _, n := range e.plan.Nodes {
		known[n.Name] = "node"
	}
	if err := r.validate(&Spec{Links: e.links}, known); err != nil {
		return specErrorf("route: %v", err)
	}
	if at, _ := e.plan.NodeByName(r.At); !e.plan.Nodes[at].Router {
		return specErrorf("route: at: %q: is a host; its routes are its kernel's: lab exec %s -- ip route", r.At, r.At)
	}
	e.pump.mu.Lock()
	defer e.pump.mu.Unlock()
	e.pump.network.SetRoute(*r)
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
