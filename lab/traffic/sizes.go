package traffic

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// Sizes is a mix of packet sizes; nil is none. In a lab file it is a mapping, `{40B: 50%, 576B: 25%, 1500B: 25%}`, or a list
// of `{size: 40B, share: 50%}`. Shares count packets, not bytes, and add up to 1.
type Sizes []Portion

// Portion is a size and the share of packets that have it.
type Portion struct {
	Size  notation.Size  `yaml:"size" json:"size"`
	Share notation.Ratio `yaml:"share" json:"share"`
}

const (
	maxPortions = 100
	// shareSlack is how far from 1 the shares may add up to: three times 33.3 % are thirds. What is missing is spread over all.
	shareSlack = 2e-3
)

// Validate returns the first fault.
func (s Sizes) Validate() error {
	if s == nil {
		return nil
	}
	if len(s) == 0 || len(s) > maxPortions {
		return document.Errorf("sizes: %d of them; want 1 to %d, such as {40B: 50%%, 1500B: 50%%}", len(s), maxPortions)
	}
	seen := map[notation.Size]bool{}
	var sum float64
	for _, p := range s {
		switch {
		case p.Size < MinSize || p.Size > MaxSize:
			return document.Errorf("sizes: %v: want %d to %d bytes", p.Size, MinSize, MaxSize)
		case !(p.Share > 0 && p.Share <= 1):
			return document.Errorf("sizes: %v: share %v: want above 0, and at most 1", p.Size, p.Share)
		case seen[p.Size]:
			return document.Errorf("sizes: %v: want each size once", p.Size)
		}
		seen[p.Size] = true
		sum += float64(p.Share)
	}
	if math.Abs(sum-1) > shareSlack {
		return document.Errorf("sizes: shares add up to %.4g %%; want 100 %%", sum*100)
	}
	return nil
}

// String returns the mapping.
func (s Sizes) String() string {
	fields := make([]string, len(s))
	for i, p := range s {
		fields[i] = p.Size.String() + ": " + p.Share.String()
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// UnmarshalYAML reads either form, in the order of the text.
func (s *Sizes) UnmarshalYAML(node ast.Node) error {
	*s = Sizes{}
	switch n := node.(type) {
	case *ast.MappingNode:
		for _, v := range n.Values {
			if err := s.add(v); err != nil {
				return err
			}
		}
		return nil
	case *ast.MappingValueNode: // a block mapping of one key
		return s.add(n)
	case *ast.SequenceNode:
		return document.Decode(node, (*[]Portion)(s))
	}
	return document.At(node, fmt.Errorf("want sizes and shares, such as {40B: 50%%, 1500B: 50%%}"))
}

func (s *Sizes) add(v *ast.MappingValueNode) error {
	var p Portion
	key, ok := v.Key.(ast.Node)
	if !ok {
		return document.At(v, fmt.Errorf("want a size such as 40B for a key"))
	}
	if err := p.Size.UnmarshalYAML(key); err != nil {
		return err
	}
	if err := p.Share.UnmarshalYAML(v.Value); err != nil {
		return err
	}
	*s = append(*s, p)
	return nil
}

// mix draws sizes. Without a choice it draws no random number.
type mix struct {
	sizes []int
	upTo  []float64 // cumulative shares
}

func newMix(c *Config) mix {
	if c.Sizes == nil {
		size := cmp.Or(int(c.Size), DefaultSize)
		return mix{sizes: []int{size}, upTo: []float64{1}}
	}
	var m mix
	var sum float64
	for _, p := range c.Sizes {
		sum += float64(p.Share)
		m.sizes, m.upTo = append(m.sizes, int(p.Size)), append(m.upTo, sum)
	}
	for i := range m.upTo {
		m.upTo[i] /= sum
	}
	return m
}

func (m *mix) draw(random *rand.Rand) int {
	if len(m.sizes) == 1 {
		return m.sizes[0]
	}
	u := random.Float64()
	last := len(m.sizes) - 1
	for i := range last {
		if u < m.upTo[i] {
			return m.sizes[i]
		}
	}
	return m.sizes[last]
}

// drawByBytes draws the size of the packet that a byte drawn from all bytes belongs to.
func (m *mix) drawByBytes(random *rand.Rand) int {
	size, largest := m.draw(random), slices.Max(m.sizes)
	for len(m.sizes) > 1 && random.Float64()*float64(largest) >= float64(size) {
		size = m.draw(random)
	}
	return size
}

// mean returns the expected size in bytes.
func (m *mix) mean() float64 {
	var sum, below float64
	for i, size := range m.sizes {
		sum += float64(size) * (m.upTo[i] - below)
		below = m.upTo[i]
	}
	return sum
}
