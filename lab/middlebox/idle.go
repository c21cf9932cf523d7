package middlebox

import (
	"cmp"
	"fmt"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// Idle is after how long without a packet a mapping or a connection is forgotten. In a lab file a plain time stands for
// all four. Zero fields have the defaults.
type Idle struct {
	// TCP is for connections of which both ends were heard; default 7440 s (RFC 5382 REQ-5).
	TCP notation.Span `yaml:"tcp" json:"tcp,omitempty"`
	// Opening is for those before that, and NAT's after their end; default 240 s (the same).
	Opening notation.Span `yaml:"opening" json:"opening,omitempty"`
	UDP     notation.Span `yaml:"udp" json:"udp,omitempty"`   // default 300 s (RFC 4787 REQ-5)
	ICMP    notation.Span `yaml:"icmp" json:"icmp,omitempty"` // of an echo's identifier; default 60 s (RFC 5508 REQ-2)
}

const (
	defaultTCP     = 7440 * time.Second
	defaultOpening = 240 * time.Second
	defaultUDP     = 300 * time.Second
	defaultICMP    = 60 * time.Second

	// How long a firewall remembers a connection after its end, for what is still under way: as Linux' connection
	// tracking does, after both FINs and after a RST.
	lingerClosed = 120 * time.Second
	lingerReset  = 10 * time.Second
)

// UnmarshalYAML reads "60s" or {tcp: 60s, udp: 30s}.
func (i *Idle) UnmarshalYAML(node ast.Node) error {
	if _, plain := document.Scalar(node); plain {
		var all notation.Span
		if err := all.UnmarshalYAML(node); err != nil {
			return err
		}
		if all <= 0 {
			return document.At(node, fmt.Errorf("%q: want a time above 0", all))
		}
		*i = Idle{TCP: all, Opening: all, UDP: all, ICMP: all}
		return nil
	}
	type full Idle
	return document.Decode(node, (*full)(i))
}

func (i *Idle) validate(of string) error {
	if i != nil && min(i.TCP, i.Opening, i.UDP, i.ICMP) < 0 {
		return document.Errorf("%s: idle: want times above 0", of)
	}
	return nil
}

// String returns YAML that reads back.
func (i Idle) String() string {
	if i.TCP != 0 && i == (Idle{i.TCP, i.TCP, i.TCP, i.TCP}) {
		return i.TCP.String()
	}
	var f flow
	for _, part := range []struct {
		key  string
		span notation.Span
	}{{"tcp", i.TCP}, {"opening", i.Opening}, {"udp", i.UDP}, {"icmp", i.ICMP}} {
		f.add(part.span != 0, part.key, part.span.String())
	}
	return f.String()
}

// limits returns the times by stage, in nanoseconds. What ends lingers no longer than it would live.
func (i *Idle) limits(afterFIN, afterRST time.Duration) [stages]int64 {
	set := i.orZero()
	tcp := orDefault(set.TCP, defaultTCP)
	return [stages]int64{
		opening: orDefault(set.Opening, defaultOpening),
		open:    tcp,
		closed:  min(int64(afterFIN), tcp),
		aborted: min(int64(afterRST), tcp),
		udp:     orDefault(set.UDP, defaultUDP),
		icmp:    orDefault(set.ICMP, defaultICMP),
	}
}

// afterEnd is how long NAT remembers a connection that has ended.
func (i *Idle) afterEnd() time.Duration {
	return time.Duration(orDefault(i.orZero().Opening, defaultOpening))
}

func (i *Idle) orZero() Idle {
	if i == nil {
		return Idle{}
	}
	return *i
}

func orDefault(s notation.Span, d time.Duration) int64 {
	return cmp.Or(int64(s), int64(d))
}
