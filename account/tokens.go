package account

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/input"
)

// TokenSpec is a token to be made.
type TokenSpec struct {
	Name    string
	Scopes  []Scope
	Expires time.Time // zero: never
	Replace bool      // one that the name has counts no more; else it is ErrTaken
}

// Token is a token as people see it.
type Token struct {
	Name    string    `json:"name"`
	Scopes  []Scope   `json:"scopes"`
	Made    time.Time `json:"made"`
	MadeBy  string    `json:"made_by"` // an account; empty: the controller's owner
	Expires time.Time `json:"expires,omitzero"`
	Used    time.Time `json:"used,omitzero"` // last; a few minutes may be missing after a crash
}

// NewToken makes a token and returns its text, which is kept nowhere. People make tokens, with scopes that they have
// themselves; a token cannot make another. One that a person made does no more than its person may, and nothing while the
// account is disabled. Those of the owner depend on nobody.
func (b *Book) NewToken(by Actor, spec TokenSpec) (string, error) {
	if err := CheckName(spec.Name); err != nil {
		return "", err
	}
	texts := make([]string, len(spec.Scopes))
	for i, s := range spec.Scopes {
		texts[i] = string(s)
	}
	scopes, err := ParseScopes(texts)
	if err != nil {
		return "", err
	}
	if !spec.Expires.IsZero() && !spec.Expires.After(b.now()) {
		return "", input.Errorf("token %q: expires %s, want a time to come", spec.Name, spec.Expires.Format(time.RFC3339))
	}
	secret, err := newSecret(b.random)
	if err != nil {
		return "", err
	}
	secret = tokenPrefix + secret
	made := &token{Name: spec.Name, Hash: digestOf(secret), Scopes: scopes, MadeBy: by.Name,
		Made: b.now().UTC().Truncate(time.Second), Expires: spec.Expires.UTC()}
	what := fmt.Sprintf("make token for %s", strings.Join(texts, ", "))
	err = b.change(act{by, what, spec.Name}, by.grants(scopes), func(c *contents) error {
		if old := c.token(spec.Name); old != nil {
			if !spec.Replace {
				return input.Errorf("token %q: %w", spec.Name, ErrTaken)
			}
			if !by.holds(old) {
				return ErrDenied
			}
			c.dropToken(old)
		}
		if len(c.Tokens) >= mostTokens {
			return input.Errorf("token %q: there are %d already, which is the most", spec.Name, mostTokens)
		}
		c.Tokens = append(c.Tokens, made)
		return nil
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

func (c *contents) dropToken(t *token) {
	c.Tokens = slices.DeleteFunc(c.Tokens, func(other *token) bool { return other == t })
}

// grants says whether an identity may make a token of scopes.
func (i Identity) grants(scopes []Scope) bool {
	lacks := func(s Scope) bool { return !i.May(s) }
	return (i.Kind == KindAccount || i.Kind == KindOwner) && !slices.ContainsFunc(scopes, lacks)
}

// holds says whether an identity may take a token away: who made it, and administrators.
func (i Identity) holds(t *token) bool { return i.manages() || i.is(t.MadeBy) }

// RemoveToken takes a token away: its maker may, and an administrator. ErrUnknown: there is none of that name.
func (b *Book) RemoveToken(by Actor, name string) error {
	someone := by.Kind == KindAccount || by.Kind == KindOwner
	return b.change(act{by, "remove token", name}, someone, func(c *contents) error {
		t := c.token(name)
		if t == nil {
			return input.Errorf("token %.80q: %w", name, ErrUnknown)
		}
		if !by.holds(t) {
			return ErrDenied
		}
		c.dropToken(t)
		return nil
	})
}

// Tokens returns all tokens by name, those that have expired too.
func (b *Book) Tokens() ([]Token, error) {
	c, err := b.contents.get()
	if err != nil {
		return nil, err
	}
	l, err := b.sessions.get()
	if err != nil {
		return nil, err
	}
	all := make([]Token, 0, len(c.Tokens))
	for _, t := range c.Tokens {
		used := later(l.Uses[t.Hash], b.memory.use(t.Hash))
		all = append(all, Token{t.Name, slices.Clone(t.Scopes), t.Made, t.MadeBy, t.Expires, used})
	}
	slices.SortFunc(all, func(a, b Token) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Token returns who a token is; ErrToken: nobody. It takes microseconds and writes nothing.
func (b *Book) Token(text string) (Identity, error) {
	if len(text) > longestSecret {
		return Identity{}, ErrToken
	}
	c, err := b.contents.get()
	if err != nil {
		return Identity{}, err
	}
	now := b.now()
	t := c.secrets[digestOf(text)]
	if t == nil || !t.Expires.IsZero() && !now.Before(t.Expires) {
		return Identity{}, ErrToken
	}
	scopes := t.Scopes
	if t.MadeBy != "" {
		maker := c.people[t.MadeBy]
		if maker == nil || maker.Disabled {
			return Identity{}, ErrToken
		}
		lacks := func(s Scope) bool { return !slices.Contains(maker.Role.Scopes(), s) }
		scopes = slices.DeleteFunc(slices.Clone(scopes), lacks)
	}
	b.memory.used(t.Hash, now)
	return Identity{Name: t.Name, Scopes: slices.Clip(scopes), Kind: KindToken}, nil
}
