package link

import (
	"fmt"
	"math"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/lab/packet"
)

// Bucket is a token bucket: in any stretch of time of length T at most Burst + Rate·T pass. It counts IP bytes, without
// the link layer's, as the meter of RFC 2697 does. A policer drops what is above, or gives it another DSCP; a shaper holds it back.
//
//	police: {rate: 10mbit, burst: 50kB}
//	police: {rate: 10mbit, burst: 50kB, remark: AF13}
//	police: none                            no longer
//
// The zero value is none.
type Bucket struct {
	Rate  notation.Rate `yaml:"rate" json:"rate,omitempty"`
	Burst notation.Size `yaml:"burst" json:"burst,omitempty"` // a policer drops every packet that is larger
	// Remark is the DSCP that a policer gives to what is above, which passes then; nil: it drops it.
	Remark *packet.Codepoint `yaml:"remark" json:"remark,omitempty"`
}

// maxBurst is far above what any router holds.
const maxBurst = 1 << 40

// some tells a bucket from none.
func (b *Bucket) some() bool { return b != nil && *b != Bucket{} }

func (b Bucket) String() string {
	if !b.some() {
		return "none"
	}
	remark := ""
	if b.Remark != nil {
		remark = fmt.Sprintf(", remark: %v", *b.Remark)
	}
	return fmt.Sprintf("{rate: %v, burst: %v%s}", b.Rate, b.Burst, remark)
}

// Validate returns what is wrong, as a *document.Error.
func (b *Bucket) Validate() error {
	switch {
	case !b.some():
		return nil
	case !(b.Rate >= minRate && b.Rate <= maxRate):
		return document.Errorf("rate: %v: want 1bit to 10tbit, as in {rate: 10mbit, burst: 50kB}", b.Rate)
	case b.Burst < 1 || b.Burst > maxBurst:
		return document.Errorf("burst: %v: want 1B or more, as in {rate: 10mbit, burst: 50kB}", b.Burst)
	}
	return nil
}

// UnmarshalYAML reads a mapping, or "none".
func (b *Bucket) UnmarshalYAML(node ast.Node) error {
	if text, ok := document.Scalar(node); ok {
		if text != "none" {
			return document.At(node, document.Errorf("%q: want {rate: 10mbit, burst: 50kB}, or none", text))
		}
		*b = Bucket{}
		return nil
	}
	type full Bucket
	var v full
	if err := document.Decode(node, &v); err != nil {
		return err
	}
	// A mapping that sets nothing is not "none", and is at fault like one without a rate.
	if v.Rate == 0 {
		return document.At(node, document.Errorf("rate: not set; want it, as in {rate: 10mbit, burst: 50kB}"))
	}
	if err := (*Bucket)(&v).Validate(); err != nil {
		return document.At(node, err)
	}
	*b = Bucket(v)
	return nil
}

// tokens is a Bucket at work. It starts full.
type tokens struct {
	perNanosecond float64 // bytes
	burst, level  float64
	filled        int64 // when level held
}

func (b *Bucket) start(t int64) *tokens {
	if !b.some() {
		return nil
	}
	burst := float64(b.Burst)
	return &tokens{perNanosecond: float64(b.Rate) / 8 / 1e9, burst: burst, level: burst, filled: t}
}

func (k *tokens) fill(t int64) {
	if t > k.filled {
		k.level = min(k.burst, k.level+float64(t-k.filled)*k.perNanosecond)
		k.filled = t
	}
}

// pass takes the tokens for a packet at time t, or reports that there are not enough.
func (k *tokens) pass(t int64, size int64) bool {
	k.fill(t)
	if k.level < float64(size) {
		return false
	}
	k.level -= float64(size)
	return true
}

// ready returns when, from t on, there will be enough tokens for a packet; for one above the burst, when the bucket is
// full.
func (k *tokens) ready(t int64, size int64) int64 {
	k.fill(t)
	missing := min(float64(size), k.burst) - k.level
	if missing <= 0 {
		return t
	}
	return t + int64(math.Ceil(missing/k.perNanosecond))
}

// take takes the tokens for a packet at a time that ready gave; a packet above the burst leaves a debt.
func (k *tokens) take(t int64, size int64) {
	k.fill(t)
	k.level -= float64(size)
}
