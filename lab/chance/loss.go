package chance

import (
	"cmp"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// Loss says which packets are lost. The zero value loses none.
//
//	loss: 1%                                          each packet by itself
//	loss: {gilbert: {ratio: 1%, burst: 5}}            in bursts, see Gilbert
//	loss: {every: 100, offset: 1}                     the 1st, 101st, 201st, ...
//	loss: {larger_than: 1300B}                        all that are larger
//	loss: {period: 10s, for: 200ms, ratio: 50%}       half of those in the first 200 ms of each 10 s
//	loss: [0.1%, {larger_than: 1300B, ratio: 1%}]     lost if any of these says so
//
// A model is a choice (Ratio, Gilbert or Every) among the packets that meet its conditions (size, time), all of them.
// Where only conditions stand, every packet that meets them is lost.
type Loss struct {
	// Ratio is the share that is lost, each packet by itself; nil is all where a condition stands, and else none.
	Ratio *notation.Ratio `yaml:"ratio" json:"ratio,omitempty"`
	// Gilbert has losses come in bursts; nil: not.
	Gilbert *Gilbert `yaml:"gilbert" json:"gilbert,omitempty"`
	// Every loses the packets whose number, counted from 1 among those that meet the conditions, is Offset more than a
	// multiple of Every; 0: not. Offset is less than Every; 0: the number is a multiple.
	Every  notation.Count `yaml:"every" json:"every,omitempty"`
	Offset notation.Count `yaml:"offset" json:"offset,omitempty"`

	// LargerThan and SmallerThan are bounds on the packet's size, the bound itself excluded; 0: none.
	LargerThan  notation.Size `yaml:"larger_than" json:"larger_than,omitempty"`
	SmallerThan notation.Size `yaml:"smaller_than" json:"smaller_than,omitempty"`
	// A window opens Start after the model is set, and then once each Period, and stays open For. Period 0: no window,
	// any time will do.
	Period notation.Span `yaml:"period" json:"period,omitempty"`
	For    notation.Span `yaml:"for" json:"for,omitempty"`
	Start  notation.Span `yaml:"start" json:"start,omitempty"`

	// Any is several models, none of them a list; a packet is lost if any of them says so. Then nothing else is set.
	// In a lab file it is a list in place of the mapping.
	Any []Loss `yaml:"-" json:"any,omitempty"`
}

// Independent loses this share of the packets, each by itself.
func Independent(ratio float64) *Loss {
	r := notation.Ratio(ratio)
	return &Loss{Ratio: &r}
}

// maxModels bounds a list: every model is asked about every packet.
const maxModels = 16

// Validate returns what is wrong, as a *document.Error that begins with the key.
func (l *Loss) Validate() error {
	if l.Any == nil {
		return cmp.Or(l.validateChoice(), l.validateSize(), l.validateWindow())
	}
	if n := len(l.Any); n == 0 || n > maxModels {
		return document.Errorf("a list of %d models; want 1 to %d", n, maxModels)
	}
	if l.Ratio != nil || l.Gilbert != nil || l.Every != 0 || l.Offset != 0 || l.conditional() {
		return document.Errorf("a list of models and a model beside it; want either")
	}
	for i := range l.Any {
		if l.Any[i].Any != nil {
			return document.Errorf("number %d: a list in a list; want one list of all models", i+1)
		}
		if err := l.Any[i].Validate(); err != nil {
			return document.Errorf("number %d: %v", i+1, err)
		}
	}
	return nil
}

func (l *Loss) validateChoice() error {
	choices := 0
	if l.Ratio != nil {
		choices++
		if err := checkRatio("ratio", *l.Ratio); err != nil {
			return err
		}
	}
	if l.Gilbert != nil {
		choices++
		if err := l.Gilbert.Validate(); err != nil {
			return document.Errorf("gilbert: %v", err)
		}
	}
	if l.Every != 0 {
		choices++
	}
	switch {
	case choices > 1:
		return document.Errorf("more than one of ratio, gilbert and every; want one, or a list of models")
	case l.Every < 0:
		return document.Errorf("every: %d: want 1 or more, such as 100", l.Every)
	case l.Offset < 0 || l.Offset > 0 && l.Offset >= l.Every:
		return document.Errorf("offset: %d: want 0 or more, and less than every, which is %d", l.Offset, l.Every)
	}
	return nil
}

func (l *Loss) validateSize() error {
	switch {
	case l.LargerThan < 0:
		return document.Errorf("larger_than: %v: want a size such as 1300B", l.LargerThan)
	case l.SmallerThan < 0:
		return document.Errorf("smaller_than: %v: want a size such as 100B", l.SmallerThan)
	case l.SmallerThan > 0 && l.SmallerThan-1 <= l.LargerThan:
		return document.Errorf("smaller_than: %v: no size is larger than %v and smaller than that",
			l.SmallerThan, l.LargerThan)
	}
	return nil
}

func (l *Loss) validateWindow() error {
	if err := cmp.Or(checkSpan("period", l.Period), checkSpan("for", l.For), checkSpan("start", l.Start)); err != nil {
		return err
	}
	switch {
	case l.Period == 0 && (l.For > 0 || l.Start > 0):
		return document.Errorf("period: none; want how often the window opens, such as 10s")
	case l.Period > 0 && l.For == 0:
		return document.Errorf("for: none; want how long the window of each period stays open, such as 200ms")
	case l.For > l.Period:
		return document.Errorf("for: %v: want at most the period, which is %v", l.For, l.Period)
	}
	return nil
}

// conditional reports whether the model looks at a packet's size or time.
func (l *Loss) conditional() bool {
	return l.LargerThan != 0 || l.SmallerThan != 0 || l.Period != 0 || l.For != 0 || l.Start != 0
}

// UnmarshalYAML reads a ratio, a mapping or a list of these.
func (l *Loss) UnmarshalYAML(node ast.Node) error {
	if _, plain := document.Scalar(node); plain {
		ratio := new(notation.Ratio)
		*l = Loss{Ratio: ratio}
		return ratio.UnmarshalYAML(node)
	}
	if list, ok := node.(ast.ArrayNode); ok {
		*l = Loss{Any: []Loss{}}
		for entries := list.ArrayRange(); entries.Next(); {
			var one Loss
			if err := one.UnmarshalYAML(entries.Value()); err != nil {
				return err
			}
			l.Any = append(l.Any, one)
		}
		return document.AtKey(node, l.Validate())
	}
	*l = Loss{}
	type full Loss
	if err := document.Decode(node, (*full)(l)); err != nil {
		return err
	}
	return document.AtKey(node, l.Validate())
}

// String prints the loss as a lab file has it; "{}" if nothing is set.
func (l Loss) String() string {
	if l.Any != nil {
		return list(l.Any)
	}
	if l.Ratio != nil && !l.conditional() && l.Offset == 0 {
		return l.Ratio.String()
	}
	var m mapping
	m.add("ratio", l.Ratio, l.Ratio != nil)
	m.add("gilbert", l.Gilbert, l.Gilbert != nil)
	m.add("every", l.Every, l.Every != 0)
	m.add("offset", l.Offset, l.Offset != 0)
	m.add("larger_than", l.LargerThan, l.LargerThan != 0)
	m.add("smaller_than", l.SmallerThan, l.SmallerThan != 0)
	m.add("period", l.Period, l.Period != 0)
	m.add("for", l.For, l.For != 0)
	m.add("start", l.Start, l.Start != 0)
	return m.String()
}

// Plain reports whether the model is one share for every packet, nil or not set: none.
func (l *Loss) Plain() bool {
	return l != nil && l.Any == nil && l.Gilbert == nil && l.Every == 0 && l.Ratio != nil && !l.conditional()
}
