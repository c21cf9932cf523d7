package account

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/input"
)

// Account is an account as people see it.
type Account struct {
	Name     string    `json:"name"`
	Role     Role      `json:"role"`
	Disabled bool      `json:"disabled"`
	Password bool      `json:"password"` // it has one: its invitation was taken up
	Made     time.Time `json:"made"`
	Invited  time.Time `json:"invited_until,omitzero"` // until when an invitation of it can be taken up
}

// Accounts returns all accounts by name.
func (b *Book) Accounts() ([]Account, error) {
	c, err := b.contents.get()
	if err != nil {
		return nil, err
	}
	until := map[string]time.Time{}
	for _, i := range c.Invitations {
		if b.now().Before(i.Expires) {
			until[i.Name] = i.Expires
		}
	}
	all := make([]Account, 0, len(c.Accounts))
	for _, p := range c.Accounts {
		all = append(all, Account{p.Name, p.Role, p.Disabled, !p.Password.none(), p.Made, until[p.Name]})
	}
	slices.SortFunc(all, func(a, b Account) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func (p *person) identity() Identity {
	return Identity{Name: p.Name, Role: p.Role, Scopes: p.Role.Scopes(), Kind: KindAccount}
}

// endSessions makes all sessions of an account void: the stamp is no secret, only another.
func (p *person) endSessions() { p.Stamp = rand.Text() }

// find returns an account, to be changed.
func (c *contents) find(name string) (*person, error) {
	if p := c.people[name]; p != nil {
		return p, nil
	}
	return nil, input.Errorf("account %.80q: %w", name, ErrUnknown)
}

// Add makes an account without a password, and returns the secret of the invitation by which its person sets one within
// 24 h.
func (b *Book) Add(by Actor, name string, role Role) (invitation string, err error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	if _, err := ParseRole(string(role)); err != nil {
		return "", err
	}
	secret, err := newSecret(b.random)
	if err != nil {
		return "", err
	}
	err = b.change(act{by, "add account as " + string(role), name}, by.manages(), func(c *contents) error {
		if len(c.Accounts) >= mostAccounts {
			return input.Errorf("account %q: there are %d already, which is the most", name, mostAccounts)
		}
		for _, p := range c.Accounts {
			if strings.EqualFold(p.Name, name) {
				return input.Errorf("account %q: %w, by %s", name, ErrTaken, p.Name)
			}
		}
		c.add(name, role, b.now())
		c.invite(name, secret, b.now())
		return nil
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

func (c *contents) add(name string, role Role, now time.Time) {
	p := &person{Name: name, Role: role, Made: now.UTC().Truncate(time.Second)}
	p.endSessions()
	c.Accounts = append(c.Accounts, p)
	c.people[name] = p
}

// Change is what is to become of an account.
type Change struct {
	Role     Role  // "": the one it has
	Disabled *bool // nil: as it is
}

func (c Change) disables() bool { return c.Disabled != nil && *c.Disabled }

// Change makes all of a change of an account, or nothing. Another role counts at once, in open sessions too. To be disabled ends
// the account's sessions and lets it neither sign in nor set a password, and its tokens do nothing; to be enabled is the way back
// for all but the sessions and an invitation.
func (b *Book) Change(by Actor, name string, to Change) error {
	var what []string
	if to.Role != "" {
		if _, err := ParseRole(string(to.Role)); err != nil {
			return err
		}
		what = append(what, "set role to "+string(to.Role))
	}
	switch {
	case to.disables():
		what = append(what, "disable account")
	case to.Disabled != nil:
		what = append(what, "enable account")
	case to.Role == "":
		return input.Errorf("account %.80q: want another role, or whether it is disabled", name)
	}
	return b.change(act{by, strings.Join(what, ", "), name}, by.manages(), func(c *contents) error {
		p, err := c.find(name)
		if err != nil {
			return err
		}
		if lesser := to.Role != "" && to.Role != Administrator; (lesser || to.disables()) && c.last(by, p) {
			return fmt.Errorf("account %s: %w", name, ErrLastAdmin)
		}
		p.Role = cmp.Or(to.Role, p.Role)
		if to.Disabled != nil {
			p.Disabled = *to.Disabled
		}
		if to.disables() {
			p.endSessions()
			c.uninvite(name, b.now())
		}
		return nil
	})
}

// SetRole, Disable and Enable are Changes of one thing.
func (b *Book) SetRole(by Actor, name string, role Role) error {
	return b.Change(by, name, Change{Role: role})
}

func (b *Book) Disable(by Actor, name string) error {
	return b.Change(by, name, Change{Disabled: new(true)})
}

func (b *Book) Enable(by Actor, name string) error {
	return b.Change(by, name, Change{Disabled: new(false)})
}

// last says whether an account is the last administrator's, which only the owner may take away, who needs none.
func (c *contents) last(by Actor, p *person) bool {
	return by.Kind != KindOwner && p.Role == Administrator && c.administrators(p.Name) == 0
}

// Remove takes an account away with its sessions, invitations and tokens.
func (b *Book) Remove(by Actor, name string) error {
	return b.change(act{by, "remove account", name}, by.manages(), func(c *contents) error {
		p, err := c.find(name)
		if err != nil {
			return err
		}
		if c.last(by, p) {
			return fmt.Errorf("account %s: %w", name, ErrLastAdmin)
		}
		c.Accounts = slices.DeleteFunc(c.Accounts, func(other *person) bool { return other == p })
		c.Tokens = slices.DeleteFunc(c.Tokens, func(t *token) bool { return t.MadeBy == name })
		c.uninvite(name, b.now())
		return nil
	})
}

// is says whether an identity is the person of an account.
func (i Identity) is(name string) bool { return i.Kind == KindAccount && i.Name == name }
