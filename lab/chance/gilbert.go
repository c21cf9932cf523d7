package chance

import (
	"cmp"
	"math/rand/v2"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// Gilbert is the loss model of Gilbert (1960) and Elliott (1963): a path is in a good or a bad state, each with its own
// loss, and may change from packet to packet.
//
//	                enter
//	            .----------->.
//	1-enter (  good          bad  ) 1-leave        share of time in the bad state = enter / (enter + leave)
//	            '<-----------'                     mean stay there in packets     = 1 / leave
//	                leave
//
// It is given by Enter and Leave, or by Ratio and Burst: the mean loss and the mean run of lost packets when all are
// lost in the bad state and none in the good one. The first packet finds the state as likely bad as any later one.
type Gilbert struct {
	Enter notation.Ratio  `yaml:"enter" json:"enter,omitempty"` // chance, before a packet, to go from good to bad
	Leave notation.Ratio  `yaml:"leave" json:"leave,omitempty"` // and from bad to good; above 0
	Good  notation.Ratio  `yaml:"good" json:"good,omitempty"`   // share lost in the good state; default 0
	Bad   *notation.Ratio `yaml:"bad" json:"bad,omitempty"`     // share lost in the bad state; nil: 100%

	Ratio notation.Ratio `yaml:"ratio" json:"ratio,omitempty"` // mean loss; with Burst only
	Burst float64        `yaml:"burst" json:"burst,omitempty"` // mean run of lost packets, 1 or more
}

// Validate returns what is wrong, as a *document.Error that begins with the key.
func (g *Gilbert) Validate() error {
	if err := cmp.Or(checkRatio("enter", g.Enter), checkRatio("leave", g.Leave), checkRatio("good", g.Good),
		checkRatio("ratio", g.Ratio)); err != nil {
		return err
	}
	if g.Bad != nil {
		if err := checkRatio("bad", *g.Bad); err != nil {
			return err
		}
	}
	if g.Burst == 0 && g.Ratio == 0 {
		if g.Leave == 0 {
			return document.Errorf("leave: none; want {enter: 0.2%%, leave: 10%%} or {ratio: 1%%, burst: 5}")
		}
		return nil
	}
	switch {
	case g.Enter != 0 || g.Leave != 0 || g.Good != 0 || g.Bad != nil:
		return document.Errorf("ratio and burst beside enter, leave, good or bad; want either")
	case !(g.Burst >= 1 && g.Burst <= 1e9): // NaN included; a run of 1e9 packets outlasts any lab
		return document.Errorf("burst: %v: want a mean run of 1 to 1000000000 lost packets, such as 5", g.Burst)
	case float64(g.Ratio) > g.Burst*(1-float64(g.Ratio)):
		return document.Errorf("ratio: %v: runs of %v packets with at least one between them lose at most %.4g",
			g.Ratio, g.Burst, g.Burst/(g.Burst+1))
	}
	return nil
}

// UnmarshalYAML reads the mapping.
func (g *Gilbert) UnmarshalYAML(node ast.Node) error {
	*g = Gilbert{}
	type full Gilbert
	return document.Mapping(node, "{ratio: 1%, burst: 5}", (*full)(g), g.Validate)
}

// String prints the model as a lab file has it.
func (g Gilbert) String() string {
	var m mapping
	m.add("enter", g.Enter, g.Enter != 0)
	m.add("leave", g.Leave, g.Leave != 0)
	m.add("good", g.Good, g.Good != 0)
	m.add("bad", g.Bad, g.Bad != nil)
	m.add("ratio", g.Ratio, g.Ratio != 0)
	m.add("burst", decimal(g.Burst), g.Burst != 0)
	return m.String()
}

// chain is a Gilbert model at work: two words for each packet, the first for the state, the second for the loss.
type chain struct {
	enter, leave, good, bad float64
	isBad                   bool
}

// newChain draws the state before the first packet: one word.
func newChain(g *Gilbert, random *rand.Rand) chain {
	c := chain{enter: float64(g.Enter), leave: float64(g.Leave), good: float64(g.Good), bad: 1}
	if g.Bad != nil {
		c.bad = float64(*g.Bad)
	}
	if g.Burst > 0 { // solved for enter: ratio = enter / (enter + leave), burst = 1 / leave
		c.leave = 1 / g.Burst
		c.enter = min(1, c.leave*float64(g.Ratio)/(1-float64(g.Ratio)))
	}
	c.isBad = unit(random.Uint64()) < c.enter/(c.enter+c.leave)
	return c
}

func (c *chain) lost(random *rand.Rand) bool {
	change, loss := unit(random.Uint64()), unit(random.Uint64())
	if c.isBad {
		c.isBad = change >= c.leave
	} else {
		c.isBad = change < c.enter
	}
	if c.isBad {
		return loss < c.bad
	}
	return loss < c.good
}
