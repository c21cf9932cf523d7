package middlebox

import "github.com/pathwise-net/pathwise/lab/packet"

// stage is how far a mapping or connection has got, which decides how long it may be idle:
//
//	TCP:  SYN --> opening --both ends heard--> open --both FINs--> closed --SYN--> opening
//	                 |                           |
//	                 +-------------RST-----------+--> aborted --SYN--> opening
//	others: udp, icmp for ever
type stage uint8

const (
	opening stage = iota
	open
	closed
	aborted
	udp // and whatever else has no state that can be seen
	icmp
	stages = iota
)

// What was seen of a TCP connection: bits of life.seen.
const (
	heardFront = 1 << iota // from the end that began
	heardBack
	finFront
	finBack
	reset
)

func firstStage(protocol byte) stage {
	switch protocol {
	case packet.ProtocolTCP:
		return opening
	case packet.ProtocolICMP, packet.ProtocolICMPv6:
		return icmp
	}
	return udp
}

// ages remembers when each of a bounded number of things was last used, and finds the ones idle for too long. Things of
// one stage are in a list in the order of their use, so that none of this takes longer with more of them.
type ages struct {
	limits [stages]int64
	most   int // how many there may be
	used   int
	lives  []life
	free   []int32
	ends   [stages]struct{ oldest, newest int32 } // as index+1, 0: none
}

type life struct {
	last         int64
	older, newer int32 // as index+1, 0: none
	stage        stage
	seen         uint8
	alive        bool
}

// add begins a life; the caller has made room.
func (a *ages) add(t int64, protocol byte) int32 {
	var i int32
	if n := len(a.free); n > 0 {
		i, a.free = a.free[n-1], a.free[:n-1]
	} else {
		i = int32(len(a.lives))
		a.lives = append(a.lives, life{})
	}
	a.lives[i] = life{last: t, stage: firstStage(protocol), alive: true}
	a.link(i)
	a.used++
	return i
}

// remove ends a life.
func (a *ages) remove(i int32) {
	a.unlink(i)
	a.lives[i] = life{}
	a.free = append(a.free, i)
	a.used--
}

// expired reports whether a thing was idle for too long.
func (a *ages) expired(t int64, i int32) bool {
	l := &a.lives[i]
	return t-l.last > a.limits[l.stage]
}

// oldest returns something that was idle for too long, if there is any.
func (a *ages) oldest(t int64) (i int32, ok bool) {
	for s := range a.ends {
		if end := a.ends[s].oldest; end != 0 && a.expired(t, end-1) {
			return end - 1, true
		}
	}
	return 0, false
}

// use notes a packet, of the end that began (front) or the other. The flags are TCP's, 0 for other protocols.
func (a *ages) use(t int64, i int32, flags byte, front bool) {
	l := &a.lives[i]
	l.last = max(l.last, t)
	next := l.stage
	if l.stage < udp {
		next = l.track(flags, front)
	}
	if next == l.stage && a.ends[next].newest == i+1 {
		return
	}
	a.unlink(i)
	l.stage = next
	a.link(i)
}

// track is TCP's part of use.
func (l *life) track(flags byte, front bool) stage {
	if begins(flags) && l.stage >= closed {
		l.seen = 0 // the same ports again
	}
	heard, fin := uint8(heardFront), uint8(finFront)
	if !front {
		heard, fin = heardBack, finBack
	}
	l.seen |= heard
	if flags&packet.FlagFIN != 0 {
		l.seen |= fin
	}
	if flags&packet.FlagRST != 0 {
		l.seen |= reset
	}
	switch {
	case l.seen&reset != 0:
		return aborted
	case l.seen&(finFront|finBack) == finFront|finBack:
		return closed
	case l.seen&(heardFront|heardBack) == heardFront|heardBack:
		return open
	}
	return opening
}

// begins reports whether the flags are those of a connection's first packet.
func begins(flags byte) bool {
	return flags&(packet.FlagSYN|packet.FlagACK|packet.FlagRST) == packet.FlagSYN
}

// link makes i the newest of its stage.
func (a *ages) link(i int32) {
	l := &a.lives[i]
	end := &a.ends[l.stage]
	l.older, l.newer = end.newest, 0
	if end.newest != 0 {
		a.lives[end.newest-1].newer = i + 1
	} else {
		end.oldest = i + 1
	}
	end.newest = i + 1
}

func (a *ages) unlink(i int32) {
	l := &a.lives[i]
	end := &a.ends[l.stage]
	if l.older != 0 {
		a.lives[l.older-1].newer = l.newer
	} else {
		end.oldest = l.newer
	}
	if l.newer != 0 {
		a.lives[l.newer-1].older = l.older
	} else {
		end.newest = l.older
	}
}
