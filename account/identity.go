// Package account knows who may do what at a controller: people and their passwords, sessions, invitations, tokens of
// programs, and the audit log of what they did.
//
// It speaks no HTTP, sets no cookie and knows no route: whoever asks says what scope an act needs. A Book is the
// accounts of one controller, in its folder; several processes may hold a Book of one folder at a time. What is kept
// there, and each limit, is described in docs/accounts.md.
//
//	accounts/accounts.json   people, invitations, tokens    no secret: argon2id of passwords, SHA-256 of the rest
//	accounts/sessions.json   sessions, when a token was last used, from where people sign in
//	accounts/lock            held while either is replaced
//	audit/0000000001.log     who did what: a JSON document a line
//	audit/lock               held while a line is added
package account

import (
	"errors"
	"net/netip"
	"slices"

	"github.com/pathwise-net/pathwise/input"
)

// Scope is a part of what can be done.
type Scope string

const (
	Read  Scope = "read"  // see everything but secrets and other people's accounts
	Run   Scope = "run"   // start tests and diagnoses
	Admin Scope = "admin" // change the configuration; for people, accounts too
)

// Role is what an account is for.
type Role string

const (
	Viewer        Role = "viewer"
	Operator      Role = "operator"
	Administrator Role = "admin"
)

// Scopes returns what a role implies; nothing for a role that there is not.
func (r Role) Scopes() []Scope {
	switch r {
	case Viewer:
		return []Scope{Read}
	case Operator:
		return []Scope{Read, Run}
	case Administrator:
		return []Scope{Read, Run, Admin}
	}
	return nil
}

// ParseRole reads a role as people write it.
func ParseRole(text string) (Role, error) {
	if r := Role(text); r.Scopes() != nil {
		return r, nil
	}
	return "", input.Errorf("role %q: want viewer, operator or admin", text)
}

// ParseScopes checks scopes, and returns them sorted as Read, Run, Admin and each once.
func ParseScopes(texts []string) ([]Scope, error) {
	for _, text := range texts {
		if !slices.Contains(Administrator.Scopes(), Scope(text)) {
			return nil, input.Errorf("scope %q: want read, run or admin", text)
		}
	}
	if len(texts) == 0 {
		return nil, input.Errorf("scopes: want one or more of read, run, admin")
	}
	missing := func(s Scope) bool { return !slices.Contains(texts, string(s)) }
	return slices.DeleteFunc(Administrator.Scopes(), missing), nil
}

// Kind is by which door somebody came.
type Kind string

const (
	KindAccount Kind = "account" // a person who signed in
	KindToken   Kind = "token"   // a program
	KindOwner   Kind = "owner"   // whoever may open the controller's own folder
	KindPublic  Kind = "public"  // anybody
)

// Identity is who acts. The zero value may nothing.
type Identity struct {
	Name   string  `json:"name"` // of the account or the token; empty for owner and public
	Role   Role    `json:"role"` // empty for a token, which has scopes alone
	Scopes []Scope `json:"scopes"`
	Kind   Kind    `json:"kind"`
}

// May says whether a scope is among the identity's.
func (i Identity) May(s Scope) bool { return slices.Contains(i.Scopes, s) }

// manages says whether an identity may change accounts. A token may not: who steals one cannot make itself at home.
func (i Identity) manages() bool {
	return i.May(Admin) && (i.Kind == KindAccount || i.Kind == KindOwner)
}

// Owner is whoever may open the controller's folder, such as through its Unix socket.
func Owner() Identity {
	return Identity{Role: Administrator, Scopes: Administrator.Scopes(), Kind: KindOwner}
}

// Public is anybody, where the controller shows its pages to all.
func Public() Identity { return Identity{Role: Viewer, Scopes: Viewer.Scopes(), Kind: KindPublic} }

// Actor is an identity that asks for a change, and from where it asks.
type Actor struct {
	Identity
	From netip.Addr // invalid: from this machine, not through a network
}

var (
	// ErrCredentials says that a name and a password do not belong together: there is no such account, it is disabled,
	// it has no password yet, or the password is another. Which of these is not for the caller to know.
	ErrCredentials = errors.New("wrong name or password")
	// ErrSession says that a session is over, or never was.
	ErrSession = errors.New("no such session; sign in again")
	// ErrToken says that a token is unknown, expired, or its maker has no account any more.
	ErrToken = errors.New("no such token")
	// ErrInvitation says that a one-time link was used, has expired, or was replaced by a newer one.
	ErrInvitation = errors.New("the invitation was used or is older than 24 h; ask for a new one")
	// ErrDenied says that the one who asks may not.
	ErrDenied = errors.New("not allowed")
	// ErrUnknown says that there is no account or token of a name.
	ErrUnknown = errors.New("there is none of that name")
	// ErrTaken says that a name is in use.
	ErrTaken = errors.New("the name is taken")
	// ErrLastAdmin says that nobody could administer any more.
	ErrLastAdmin = errors.New("this is the last administrator; make another one first")
	// ErrBusy says that another process holds the accounts for too long.
	ErrBusy = errors.New("another process is at the accounts; try again")
)
