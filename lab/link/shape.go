package link

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/chance"
	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/lab/queue"
)

// Shape is what one direction of a link does to packets. A nil field is not set: the default holds, or what a shape
// below says (Over). Shapes share what their fields point to; nothing changes it. The zero value is a wire without
// limit, delay or fault.
//
// Every field is a pointer under its YAML key; Over, String, Validate and ParseSetting go by that, so a new key is a
// new field and nothing else here.
type Shape struct {
	Rate     *notation.Rate `yaml:"rate" json:"rate,omitempty"`         // of the line, overhead counted; default: no limit
	Trace    *Trace         `yaml:"trace" json:"trace,omitempty"`       // a rate that varies, in place of Rate
	Overhead *Overhead      `yaml:"overhead" json:"overhead,omitempty"` // default: ethernet; with a trace: none

	Delay  *notation.Delay `yaml:"delay" json:"delay,omitempty"` // propagation; default: 0
	Jitter *chance.Jitter  `yaml:"jitter" json:"jitter,omitempty"`
	Drift  *chance.Drift   `yaml:"drift" json:"drift,omitempty"`
	Creep  *chance.Creep   `yaml:"creep" json:"creep,omitempty"`

	Loss      *chance.Loss    `yaml:"loss" json:"loss,omitempty"`
	Duplicate *chance.Share   `yaml:"duplicate" json:"duplicate,omitempty"`
	Reorder   *chance.Reorder `yaml:"reorder" json:"reorder,omitempty"`
	Corrupt   *chance.Corrupt `yaml:"corrupt" json:"corrupt,omitempty"`

	Queue  *queue.Config `yaml:"queue" json:"queue,omitempty"`   // what may wait; default: 100 ms of the rate
	Police *Bucket       `yaml:"police" json:"police,omitempty"` // drops or remarks what is above
	Shaper *Bucket       `yaml:"shaper" json:"shaper,omitempty"` // holds back what is above

	MTU    *MTU           `yaml:"mtu" json:"mtu,omitempty"` // for the node that sends; a Direction carries what it gets
	Duplex *Duplex        `yaml:"duplex" json:"duplex,omitempty"`
	Pause  *Pause         `yaml:"pause" json:"pause,omitempty"` // when the far end has the near end's adapter send nothing
	Outage *chance.Outage `yaml:"outage" json:"outage,omitempty"`
	Down   *Bool          `yaml:"down" json:"down,omitempty"` // taken out of service

	Rules *Rules `yaml:"rules" json:"rules,omitempty"`
}

// key returns the YAML key of a field of Shape.
func key(i int) string { return reflect.TypeFor[Shape]().Field(i).Tag.Get("yaml") }

// Keys returns the YAML keys of Shape.
func Keys() (all []string) {
	for i := range reflect.TypeFor[Shape]().NumField() {
		all = append(all, key(i))
	}
	return all
}

// keys lists them for a message: "rate, trace, ... or rules".
func keys() string {
	all := Keys()
	return strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
}

// Over returns s with the fields that top sets replaced. Rate and trace replace each other; "trace: none" goes with a
// rate, so the order in which the settings of one valid shape are laid does not matter.
func (s Shape) Over(top *Shape) Shape {
	if top == nil {
		return s
	}
	if top.Rate != nil && s.Trace != nil && !s.Trace.none() {
		s.Trace = nil
	}
	if top.Trace != nil && !top.Trace.none() {
		s.Rate = nil
	}
	below, above := reflect.ValueOf(&s).Elem(), reflect.ValueOf(top).Elem()
	for i := range above.NumField() {
		if !above.Field(i).IsNil() {
			below.Field(i).Set(above.Field(i))
		}
	}
	return s
}

// String is YAML in flow style that reads back to the same Shape; "" if nothing is set. What came from a file is printed
// as the file's name.
func (s Shape) String() string {
	if entries := s.entries(); len(entries) > 0 {
		return "{" + strings.Join(entries, ", ") + "}"
	}
	return ""
}

// entries returns "key: value" for each field that is set.
func (s Shape) entries() (entries []string) {
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		if !v.Field(i).IsNil() {
			entries = append(entries, fmt.Sprintf("%s: %v", key(i), v.Field(i).Elem().Interface()))
		}
	}
	return entries
}

