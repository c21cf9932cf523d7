package link

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/chance"
	"github.com/pathwise-net/pathwise/lab/packet"
)

// Rules take packets out of a link's own pipe, as Dummynet's do: the first rule that matches a packet takes it through
// a pipe of its own shape, in place of the link's. Whether the link is down, and its outage, hold for all packets.
//
//	rules:
//	  - {match: {protocol: udp, port: 5201}, rate: 1mbit, loss: 1%}
//	  - {match: {source: 10.0.0.0/24}, per: flow, rate: 256kbit}        each flow has a pipe
type Rules []Rule

// Rule is one of Rules. A rule without a match takes every packet.
type Rule struct {
	Match *packet.Match `yaml:"match" json:"match,omitempty"`
	Per   Per           `yaml:"per" json:"per,omitempty"`
	Shape `yaml:",inline"`
}

// Per says which packets of a rule share a pipe.
type Per string

// The values of Per.
const (
	PerRule   Per = ""       // all
	PerFlow   Per = "flow"   // those of one flow: addresses, ports and protocol
	PerSource Per = "source" // those of one source address
	PerTarget Per = "target" // those to one target address
)

// maxRules bounds what each packet is held against.
const maxRules = 256

// Validate returns what is wrong, as a *document.Error.
func (p *Per) Validate() error {
	switch *p {
	case PerRule, PerFlow, PerSource, PerTarget:
		return nil
	}
	return document.Errorf("%q: want flow, source or target", string(*p))
}

// UnmarshalYAML reads a name.
func (p *Per) UnmarshalYAML(node ast.Node) error {
	if err := name(node, p); err != nil {
		return err
	}
	if *p == PerRule {
		return document.At(node, document.Errorf(`"": want flow, source or target`))
	}
	return nil
}

// Validate returns what is wrong, as a *document.Error that names the rule.
func (r *Rules) Validate() error {
	if len(*r) > maxRules {
		return document.Errorf("%d; want at most %d", len(*r), maxRules)
	}
	for i := range *r {
		if err := (*r)[i].Validate(); err != nil {
			return document.Errorf("number %d: %v", i+1, err)
		}
	}
	return nil
}

// Validate returns what is wrong, as a *document.Error.
func (r *Rule) Validate() error {
	if r.Match != nil {
		if err := r.Match.Validate(); err != nil {
			return document.Errorf("match: %v", err)
		}
	}
	if err := r.Per.Validate(); err != nil {
		return document.Errorf("per: %v", err)
	}
	switch {
	case r.Rules != nil:
		return document.Errorf("rules: a rule has none of its own")
	case r.MTU != nil:
		return document.Errorf("mtu: is the link's; want it outside of the rules")
	case r.Duplex != nil:
		return document.Errorf("duplex: is the link's; want it outside of the rules")
	case r.Pause != nil:
		return document.Errorf("pause: is the link's; want it outside of the rules")
	case r.Per == PerFlow && r.Outage != nil && r.Outage.Per == chance.PerConnection: // 4096 tables of 229 kB
		return document.Errorf("outage: per connection does not go with per: flow; leave it out, each flow has an outage of its own")
	}
	return r.Shape.Validate()
}

func (r Rule) String() string {
	var entries []string
	if r.Match != nil {
		entries = append(entries, fmt.Sprintf("match: %v", r.Match))
	}
	if r.Per != PerRule {
		entries = append(entries, "per: "+string(r.Per))
	}
	return "{" + strings.Join(append(entries, r.entries()...), ", ") + "}"
}

func (r Rules) String() string {
	var texts []string
	for _, rule := range r {
		texts = append(texts, rule.String())
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
