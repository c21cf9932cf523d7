package account

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"time"
)

const sessionsSchema = "pathwise.sessions/1"

// sessionStore is sessions.json: what changes often and may be lost. Without it people sign in again.
type sessionStore struct {
	Schema   string               `json:"schema"`
	Sessions []*session           `json:"sessions"`
	Known    []*knownNetwork      `json:"known"`
	Uses     map[digest]time.Time `json:"uses"` // of tokens

	sessions map[digest]*session
}

// session is a person's who signed in.
type session struct {
	Hash    digest       `json:"hash"`
	Name    string       `json:"name"` // of the account
	Stamp   string       `json:"stamp"`
	Made    time.Time    `json:"made"`
	Seen    time.Time    `json:"seen"`
	Network netip.Prefix `json:"network,omitzero"`
}

// knownNetwork is one from where the person of an account has signed in.
type knownNetwork struct {
	Name    string       `json:"name"`
	Network netip.Prefix `json:"network"`
	Seen    time.Time    `json:"seen"`
}

const (
	// sessionIdle and sessionLife end a session that nobody uses for a night, and any after a week: what OWASP's session
	// management page calls the idle and the absolute timeout, for people who look at a wall all day.
	sessionIdle = 12 * time.Hour
	sessionLife = 7 * 24 * time.Hour
	// mostSessions are of one account: its devices, and browsers that forgot. The one longest unused goes first.
	mostSessions = 20
	// knownLife and mostKnown bound how long, and how many, networks are known of an account: office, home and journeys.
	knownLife = 90 * 24 * time.Hour
	mostKnown = 8
	// clockSlack is how far a clock may step back before sessions made in what is then the future count no more.
	clockSlack = 5 * time.Minute
)

// alive says whether a session, last used at a time, counts for what accounts there are.
func (s *session) alive(c *contents, used, now time.Time) bool {
	p := c.people[s.Name]
	return p != nil && !p.Disabled && p.Stamp == s.Stamp &&
		now.Sub(used) < sessionIdle && now.Sub(s.Made) < sessionLife && s.Made.Sub(now) < clockSlack
}

// parseSessions reads sessions.json. What cannot be read counts as none: a controller is not to stand still for that.
func (b *Book) parseSessions(text []byte) (*sessionStore, error) {
	l, err := readSessions(text)
	if err != nil {
		b.log.Warn("sessions cannot be read; everybody has to sign in again", "file", b.sessions.path, "error", err)
		return readSessions(nil)
	}
	return l, nil
}

func readSessions(text []byte) (*sessionStore, error) {
	l := &sessionStore{Schema: sessionsSchema}
	if text != nil {
		if err := decode(text, l); err != nil {
			return nil, err
		}
	}
	if l.Schema != sessionsSchema {
		return nil, fmt.Errorf("schema %.80q, want %s", l.Schema, sessionsSchema)
	}
	l.sessions = make(map[digest]*session, len(l.Sessions))
	for _, s := range l.Sessions {
		if s == nil {
			return nil, errors.New("a session is null")
		}
		l.sessions[s.Hash] = s
	}
	if slices.Contains(l.Known, nil) {
		return nil, errors.New("a network is null")
	}
	if l.Uses == nil {
		l.Uses = map[digest]time.Time{}
	}
	return l, nil
}

// Tidy puts on disk what is only in memory yet (when sessions and tokens were last used; sessions that began or ended
// while the disk was full), and forgets what is over.
func (b *Book) Tidy() error {
	if b.memory.empty() {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return withLock(b.owner, b.folder, func() error {
		c, err := b.contents.get()
		if err != nil {
			return err
		}
		if _, err := b.sessions.get(); err != nil {
			return err
		}
		l, err := b.freshSessions()
		if err != nil {
			return err
		}
		kept := b.memory.mergeInto(l)
		l.prune(c, b.now())
		if err := b.owner.Replace(b.sessions.path, toJSON(l)); err != nil {
			return fmt.Errorf("keep sessions: %w", err)
		}
		b.memory.forget(kept)
		return nil
	})
}

// freshSessions returns a copy of what is in the file, to be changed.
func (b *Book) freshSessions() (*sessionStore, error) {
	text, err := os.ReadFile(b.sessions.path)
	if errors.Is(err, os.ErrNotExist) {
		return readSessions(nil)
	} else if err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	return b.parseSessions(text)
}

// prune forgets what counts no more, and what is more than an account may have.
func (l *sessionStore) prune(c *contents, now time.Time) {
	count := map[string]int{}
	excess := func(name string, most int) bool {
		count[name]++
		return count[name] > most
	}
	slices.SortStableFunc(l.Sessions, func(a, b *session) int { return b.Seen.Compare(a.Seen) })
	l.Sessions = slices.DeleteFunc(l.Sessions, func(s *session) bool {
		return !s.alive(c, s.Seen, now) || excess(s.Name, mostSessions)
	})
	clear(count)
	slices.SortStableFunc(l.Known, func(a, b *knownNetwork) int { return b.Seen.Compare(a.Seen) })
	l.Known = slices.DeleteFunc(l.Known, func(k *knownNetwork) bool {
		return c.people[k.Name] == nil || now.Sub(k.Seen) > knownLife || excess(k.Name, mostKnown)
	})
	for hash := range l.Uses {
		if c.secrets[hash] == nil {
			delete(l.Uses, hash)
		}
	}
}

// meet notes that an account's person signed in from a network.
func (l *sessionStore) meet(name string, network netip.Prefix, at time.Time) {
	for _, k := range l.Known {
		if k.Name == name && k.Network == network {
			k.Seen = later(k.Seen, at)
			return
		}
	}
	l.Known = append(l.Known, &knownNetwork{name, network, at})
}

func (l *sessionStore) knows(name string, network netip.Prefix) bool {
	return slices.ContainsFunc(l.Known, func(k *knownNetwork) bool { return k.Name == name && k.Network == network })
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
