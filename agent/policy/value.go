package policy

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/respond"
)

// The values of a policy file: a Rate in bit/s, a Span of time, a Size in bytes, as package quantity reads them
// ("100mbit", "30s", "10GB"); a Count of things; a Name; Names, which may also stand alone, without a list; a Network such as
// 192.0.2.0/24; Ports such as 5201 or 5201-5299.
type (
	Rate    float64
	Span    time.Duration
	Size    int64
	Count   int
	Name    string
	Names   []string
	Network netip.Prefix
	Ports   struct{ First, Last int }
)

func (r *Rate) UnmarshalYAML(n ast.Node) error {
	return document.One(n, (*float64)(r), quantity.ParseRate)
}
func (s *Size) UnmarshalYAML(n ast.Node) error {
	return document.One(n, (*int64)(s), quantity.ParseSize)
}
func (s *Span) UnmarshalYAML(n ast.Node) error {
	return document.One(n, (*time.Duration)(s), quantity.ParseDuration)
}
func (c *Count) UnmarshalYAML(n ast.Node) error { return document.One(n, (*int)(c), parseCount) }
func (w *Network) UnmarshalYAML(n ast.Node) error {
	return document.One(n, (*netip.Prefix)(w), parseNetwork)
}
func (p *Ports) UnmarshalYAML(n ast.Node) error { return document.One(n, p, parsePorts) }
func (m *Name) UnmarshalYAML(n ast.Node) error  { return document.One(n, (*string)(m), parseName) }
func (h *Hours) UnmarshalYAML(n ast.Node) error { return document.One(n, h, ParseHours) }

// UnmarshalYAML reads one name or a list.
func (l *Names) UnmarshalYAML(n ast.Node) error {
	*l = Names{}
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		list = &ast.SequenceNode{Values: []ast.Node{n}}
	}
	for _, value := range list.Values {
		var name string
		if err := document.One(value, &name, parseName); err != nil {
			return err
		}
		*l = append(*l, name)
	}
	return nil
}

func parseName(text string) (string, error) {
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' }) {
		return "", fmt.Errorf("%q: want a name without spaces", text)
	}
	return text, nil
}

func parseCount(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q: want a whole number from 1 on", text)
	}
	return n, nil
}

func parseNetwork(text string) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return prefix, fmt.Errorf("%q: want a network such as 192.0.2.0/24 or 2001:db8::/32", text)
	}
	if prefix != prefix.Masked() {
		return prefix, fmt.Errorf("%q: bits behind the prefix are set; want %v", text, prefix.Masked())
	}
	return prefix, nil
}

func parsePorts(text string) (Ports, error) {
	first, last, span := strings.Cut(text, "-")
	if !span {
		last = first
	}
	a, errA := strconv.ParseUint(strings.TrimSpace(first), 10, 16)
	b, errB := strconv.ParseUint(strings.TrimSpace(last), 10, 16)
	if errA != nil || errB != nil || a == 0 || b < a {
		return Ports{}, fmt.Errorf("%q: want a port or ports such as 5201-5299", text)
	}
	return Ports{int(a), int(b)}, nil
}

func (p Ports) withDefault() Ports {
	if p == (Ports{}) {
		return Ports{1024, 65535} // below, systems keep their own
	}
	return p
}

func (p Ports) hold(port int) bool {
	p = p.withDefault()
	return port >= p.First && port <= p.Last
}

func (p Ports) String() string { return fmt.Sprintf("%d-%d", p.First, p.Last) }

// checkResponders says what is wrong with a list of kinds of responder.
func (l Names) checkResponders() error {
	known := respond.Names()
	for _, name := range l {
		if !slices.Contains(known, name) {
			return fmt.Errorf("%q: want %s%s", name, strings.Join(known, ", "), document.Meant(name, known))
		}
	}
	return nil
}

// check says what is wrong with a list of programs.
func (l Names) check() error {
	if i := slices.IndexFunc(l, func(name string) bool { return !path.IsAbs(name) || path.Clean(name) != name }); i >= 0 {
		return fmt.Errorf("%q: want an absolute path, such as /usr/bin/bbcp", l[i])
	}
	return nil
}
