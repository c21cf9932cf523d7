package stamp

import (
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
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
	count uint32 // answers
	heard time.Time
	left  control.Timestamp // when the last answer left, by the kernel; 0: not known
}

// before is what is known of the answer before the one under way.
func (s *session) before() FollowUp {
	if s.left == 0 {
		return FollowUp{}
	}
	return FollowUp{s.count - 2, s.left, stampedByKernel}
}

// next counts the answer under way in its session; nil: it cannot be counted.
func (s *sessions) next(from netip.AddrPort, number uint16, now time.Time) *session {
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
			return nil
		}
		one = &session{}
		s.all[key] = one
	}
	if now.Sub(one.heard) > refWait {
		*one = session{}
	}
	one.heard = now
	one.count++
	return one
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
