package report

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/diagnose"
)

// addressLike finds what may be an IP address; netip decides.
var addressLike = regexp.MustCompile(`[0-9A-Fa-f:.]*[0-9A-Fa-f]{1,4}[:.][0-9A-Fa-f:.]*(%[0-9A-Za-z._-]+)?`)

// shortestName is the length from which the name of a host is masked: shorter ones tell nothing of anybody, and are words.
const shortestName = 3

// Mask returns the report with other addresses and names in place of those of hosts and routers, the same one for the same one
// everywhere, in numbers, texts, commands and Results. What people told is theirs, and is masked likewise. Names of one or two
// letters stay.
func (p Problem) Mask() (Problem, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return p, fmt.Errorf("mask report: %w", err)
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return p, fmt.Errorf("mask report: %w", err)
	}
	m := &mask{addresses: map[netip.Addr]string{}, names: map[string]string{}}
	results := p.Diagnosis.Results
	if s := p.Diagnosis.Segments; s != nil {
		results = slices.Concat(results, s.Results)
	}
	for _, r := range results { // in their order, so that the source is the first
		m.learn(r.Source.Name, r.Target.Name)
	}
	for _, r := range results {
		for _, e := range r.Samples.Ends {
			m.learn(e.Host)
		}
	}
	m.learnParts(p.Diagnosis.Segments)
	for _, h := range p.Hosts {
		m.learn(h.Name)
	}
	m.compile()
	text, err = json.Marshal(m.walk(tree))
	if err != nil {
		return p, fmt.Errorf("mask report: %w", err)
	}
	masked := Problem{Diagnosis: &diagnose.Diagnosis{}}
	if err := json.Unmarshal(text, &masked); err != nil {
		return p, fmt.Errorf("mask report: %w", err)
	}
	masked.Masked = true
	return masked, nil
}

// mask gives each address and name another one.
type mask struct {
	addresses map[netip.Addr]string
	names     map[string]string
	named     *regexp.Regexp // nil: no name is masked
}

func (m *mask) learn(names ...string) {
	for _, name := range names {
		if _, known := m.names[name]; known || len(name) < shortestName {
			continue
		}
		if _, err := netip.ParseAddr(name); err != nil {
			m.names[name] = fmt.Sprintf("host-%d", len(m.names)+1)
		}
	}
}

// learnParts takes the names of points, of which some may not have been measured.
func (m *mask) learnParts(s *diagnose.Parts) {
	if s == nil {
		return
	}
	for _, one := range s.Segments {
		for _, name := range []string{one.From, one.To} {
			if name != diagnose.Here {
				m.learn(name)
			}
		}
	}
	for _, point := range s.Points {
		m.learn(point.Name)
	}
}

// compile makes one expression of all names, the longest first: one may be the beginning of another.
func (m *mask) compile() {
	var all []string
	for name := range m.names {
		all = append(all, regexp.QuoteMeta(name))
	}
	if len(all) == 0 {
		return
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	m.named = regexp.MustCompile(`\b(` + strings.Join(all, "|") + `)\b`)
}

// walk masks every text of a JSON document: all values, and no key.
func (m *mask) walk(node any) any {
	switch n := node.(type) {
	case string:
		return m.text(n)
	case []any:
		for i := range n {
			n[i] = m.walk(n[i])
		}
	case map[string]any:
		for _, k := range sortedKeys(n) {
			n[k] = m.walk(n[k])
		}
	}
	return node
}

func (m *mask) text(s string) string {
	s = addressLike.ReplaceAllStringFunc(s, func(found string) string {
		end := strings.TrimRight(found, ".:") // a sentence, or a port after it
		host, port := end, ""
		addr, err := netip.ParseAddr(host)
		if err != nil { // 192.0.2.1:5201
			ap, perr := netip.ParseAddrPort(end)
			if perr != nil {
				return found
			}
			addr, port = ap.Addr(), fmt.Sprintf(":%d", ap.Port())
		}
		return m.address(addr) + port + found[len(end):]
	})
	if m.named != nil {
		s = m.named.ReplaceAllStringFunc(s, func(name string) string { return m.names[name] })
	}
	return s
}

// address gives an address of the blocks for documentation (RFC 5737, RFC 3849), by order of appearance. Those of this host stay.
func (m *mask) address(a netip.Addr) string {
	if a.IsLoopback() || a.IsUnspecified() {
		return a.String()
	}
	if _, known := m.addresses[a]; !known {
		n := len(m.addresses) + 1
		if a.Is4() && n < 255 {
			m.addresses[a] = fmt.Sprintf("192.0.2.%d", n)
		} else {
			m.addresses[a] = fmt.Sprintf("2001:db8::%x", n)
		}
	}
	return m.addresses[a]
}
