package config

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/respond"
)

// defaultPorts are what an agent may listen on if its host's ports are not given: iperf3's port and those after it,
// which sites that test already let through their firewalls.
var defaultPorts = Ports{First: 5201, Last: 5300}

// defaultHost is what a host is whose keys say nothing.
func defaultHost(name string) Host { return Host{Name: name, Reach: ReachAgent, Ports: defaultPorts} }

// EveryHost is the selection that means all of them, so that no host may have that name.
const EveryHost = "all"

// host reads the section hosts.
func (r *reader) host(n node) {
	for _, e := range n.entries("{ucl: {address: 192.0.2.1}}") {
		h := defaultHost(e.key)
		if value(e.at, &h.Name, parseName) && e.key == EveryHost {
			e.at.fail(e.key, "another name: this one means every host")
		}
		if !r.define(e.at) {
			continue
		}
		addressed := !e.value.isNull()
		if !e.value.isMapping() {
			readAddresses(&h)(e.value)
		} else {
			addressed = r.hostFields(e.value, &h)
		}
		if !addressed {
			e.at.fail("", "an address, or interfaces, each with an address")
		}
		slices.Sort(h.Labels)
		h.Labels = slices.Compact(h.Labels)
		r.addHost(h)
	}
}

func (r *reader) addHost(h Host) {
	m := r.mesh
	h.options, h.site = h.optionsOf(), -1
	if i, ok := m.sites[h.Site]; ok {
		h.site = i
		m.Sites[i].Hosts = append(m.Sites[i].Hosts, len(m.Hosts))
	}
	m.hosts[h.Name] = len(m.Hosts)
	m.Hosts = append(m.Hosts, h)
}

// hostFields reads a host's keys, and says whether they hold its addresses.
func (r *reader) hostFields(n node, h *Host) (addressed bool) {
	online, rate := true, 0.0
	given := n.fields("{address: 192.0.2.1}", fields{
		"address":    readAddresses(h),
		"interfaces": func(n node) { readInterfaces(n, h) },
		"rate":       into(&rate, quantity.ParseRate),
		"reach":      func(n node) { readReach(n, h) },
		"site":       func(n node) { r.siteOf(n, h) },
		"labels":     values(&h.Labels, parseTitle),
		"online":     into(&online, parseBool),
		"ports":      func(n node) { r.portsOf(n, h) },
		"limits":     func(n node) { n.fields("{daily: 50GB}", budgetFields(&h.Budget)) },
		"tools":      func(n node) { r.overrides(n, h) },
	})
	h.Offline = !online
	interfaces, parts := given["interfaces"]
	_, one := given["address"]
	if parts {
		for _, key := range []string{"address", "rate"} {
			if _, two := given[key]; two {
				interfaces.fail("", "either interfaces, each with its address and rate, or %s here", key)
			}
		}
	} else if len(h.Interfaces) > 0 {
		h.Interfaces[0].BitsPerSecond = rate
	}
	if h.SSH != nil && h.SSH.Address == "" && len(h.Interfaces) > 0 { // it is where the controller logs in
		r.mesh.outward[join(n.path, "address")] = h.Interfaces[0].Addresses[0]
	}
	responder := h.Reach == ReachResponder
	if ports, has := given["ports"]; has && (h.Ports.Fixed != nil) != responder {
		ports.fail("", "of an agent a range such as 5201-5300, of a responder its ports by kind such as {iperf3: 5201}")
	} else if !has && responder {
		h.Ports = Ports{}
	}
	return one || parts
}

// readAddresses reads one address or several, of an interface that has no name.
func readAddresses(h *Host) func(node) {
	return func(n node) {
		i := Interface{}
		values(&i.Addresses, parseAddress)(n)
		if len(i.Addresses) > 0 {
			h.Interfaces = append(h.Interfaces, i)
		}
	}
}

