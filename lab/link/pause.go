package link

import (
	"math"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// Pause says when the far end of a direction, a switch or an adapter that is short of buffers, has the near end's adapter send nothing, by pause
// frames (IEEE 802.3 annex 31B): for the last For of each Every, counted from when it is set.
//
//	pause: {every: 80ms, for: 30ms}
//	pause: none                             no longer
//
//	   sends          pause     sends          pause
//	|--------------|=========|--------------|=========|
//	 <------- every --------> <------- every -------->
//	                <-- for -->
//
// Nothing is lost by it: what comes meanwhile waits in the queue, and the frame on the wire gets through. A pause frame holds for 65,535 times
// 512 bit times at most, so that longer pauses take several of them; the last names what is left of the time. The near end's adapter counts them as
// they come (Adapter.PausesReceived). The frames take no time of the opposite direction.
//
// The zero value is none.
type Pause struct {
	Every notation.Span `yaml:"every" json:"every,omitempty"`
	For   notation.Span `yaml:"for" json:"for,omitempty"`
}

// longestPauseBits is what one frame can ask for, in bit times: the pause time of 16 bits counts quanta of 512.
const longestPauseBits = math.MaxUint16 * 512

// shortestPause bounds how many frames there are in a second.
const shortestPause = notation.Span(1e5)

// some tells pauses from none.
func (p *Pause) some() bool { return p != nil && *p != Pause{} }

func (p Pause) String() string {
	if !p.some() {
		return "none"
	}
	return "{every: " + p.Every.String() + ", for: " + p.For.String() + "}"
}

// Validate returns what is wrong, as a *document.Error.
func (p *Pause) Validate() error {
	switch {
	case !p.some():
		return nil
	case p.For < shortestPause:
		return document.Errorf("for: %v: want 0.1ms or more, as in {every: 80ms, for: 30ms}", p.For)
	case p.Every > notation.Span(notation.MaxDelay):
		return document.Errorf("every: %v: want at most 1h", p.Every)
	case p.Every-p.For < shortestPause:
		return document.Errorf("every: %v: want 0.1ms or more beside the %v of each pause", p.Every, p.For)
	}
	return nil
}

// UnmarshalYAML reads a mapping, or "none".
func (p *Pause) UnmarshalYAML(node ast.Node) error {
	*p = Pause{}
	if text, ok := document.Scalar(node); ok && text == "none" {
		return nil
	}
	type full Pause
	return document.Mapping(node, "{every: 80ms, for: 30ms}", (*full)(p), func() error {
		if !p.some() {
			return document.Errorf("every: not set; want it, as in {every: 80ms, for: 30ms}")
		}
		return p.Validate()
	})
}

// pauses is a Pause at work.
type pauses struct {
	began         int64 // when it was set
	every, length int64
	told          int64 // how many pauses were counted so far
}

// start begins with a stretch in which the link sends; none is nil.
func (p *Pause) start(t int64) *pauses {
	if !p.some() {
		return nil
	}
	return &pauses{began: t, every: int64(p.Every), length: int64(p.For)}
}

// until returns when the adapter may send that wants to at time t: then, or at the end of the pause that it is in. Of nil it is then.
func (p *pauses) until(t int64) int64 {
	if p == nil {
		return t
	}
	into := (t - p.began) % p.every
	if t < p.began || into < p.every-p.length {
		return t
	}
	return t - into + p.every
}

// more returns how many pauses began by time t that were not told yet. A time before the last one has none.
func (p *pauses) more(t int64) int64 {
	n := (t - p.began + p.length) / p.every
	more := max(0, n-p.told)
	p.told += more
	return more
}

// countPauses counts the frames that came by time t.
func (p *pipe) countPauses(t int64) {
	if p.pauses == nil {
		return
	}
	frames := math.Ceil(float64(p.pauses.length) / (longestPauseBits / 8 * p.perByte))
	p.d.count.Adapter.PausesReceived += uint64(p.pauses.more(t)) * uint64(frames)
}

// pausesWire says what pauses need, and what their model leaves out.
func (s Shape) pausesWire() error {
	switch {
	case s.Rate == nil:
		return document.Errorf("pause: needs a rate, such as `rate: 100mbit`")
	case s.duplex() != Full:
		return document.Errorf("pause: is of full duplex (IEEE 802.3 annex 31B); duplex is %s", s.duplex())
	case s.Overhead != nil && s.Overhead.Link != Ethernet:
		return document.Errorf("pause: is Ethernet's; the overhead is %v", *s.Overhead)
	case s.Rules != nil && len(*s.Rules) > 0:
		return document.Errorf("pause: does not go with rules")
	}
	return nil
}

// Adapter returns what the adapter has counted by a time that sends on d and receives on the opposite direction; false where the link never was anything
// but full duplex without pauses.
func (d *Direction) Adapter(now int64, opposite *Direction) (a Adapter, counted bool) {
	if d.medium == nil && !d.paused && !opposite.paused {
		return a, false
	}
	d.own.countPauses(now)
	opposite.own.countPauses(now)
	a = d.count.Adapter
	a.PausesSent = opposite.count.Adapter.PausesReceived
	return a, true
}
