package account

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/input"
)

const contentsSchema = "pathwise.accounts/1"

// contents is accounts.json.
type contents struct {
	Schema      string        `json:"schema"`
	Accounts    []*person     `json:"accounts"`
	Invitations []*invitation `json:"invitations"`
	Tokens      []*token      `json:"tokens"`

	people  map[string]*person // by name
	secrets map[digest]*token
}

// person is an account.
type person struct {
	Name     string    `json:"name"`
	Role     Role      `json:"role"`
	Password hash      `json:"password,omitzero"`
	Disabled bool      `json:"disabled,omitempty"`
	Made     time.Time `json:"made"`
	// Stamp is drawn anew when sessions are to end: a session counts that has the stamp of its account.
	Stamp string `json:"stamp"`
}

// invitation lets whoever has its secret set the password of an account, once.
type invitation struct {
	Hash    digest    `json:"hash"`
	Name    string    `json:"name"` // of the account
	Expires time.Time `json:"expires"`
}

type token struct {
	Name    string    `json:"name"`
	Hash    digest    `json:"hash"`
	Scopes  []Scope   `json:"scopes"`
	Made    time.Time `json:"made"`
	MadeBy  string    `json:"made_by,omitempty"` // an account; empty: the owner
	Expires time.Time `json:"expires,omitzero"`
}

const (
	// mostAccounts and mostTokens keep accounts.json, which each change replaces, under a megabyte.
	mostAccounts = 1000
	mostTokens   = 1000
)

// namePattern allows what names in a mesh file (of hosts, tests, tokens) may have, and @ beside it, for those who sign in by their
// mail address.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._@-]{0,61}[A-Za-z0-9])?$`)

// CheckName says what is wrong with the name of an account or a token.
func CheckName(name string) error {
	if !namePattern.MatchString(name) {
		return input.Errorf("name %.80q: want at most 63 letters, digits, dots, hyphens, underscores and @, such as ann.lee", name)
	}
	return nil
}

// parseContents reads accounts.json; nil is that of a controller that has none yet. What it does not know it refuses: the
// next change would lose it.
func parseContents(text []byte) (*contents, error) {
	c := &contents{Schema: contentsSchema}
	if text != nil {
		if err := decode(text, c); err != nil {
			return nil, err
		}
	}
	if c.Schema != contentsSchema {
		return nil, fmt.Errorf("schema %.80q, want %s; was it written by a newer release?", c.Schema, contentsSchema)
	}
	return c, c.index()
}

// decode reads one JSON document without unknown fields.
func decode(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one document")
	}
	return nil
}

// index checks all that the file holds, and fills the maps by which people and tokens are found.
func (c *contents) index() error {
	c.people = make(map[string]*person, len(c.Accounts))
	c.secrets = make(map[digest]*token, len(c.Tokens))
	folded := map[string]bool{} // names that differ by case alone deceive people
	for _, p := range c.Accounts {
		if p == nil {
			return errors.New("an account is null")
		}
		key := strings.ToLower(p.Name)
		if err := CheckName(p.Name); err != nil || p.Role.Scopes() == nil || p.Stamp == "" || folded[key] {
			return fmt.Errorf("account %.80q: want a name that no other has, a role and a stamp", p.Name)
		}
		folded[key], c.people[p.Name] = true, p
	}
	for _, i := range c.Invitations {
		if i == nil || c.people[i.Name] == nil {
			return errors.New("an invitation is of no account")
		}
	}
	named := map[string]bool{}
	for _, t := range c.Tokens {
		if t == nil {
			return errors.New("a token is null")
		}
		if CheckName(t.Name) != nil || named[t.Name] || c.secrets[t.Hash] != nil || !soundScopes(t.Scopes) {
			return fmt.Errorf("token %.80q: want a name and a hash that no other has, and scopes", t.Name)
		}
		named[t.Name], c.secrets[t.Hash] = true, t
	}
	return nil
}

func soundScopes(scopes []Scope) bool {
	for _, s := range scopes {
		if !slices.Contains(Administrator.Scopes(), s) {
			return false
		}
	}
	return len(scopes) > 0
}

func (c *contents) token(name string) *token {
	for _, t := range c.Tokens {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// invited returns the invitation that a secret is of, while it lasts.
func (c *contents) invited(secret string, now time.Time) *invitation {
	if len(secret) > longestSecret {
		return nil
	}
	hash := digestOf(secret)
	for _, i := range c.Invitations {
		if i.Hash == hash && now.Before(i.Expires) {
			return i
		}
	}
	return nil
}

// uninvite takes an account's invitations away, and those that are over.
func (c *contents) uninvite(name string, now time.Time) {
	c.Invitations = slices.DeleteFunc(c.Invitations, func(i *invitation) bool {
		return i.Name == name || !now.Before(i.Expires)
	})
}

// administrators counts the enabled administrators with a password, but one.
func (c *contents) administrators(but string) int {
	n := 0
	for _, p := range c.Accounts {
		if p.Role == Administrator && !p.Disabled && !p.Password.none() && p.Name != but {
			n++
		}
	}
	return n
}

func toJSON(v any) func(io.Writer) error {
	return func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ") // for people who look into it
		return e.Encode(v)
	}
}
