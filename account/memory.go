package account

import (
	"maps"
	"net/netip"
	"sync"
	"time"
)

// memory is what this process knows and sessions.json does not yet. Who wants both asks the memory first: what leaves
// it is in the file by then.
type memory struct {
	mu sync.Mutex
	pending
}

type pending struct {
	sessions map[digest]*session  // begun here; nil: ended here
	seen     map[digest]time.Time // sessions and tokens: when last
}

// mostPending is how many sessions can begin and end while the disk takes nothing.
const mostPending = 1000

func (m *memory) empty() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.sessions) == 0 && len(m.seen) == 0
}

// put notes that a session began, or with nil that it ended; false: there is no room.
func (m *memory) put(hash digest, s *session) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, there := m.sessions[hash]; !there && len(m.sessions) >= mostPending {
		return false
	}
	m.sessions[hash] = s
	return true
}

// session returns what is known here of a session: nil and true if it ended.
func (m *memory) session(hash digest) (s *session, known bool, seen time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, known = m.sessions[hash]
	return s, known, m.seen[hash]
}

func (m *memory) use(hash digest) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.seen[hash]
}

// used notes a use of a session or a token that there is: the number of those is bounded.
func (m *memory) used(hash digest, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen[hash] = at
}

// knows says whether a session of an account, from a network, is here.
func (m *memory) knows(name string, network netip.Prefix) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.sessions {
		if s != nil && s.Name == name && s.Network == network {
			return true
		}
	}
	return false
}

// mergeInto adds what is here to a sessionStore, and returns what that was.
func (m *memory) mergeInto(l *sessionStore) (merged pending) {
	m.mu.Lock()
	merged = pending{maps.Clone(m.sessions), maps.Clone(m.seen)}
	m.mu.Unlock()
	for hash, s := range merged.sessions {
		delete(l.sessions, hash)
		if s != nil {
			copied := *s
			l.sessions[hash] = &copied
			l.meet(s.Name, s.Network, s.Made)
		}
	}
	l.Sessions = l.Sessions[:0]
	for hash, s := range l.sessions {
		s.Seen = later(s.Seen, round(merged.seen[hash]))
		l.Sessions = append(l.Sessions, s)
	}
	for hash, at := range merged.seen {
		if l.sessions[hash] == nil { // a token's, or of a session that ended; prune tells them apart
			l.Uses[hash] = later(l.Uses[hash], round(at))
		}
	}
	return merged
}

func round(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// forget forgets what was merged, but for what came anew meanwhile.
func (m *memory) forget(merged pending) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for hash, s := range merged.sessions {
		if m.sessions[hash] == s {
			delete(m.sessions, hash)
		}
	}
	for hash, at := range merged.seen {
		if m.seen[hash].Equal(at) {
			delete(m.seen, hash)
		}
	}
}
