package owamp

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
)

// store has the sessions that a server receives and received, so that they can be fetched. Several goroutines may use it.
type store struct {
	mu   sync.Mutex
	most int64 // bytes
	used int64
	all  []*kept // the oldest first
}

// kept is a session, and whose it is.
type kept struct {
	ledger *ledger
	from   netip.Addr
	keyID  string
	bytes  int64
	until  time.Time // when it is forgotten; the zero time: it is under way
}

const (
	// keptFor is how long a session can be fetched after it ended.
	keptFor = 10 * time.Minute
	// keptPacket is what a packet of a session takes: its record, with the room that lists are grown by.
	keptPacket = 64
)

// reserve makes room for a session of so many packets, for which older ones are forgotten that have ended; false: there is none.
func (s *store) reserve(k *kept, packets int, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	k.bytes = int64(packets) * keptPacket
	s.all = slices.DeleteFunc(s.all, func(old *kept) bool {
		gone := !old.until.IsZero() && (now.After(old.until) || s.used+k.bytes > s.most)
		if gone {
			s.used -= old.bytes
		}
		return gone
	})
	if s.used+k.bytes > s.most {
		return false
	}
	s.used, s.all = s.used+k.bytes, append(s.all, k)
	return true
}

// done says that sessions have ended, and may be fetched for a while; or, if they broke off, that they are of no use.
func (s *store) done(of []*kept, broken bool, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range of {
		k.until = now.Add(keptFor)
	}
	if broken {
		s.all = slices.DeleteFunc(s.all, func(k *kept) bool {
			gone := slices.Contains(of, k)
			if gone {
				s.used -= k.bytes
			}
			return gone
		})
	}
}

// find is a session of an ID that its client may fetch; nil: there is none.
func (s *store) find(id control.SID, from netip.Addr, keyID string) *kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.all {
		if k.ledger.session.ID == id && k.from == from && k.keyID == keyID {
			return k
		}
	}
	return nil
}
