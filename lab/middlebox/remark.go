package middlebox

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/packet"
)

// Remark gives packets another DSCP. In a lab file one code point is for all packets; a mapping is from the one a packet
// has to the one it gets, with default for those not named (without it they keep theirs; write 0 or CS0 for the default
// code point). The zero value changes none.
type Remark struct {
	Of      map[packet.Codepoint]packet.Codepoint `yaml:"of" json:"of,omitempty"`
	Default *packet.Codepoint                     `yaml:"default" json:"default,omitempty"`
}

// otherwise is the key for all code points that have no rule of their own.
const otherwise = "default"

func (r *Remark) add(key, value string) error {
	to, err := packet.ParseCodepoint(value)
	if err != nil {
		return err
	}
	if key == otherwise {
		r.Default = &to
		return nil
	}
	from, err := packet.ParseCodepoint(key)
	if err != nil {
		return err
	}
	if _, twice := r.Of[from]; twice {
		return fmt.Errorf("%s: want one rule for a DSCP", key)
	}
	if r.Of == nil {
		r.Of = map[packet.Codepoint]packet.Codepoint{}
	}
	r.Of[from] = to
	return nil
}

func (r *Remark) validate() error {
	if r == nil {
		return nil
	}
	if r.Default != nil && *r.Default > 63 {
		return document.Errorf("dscp: %d: want 0 to 63", *r.Default)
	}
	for from, to := range r.Of {
		if from > 63 || to > 63 {
			return document.Errorf("dscp: %d to %d: want 0 to 63", from, to)
		}
	}
	return nil
}

// table is the DSCP that each gets.
func (r *Remark) table() *[64]byte {
	if r == nil {
		return nil
	}
	var t [64]byte
	for i := range t {
		t[i] = byte(i)
		if r.Default != nil {
			t[i] = byte(*r.Default)
		}
	}
	for from, to := range r.Of {
		t[from] = byte(to)
	}
	return &t
}

// String returns YAML that reads back.
func (r *Remark) String() string {
	if len(r.Of) == 0 && r.Default != nil {
		return number(*r.Default)
	}
	var f flow
	for _, from := range slices.Sorted(maps.Keys(r.Of)) {
		f.add(true, number(from), number(r.Of[from]))
	}
	if r.Default != nil {
		f.add(true, otherwise, number(*r.Default))
	}
	return f.String()
}

// number prints code point 0 as 0, because default means something else here.
func number(c packet.Codepoint) string {
	if c == 0 {
		return "0"
	}
	return c.String()
}
