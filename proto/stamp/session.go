package stamp

import (
	"net/netip"
	"time"
)

const (
	// mostSessions bounds what forged senders can take: 8 MB. One more is answered without being counted, as RFC 8762 section 4.3 lets
	// reflectors do.
	mostSessions = 1 << 16
	// refWait is how long a session lives of which nothing is heard (REFWAIT of RFC 5357 section 4.2).
	refWait = 900 * time.Second
)

// sessions count the answers to each session, by sender and its number.
type sessions struct {
	all   map[sessionKey]*session
	swept time.Time
}

type sessionKey struct {
	from   netip.AddrPort
	number uint16
}

type session struct {
	count uint32
	heard time.Time
}

// next is how many answers a session had before the one to come; ok is false where it cannot be counted.
func (s *sessions) next(from netip.AddrPort, number uint16, now time.Time) (count uint32, ok bool) {
	if s.all == nil {
		s.all = map[sessionKey]*session{}
	}
	key := sessionKey{from, number}
	one := s.all[key]
	if one == nil {
		if len(s.all) >= mostSessions {
			s.sweep(now)
		}
		if len(s.all) >= mostSessions {
			return 0, false
		}
		one = &session{}
		s.all[key] = one
	}
	if now.Sub(one.heard) > refWait {
		one.count = 0
	}
	one.heard = now
	one.count++
	return one.count - 1, true
}

// sweep forgets sessions of which nothing was heard; where all are new, once a minute at the most.
func (s *sessions) sweep(now time.Time) {
	if now.Sub(s.swept) < time.Minute {
		return
	}
	s.swept = now
	for key, one := range s.all {
		if now.Sub(one.heard) > refWait {
			delete(s.all, key)
		}
	}
}
