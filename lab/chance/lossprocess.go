package chance

import (
	"math"
	"math/rand/v2"
)

// LossProcess decides which packets are lost.
type LossProcess struct {
	random *rand.Rand
	models []lossModel
}

// lossModel is one Loss that is no list, at work.
type lossModel struct {
	kind                lossKind
	ratio               float64
	chain               chain
	every, until        int   // until: how many packets from now the next one is lost, 0: this one
	larger, smaller     int   // the size lies between the two, neither included
	opens, period, open int64 // when the first window opens; period 0: no windows
}

type lossKind uint8

const (
	byRatio lossKind = iota // one word a packet
	byChain                 // two
	byCount                 // none
)

// New starts the process at time t: windows count from then. The Loss is valid; it is not looked at again.
func (l *Loss) New(t int64, r *rand.Rand) *LossProcess {
	p := &LossProcess{random: r}
	if l.Any == nil {
		p.models = []lossModel{newLossModel(l, t, r)}
		return p
	}
	for i := range l.Any {
		p.models = append(p.models, newLossModel(&l.Any[i], t, r))
	}
	return p
}

func newLossModel(l *Loss, t int64, r *rand.Rand) lossModel {
	m := lossModel{
		larger: -1, smaller: math.MaxInt,
		opens: t + int64(l.Start), period: int64(l.Period), open: int64(l.For),
	}
	if l.LargerThan > 0 {
		m.larger = int(l.LargerThan)
	}
	if l.SmallerThan > 0 {
		m.smaller = int(l.SmallerThan)
	}
	switch {
	case l.Gilbert != nil:
		m.kind, m.chain = byChain, newChain(l.Gilbert, r)
	case l.Every > 0:
		m.kind, m.every, m.until = byCount, int(l.Every), int(l.Offset)-1
		if m.until < 0 {
			m.until = m.every - 1
		}
	case l.Ratio != nil:
		m.ratio = float64(*l.Ratio)
	case l.conditional():
		m.ratio = 1
	}
	return m
}

// Lost reports whether the packet of this size in bytes that comes at time t is lost. Every model is asked about every
// packet, so that none depends on what another said.
func (p *LossProcess) Lost(t int64, size int) bool {
	lost := false
	for i := range p.models {
		if p.models[i].lost(p.random, t, size) {
			lost = true
		}
	}
	return lost
}

func (m *lossModel) lost(random *rand.Rand, t int64, size int) bool {
	meets := size > m.larger && size < m.smaller && (m.period == 0 || m.windowOpen(t))
	switch m.kind {
	case byChain:
		return m.chain.lost(random) && meets
	case byCount:
		return meets && m.countDown()
	}
	return unit(random.Uint64()) < m.ratio && meets
}

func (m *lossModel) windowOpen(t int64) bool {
	return t >= m.opens && (t-m.opens)%m.period < m.open
}

func (m *lossModel) countDown() bool {
	if m.until > 0 {
		m.until--
		return false
	}
	m.until = m.every - 1
	return true
}