// Bounds of a rate. Below, a packet of 64 KiB takes more than a week; above is more than any line.
const (
	minRate notation.Rate = 1
	maxRate notation.Rate = 1e13
)

// Validate returns the first thing that is wrong with what is set, as a *document.Error that begins with the key. What
// only a whole shape can get wrong is for Complete.
func (s Shape) Validate() error {
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		if v.Field(i).IsNil() {
			continue
		}
		field, ok := v.Field(i).Interface().(interface{ Validate() error })
		if !ok {
			continue
		}
		if err := field.Validate(); err != nil {
			return document.Errorf("%s: %v", key(i), err)
		}
	}
	switch {
	case s.Rate != nil && !(*s.Rate >= minRate && *s.Rate <= maxRate):
		return document.Errorf("rate: %v: want 1bit to 10tbit", *s.Rate)
	case s.Delay != nil && (*s.Delay < 0 || *s.Delay > notation.Delay(notation.MaxDelay)):
		return document.Errorf("delay: %v: want at most 1h", *s.Delay)
	case s.Shaper != nil && s.Shaper.Remark != nil:
		return document.Errorf("shaper: remark: it holds back what is above, and remarks nothing; want it of police")
	case s.Rate != nil && s.Trace != nil && !s.Trace.none():
		return document.Errorf("trace: there is a rate as well; want one of the two")
	}
	return nil
}

// Complete returns what is wrong with a shape to which nothing will be added: it must be valid, and each key must have
// what it needs. The error is a *document.Error.
func (s Shape) Complete() error {
	if err := s.Validate(); err != nil {
		return err
	}
	traced := s.Trace != nil && !s.Trace.none()
	switch {
	case traced && len(s.Trace.Opportunities) == 0:
		return document.Errorf("trace: %q: has not been read", s.Trace.File)
	case s.Jitter != nil && s.Jitter.TableFile != "" && s.Jitter.Table == nil:
		return document.Errorf("jitter: table_file: %q: has not been read", s.Jitter.TableFile)
	case traced && s.Shaper.some():
		return document.Errorf("shaper: does not go with a trace; want one of the two")
	}
	if s.Duplex != nil && *s.Duplex != Full {
		if err := s.sharesMedium(); err != nil {
			return err
		}
	}
	if s.Pause.some() {
		if err := s.pausesWire(); err != nil {
			return err
		}
	}
	if s.Rules != nil {
		for i, r := range *s.Rules {
			if err := r.Shape.Complete(); err != nil {
				return document.Errorf("rules: number %d: %v", i+1, err)
			}
		}
	}
	return nil
}

// sharesMedium says what a half-duplex wire needs, and what its model leaves out.
func (s Shape) sharesMedium() error {
	switch {
	case s.Rate == nil:
		return document.Errorf("duplex: %s: needs a rate, such as `rate: 10mbit`", *s.Duplex)
	case s.Overhead != nil && s.Overhead.Link != Ethernet:
		return document.Errorf("duplex: %s: is Ethernet's; the overhead is %v", *s.Duplex, *s.Overhead)
	case s.Shaper.some():
		return document.Errorf("duplex: %s: does not go with a shaper", *s.Duplex)
	case s.Rules != nil && len(*s.Rules) > 0:
		return document.Errorf("duplex: %s: does not go with rules", *s.Duplex)
	}
	return nil
}

// CheckPair returns what is wrong with the two directions of one link: each must be complete, and on a shared medium
// both must agree. The error is a *document.Error.
func CheckPair(forward, reverse Shape) error {
	if err := forward.Complete(); err != nil {
		return err
	}
	if err := reverse.Complete(); err != nil {
		return err
	}
	a, b := forward.duplex(), reverse.duplex()
	if a != b {
		return document.Errorf("duplex: %s one way and %s the other; want the same, it belongs to the link", a, b)
	}
	if a != Full && *forward.Rate != *reverse.Rate {
		return document.Errorf("duplex: %s: rate %v one way and %v the other; want the same", a, *forward.Rate, *reverse.Rate)
	}
	return nil
}
