package account

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/pathwise-net/pathwise/admission"
)

// verify says who has a name and a password. Its errors are ErrCredentials, *Later, the context's, and those of reading
// accounts.json. It takes as long for a name that there is not. from is the address of the person, not of a proxy between.
func (b *Book) verify(ctx context.Context, name, password string, from netip.Addr) (*person, error) {
	if len(password) > longestPassword { // no account's, whichever
		return nil, ErrCredentials
	}
	known, err := b.known(name, admission.NetworkOf(from))
	if err != nil {
		return nil, err
	}
	keys, places := b.verifier.throttle.keys(name, admission.NetworkOf(from), known), int32(longestQueue)
	if known {
		places *= 2
	}
	if wait := b.verifier.throttle.wait(keys, b.now()); wait > 0 {
		return nil, tooMany(wait)
	}
	leave, err := b.verifier.enter(ctx, places)
	if err != nil {
		return nil, err
	}
	defer leave()
	if wait := b.verifier.throttle.wait(keys, b.now()); wait > 0 { // those before in the queue were wrong
		return nil, tooMany(wait)
	}
	return b.look(name, password, from, keys)
}

// look compares a password with that of an account, which may not exist, and counts the attempt.
func (b *Book) look(name, password string, from netip.Addr, keys []throttleKey) (*person, error) {
	c, err := b.contents.get()
	if err != nil {
		return nil, err
	}
	p, stored := c.people[name], b.dummy
	may := p != nil && !p.Disabled && !p.Password.none()
	if may {
		stored = p.Password
	}
	if matches := stored.matches(password); !matches || !may {
		b.verifier.throttle.failed(keys, b.now())
		e := Entry{Kind: KindAccount, From: from, What: "sign in", Outcome: "wrong name or password"}
		if p != nil { // else it is not written down: people type their password where the name belongs
			e.Who = name
		}
		b.Refused(e)
		return nil, ErrCredentials
	}
	b.verifier.throttle.passed(keys)
	if stored.cost != b.verifier.cost {
		b.renew(p, password, from)
	}
	return p, nil
}

// renew hashes a password anew whose hash is of another release's cost.
func (b *Book) renew(p *person, password string, from netip.Addr) {
	h, err := newHash(b.random, b.verifier.cost, password)
	if err == nil {
		err = b.change(act{Actor{p.identity(), from}, "renew hash of password", p.Name}, true, func(c *contents) error {
			if now := c.people[p.Name]; now != nil && now.Stamp == p.Stamp {
				now.Password = h
			}
			return nil
		})
	}
	if err != nil {
		b.log.Warn("renew hash of password", "account", p.Name, "error", err)
	}
}

// known says whether the person of an account has signed in from a network.
func (b *Book) known(name string, network netip.Prefix) (bool, error) {
	if b.memory.knows(name, network) {
		return true, nil
	}
	l, err := b.sessions.get()
	return err == nil && l.knows(name, network), err
}

// SignIn begins a session for who has a name and a password, and returns its secret, which is kept nowhere. It lasts for
// 12 h without use and 7 days at most, through restarts of the controller. Its errors are those of verify. A disk that is
// full does not keep people out: their session is then in memory until the disk takes it.
func (b *Book) SignIn(ctx context.Context, name, password string, from netip.Addr) (secret string, who Identity, err error) {
	p, err := b.verify(ctx, name, password, from)
	if err != nil {
		return "", Identity{}, err
	}
	return b.begin(p, from)
}

// begin begins a session of who has just shown that they are this person.
func (b *Book) begin(p *person, from netip.Addr) (secret string, who Identity, err error) {
	if secret, err = newSecret(b.random); err != nil {
		return "", Identity{}, err
	}
	hash, now := digestOf(secret), round(b.now())
	s := &session{Hash: hash, Name: p.Name, Stamp: p.Stamp, Made: now, Seen: now, Network: admission.NetworkOf(from)}
	if !b.memory.put(hash, s) {
		return "", Identity{}, fmt.Errorf("sign in: %d sessions wait for the disk already", mostPending)
	}
	who = p.identity()
	if err := b.Note(act{Actor{who, from}, "sign in", ""}.entry("ok")); err != nil {
		b.log.Warn("somebody signed in", "account", who.Name, "from", from, "error", err)
	}
	if err := b.Tidy(); err != nil {
		b.log.Warn("a session is in memory alone", "account", who.Name, "error", err)
	}
	return secret, who, nil
}

// Session returns whose session a secret is of, and counts as a use of it; ErrSession: nobody's. It takes microseconds and
// writes nothing.
func (b *Book) Session(secret string) (Identity, error) {
	p, _, err := b.session(secret)
	if err != nil {
		return Identity{}, err
	}
	return p.identity(), nil
}

func (b *Book) session(secret string) (*person, digest, error) {
	if len(secret) > longestSecret {
		return nil, digest{}, ErrSession
	}
	hash, now := digestOf(secret), b.now()
	s, here, seen := b.memory.session(hash)
	l, err := b.sessions.get()
	if err != nil {
		return nil, hash, err
	}
	c, err := b.contents.get()
	if err != nil {
		return nil, hash, err
	}
	if !here {
		s = l.sessions[hash]
	}
	if s == nil || !s.alive(c, later(s.Seen, seen), now) {
		return nil, hash, ErrSession
	}
	b.memory.used(hash, now)
	return c.people[s.Name], hash, nil
}

// EndSession signs out; a session that is over is no error. After another error it is over too, but for a controller that
// starts anew.
func (b *Book) EndSession(secret string, from netip.Addr) error {
	p, hash, err := b.session(secret)
	if errors.Is(err, ErrSession) {
		return nil
	} else if err != nil {
		return err
	}
	if !b.memory.put(hash, nil) {
		return fmt.Errorf("sign out: %d sessions wait for the disk already", mostPending)
	}
	if err := b.Note(act{Actor{p.identity(), from}, "sign out", ""}.entry("ok")); err != nil {
		b.log.Warn("somebody signed out", "account", p.Name, "error", err)
	}
	return b.Tidy()
}
