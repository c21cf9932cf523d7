package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Fingerprint tells whether a test of one Mesh is the same work as that of the same name in another: the same tool, at
// the same times, between the same hosts, by the same addresses. It does not change with what has no part in the test,
// with the order of hosts in the file, or with the way that things are written.
func (m *Mesh) Fingerprint(t *Test) string {
	tool := m.Tool(t.Tool)
	g := m.Group(t.Group)
	work := struct {
		Tool     Tool
		Schedule Schedule
		Shape    Shape
		OneWay   bool
		Family   int
		Active   bool
		Sides    [2]map[string]fingerprintEnd
		Pairs    map[string]bool
		Excluded []string
	}{Tool: *tool, Schedule: t.Schedule, Shape: g.Shape, OneWay: g.OneWay, Family: t.Family, Active: m.Active(t)}
	for i, list := range [][]int{append(g.ends(), g.Left...), g.Right} {
		work.Sides[i] = map[string]fingerprintEnd{}
		for _, h := range list {
			work.Sides[i][m.Hosts[h].Name] = m.fingerprintEnd(t, h)
		}
	}
	work.Pairs = map[string]bool{}
	for _, p := range g.Pairs {
		work.Pairs[m.Hosts[p[0]].Name+" "+m.Hosts[p[1]].Name] = true
	}
	part := set(slices.Concat(g.Left, g.Right, g.ends()))
	for _, x := range slices.Concat(t.always, t.timed) {
		work.Excluded = append(work.Excluded, m.describe(x, part))
	}
	slices.Sort(work.Excluded)
	text, err := json.Marshal(work)
	if err != nil { // nothing in it can fail; but what did must not pass for unchanged
		text = fmt.Appendf(nil, "%#v", work)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]) // 64 bits: of a thousand tests, no two by accident
}

// fingerprintEnd is what a host is to a test.
type fingerprintEnd struct {
	Addresses []string
	Source    bool
	Offline   bool
	Own       map[string]any
	Fixed     map[string]int
}

func (m *Mesh) fingerprintEnd(t *Test, host int) fingerprintEnd {
	h := &m.Hosts[host]
	end := fingerprintEnd{nil, m.runs(host), h.Offline, h.Overrides[t.Tool], h.Ports.Fixed}
	for _, o := range m.options(t, m.Tool(t.Tool), host) {
		end.Addresses = append(end.Addresses, h.Interfaces[o.part].Name+" "+o.address)
	}
	return end
}

// describe prints an exclusion by the names of those of its hosts that have a part.
func (m *Mesh) describe(x *Exclusion, part map[int]bool) string {
	var lines []string
	for end, hosts := range map[string][]bool{"host": x.host, "source": x.source, "target": x.target} {
		if hosts != nil {
			lines = append(lines, end)
		}
		for h, in := range hosts {
			if in && part[h] {
				lines = append(lines, end+" "+m.Hosts[h].Name)
			}
		}
	}
	for p := range x.pair {
		if part[p[0]] && part[p[1]] {
			lines = append(lines, "pair "+m.Hosts[p[0]].Name+" "+m.Hosts[p[1]].Name)
		}
	}
	slices.Sort(lines)
	for _, h := range x.Hours {
		lines = append(lines, fmt.Sprint(h, h.Days))
	}
	return strings.Join(append(lines, x.Direction, x.Zone), "\n")
}