func readInterfaces(n node, h *Host) {
	for _, e := range n.entries("{eth0: {address: 192.0.2.1, rate: 10gbit}}") {
		i := Interface{}
		value(e.at, &i.Name, parseName)
		if !e.value.isMapping() {
			values(&i.Addresses, parseAddress)(e.value)
		} else {
			e.value.fields("{address: 192.0.2.1, rate: 10gbit}", fields{
				"address": values(&i.Addresses, parseAddress),
				"rate":    into(&i.BitsPerSecond, quantity.ParseRate),
			})
		}
		if len(i.Addresses) == 0 {
			e.at.fail("", "an address")
			continue
		}
		h.Interfaces = append(h.Interfaces, i)
	}
}

func readReach(n node, h *Host) {
	want := "agent, ssh or responder, or {ssh: {user: pathwise}}"
	if n.isScalar() {
		h.Reach = Reach(n.text())
		kinds := []string{string(ReachAgent), string(ReachSSH), string(ReachResponder)}
		if !slices.Contains(kinds, n.text()) {
			n.fail(n.text(), "%s%s", want, document.Meant(n.text(), kinds))
		}
	} else {
		n.fields("{ssh: {user: pathwise}}", fields{"ssh": func(n node) { readSSH(n, h) }})
	}
	if h.Reach == ReachSSH {
		n.noteOutward()
	}
	if h.Reach == ReachSSH && h.SSH == nil {
		h.SSH = &SSH{Leave: true}
	}
}

func readSSH(n node, h *Host) {
	h.Reach, h.SSH = ReachSSH, &SSH{Leave: true}
	n.fields("{user: pathwise}", fields{
		"address":     into(&h.SSH.Address, parseAddress),
		"port":        into(&h.SSH.Port, parsePort),
		"user":        into(&h.SSH.User, parseName),
		"key":         into(&h.SSH.Key, parseText),
		"known_hosts": into(&h.SSH.KnownHosts, parseText),
		"binary":      into(&h.SSH.Binary, parseText),
		"directory":   into(&h.SSH.Directory, parseText),
		"leave":       into(&h.SSH.Leave, parseBool),
	})
}

// portsOf reads the ports of an agent, or what a responder answers: kinds of responder, and the servers of tools that are programs.
func (r *reader) portsOf(n node, h *Host) {
	if n.isScalar() {
		value(n, &h.Ports, parseRange)
		return
	}
	h.Ports = Ports{Fixed: map[string]int{}}
	known := respond.Listening()
	for _, e := range n.entries("{iperf3: 5201}") {
		i, named := r.mesh.tools[e.key]
		if program := named && r.mesh.Tools[i].Command != nil; !program && !slices.Contains(known, e.key) {
			e.at.fail(e.key, "%s, or the name of a tool that is a command%s", strings.Join(known, ", "),
				document.Meant(e.key, known))
			continue
		}
		var port int
		if value(e.value, &port, parsePort) {
			h.Ports.Fixed[e.key] = port
		}
	}
}

// parseRange reads a range of ports, or one.
func parseRange(s string) (Ports, error) {
	first, last, two := strings.Cut(s, "-")
	if !two {
		last = first
	}
	a, err := strconv.Atoi(first)
	b, err2 := strconv.Atoi(last)
	if err != nil || err2 != nil || a < 1 || b < a || b > 65535 {
		return Ports{}, bad(s, "a range of ports such as 5201-5300")
	}
	return Ports{First: a, Last: b}, nil
}

// overrides reads a host's own parameters of tools.
func (r *reader) overrides(n node, h *Host) {
	h.Overrides = map[string]map[string]any{}
	for _, e := range n.entries("{bbcp: {path: /data}}") {
		if _, known := r.mesh.tools[e.key]; !known {
			e.at.fail(e.key, "the name of a tool%s", document.Meant(e.key, slices.Sorted(maps.Keys(r.mesh.tools))))
			continue
		}
		tool := r.mesh.Tool(e.key)
		e.value.noteParameters(tool.Kind)
		h.Overrides[e.key] = r.override(e.value, tool)
	}
}
