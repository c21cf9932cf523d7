package account

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/input"
)

// inviteLife is how long a one-time link lasts: who gets it in the evening can use it the next day.
const inviteLife = 24 * time.Hour

func (c *contents) invite(name, secret string, now time.Time) {
	c.uninvite(name, now)
	c.Invitations = append(c.Invitations, &invitation{digestOf(secret), name, now.Add(inviteLife).UTC().Truncate(time.Second)})
}

// Invite returns the secret of a new invitation by which the person of an account sets a password within 24 h, having
// forgotten the one before or never had one. It takes the place of an earlier invitation. A password that there is
// counts on until then.
func (b *Book) Invite(by Actor, name string) (invitation string, err error) {
	secret, err := newSecret(b.random)
	if err != nil {
		return "", err
	}
	err = b.change(act{by, "invite", name}, by.manages(), func(c *contents) error {
		p, err := c.find(name)
		if err != nil {
			return err
		}
		if p.Disabled {
			return input.Errorf("account %q: is disabled; enable it first", name)
		}
		c.invite(name, secret, b.now())
		return nil
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// InviteFirst returns an invitation for the very first administrator, and empty text if there is an administrator with a
// password. A controller calls it whenever it starts, and prints what it gets: each call makes the former invitation void.
// If another has the name, the account is called NAME-2 and so on; Invited tells.
func (b *Book) InviteFirst(name string) (invitation string, err error) {
	c, err := b.contents.get()
	if err != nil || c.administrators("") > 0 {
		return "", err
	}
	if err := CheckName(name); err != nil {
		return "", err
	}
	secret, err := newSecret(b.random)
	if err != nil {
		return "", err
	}
	free := c.firstName(name)
	err = b.change(act{Actor{Identity: Owner()}, "invite the first administrator", free}, true, func(c *contents) error {
		if c.administrators("") > 0 || c.firstName(name) != free { // another process was faster
			return errFirst
		}
		if c.people[free] == nil {
			c.add(free, Administrator, b.now())
		}
		c.invite(free, secret, b.now())
		return nil
	})
	if errors.Is(err, errFirst) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	return secret, nil
}

var errFirst = errors.New("another process made the first administrator")

// firstName returns the name of the account that waits for the first administrator, or of the one that is to be made:
// name, unless somebody else has it, whose rights an invitation must not widen.
func (c *contents) firstName(name string) string {
	waits := func(p *person) bool { return p.Role == Administrator && !p.Disabled && p.Password.none() }
	for n, free := 2, name; ; n, free = n+1, fmt.Sprintf("%s-%d", name, n) {
		other := slices.IndexFunc(c.Accounts, func(p *person) bool { return strings.EqualFold(p.Name, free) })
		if other < 0 || c.Accounts[other].Name == free && waits(c.Accounts[other]) {
			return free
		}
	}
}

// Invited returns the name of the account whose password an invitation sets; ErrInvitation: none.
func (b *Book) Invited(invitation string) (name string, err error) {
	c, err := b.contents.get()
	if err != nil {
		return "", err
	}
	i := c.invited(invitation, b.now())
	if i == nil {
		return "", ErrInvitation
	}
	return i.Name, nil
}

// Accept takes an invitation up: it sets the password of its account, ends the account's sessions, and works once. A
// password that is refused does not use it up. It may answer *Later.
func (b *Book) Accept(ctx context.Context, invitation, password string, from netip.Addr) (Identity, error) {
	p, err := b.accept(ctx, invitation, password, from)
	if err != nil {
		return Identity{}, err
	}
	return p.identity(), nil
}

// AcceptAndSignIn is Accept, and begins a session of the account as SignIn does.
func (b *Book) AcceptAndSignIn(ctx context.Context, invitation, password string, from netip.Addr) (secret string, who Identity, err error) {
	p, err := b.accept(ctx, invitation, password, from)
	if err != nil {
		return "", Identity{}, err
	}
	return b.begin(p, from)
}

// accept returns the account as it was left.
func (b *Book) accept(ctx context.Context, invitation, password string, from netip.Addr) (*person, error) {
	name, err := b.Invited(invitation)
	if err != nil {
		return nil, err
	}
	if err := CheckPassword(name, password); err != nil {
		return nil, err
	}
	h, err := b.hashOf(ctx, password)
	if err != nil {
		return nil, err
	}
	by := Actor{Identity{Name: name, Kind: KindAccount}, from}
	var who person
	err = b.change(act{by, "set password by invitation", name}, true, func(c *contents) error {
		i := c.invited(invitation, b.now()) // another may have been faster
		if i == nil {
			return ErrInvitation
		}
		p, err := c.find(i.Name)
		if err != nil || p.Disabled {
			return ErrInvitation
		}
		p.Password = h
		p.endSessions()
		c.uninvite(i.Name, b.now())
		who = *p
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &who, nil
}

// ChangePassword sets another password, for who knows the one there is, and ends the account's sessions. Its errors are
// those of verify and CheckPassword.
func (b *Book) ChangePassword(ctx context.Context, name, old, password string, from netip.Addr) error {
	if err := CheckPassword(name, password); err != nil {
		return err
	}
	if old == password {
		return input.Errorf("password: is the one there is; want another")
	}
	p, err := b.verify(ctx, name, old, from)
	if err != nil {
		return err
	}
	h, err := b.hashOf(ctx, password)
	if err != nil {
		return err
	}
	by := Actor{p.identity(), from}
	return b.change(act{by, "change password", name}, true, func(c *contents) error {
		now, err := c.find(name)
		if err != nil || now.Stamp != p.Stamp { // it was changed, disabled or removed meanwhile
			return fmt.Errorf("change password: %w", ErrCredentials)
		}
		now.Password = h
		now.endSessions()
		c.uninvite(name, b.now())
		return nil
	})
}
