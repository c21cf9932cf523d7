package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/account"
)

// signing is the part of the table by which people show who they are.
func (s *Server) signing(a huma.API) {
	add(a, get("me", scopeNone, "/me", "Who calls, and what they may"), s.me)
	add(a, silent(post("sign-in", scopeNone, "/session", "Begin a session, which a cookie is of")), s.signIn)
	add(a, silent(operation(http.MethodDelete, "sign-out", scopeNone, "/session", "End the session")), s.signOut)
	add(a, post("take-up", scopeNone, "/invitation", "Set a password by an invitation, which works once, and begin a session"), s.takeUp)
	add(a, post("invited", scopeNone, "/invitation/name", "Whose password an invitation sets; it stays good"), s.invited)
	add(a, silent(post("change-password", scopeNone, "/password", "Set another password, by the one there is; sessions end")),
		s.changePassword)
}

// silent says that an operation answers with nothing but that it was done.
func silent(o huma.Operation) huma.Operation {
	o.DefaultStatus = http.StatusNoContent
	return o
}

// meDoc is who calls.
type meDoc struct {
	account.Identity
	Public           bool `json:"public" doc:"Whether anybody may look"`
	ShortestPassword int  `json:"shortest_password" doc:"How many characters a password has at least"`
	Labs             bool `json:"labs" doc:"Whether the controller shows labs"`
	Insecure         bool `json:"insecure" doc:"Whether no password or token is taken, since others can read what is sent on this way"`

	GeneratedUntil *time.Time `json:"generated_until,omitempty" doc:"When the newest Result began that was made up for a demonstration; what is older was not measured either"`
}

func (s *Server) me(ctx context.Context, _ *struct{}) (*body[meDoc], error) {
	v := visitorOf(ctx)
	doc := meDoc{Identity: v.Identity, Public: v.public, ShortestPassword: account.ShortestPassword, Labs: s.Labs != nil,
		Insecure: errors.Is(v.refused, errInsecure)}
	if doc.Scopes == nil {
		doc.Scopes = []account.Scope{}
	}
	if v.may(account.Read) {
		doc.GeneratedUntil, _ = s.generatedUntil(ctx) // an archive that does not answer has nothing to be marked either
	}
	return &body[meDoc]{doc}, nil
}

// A password has at least 12 and at most 1024 bytes, a secret 26 or more: package account says so, and why.
type signInInput struct {
	Proto string `header:"X-Forwarded-Proto" doc:"Of a proxy: https"`
	Body  struct {
		Name     string `json:"name"`
		Password string `json:"password"`
	}
}

// cookieAnswer sets the cookie of a session.
type cookieAnswer struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
}

// signedBy is the cookie of a session. It has no path: below the one that a proxy puts in front it goes to the API alone.
func signedBy(secret string, secure bool) *cookieAnswer {
	return &cookieAnswer{http.Cookie{Name: sessionCookie, Value: secret, HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode}}
}

func (s *Server) signIn(ctx context.Context, in *signInInput) (*cookieAnswer, error) {
	v := visitorOf(ctx)
	if errors.Is(v.refused, errInsecure) {
		return nil, fault(errInsecure)
	}
	secret, _, err := s.Accounts.SignIn(ctx, in.Body.Name, in.Body.Password, v.address)
	if err != nil {
		return nil, fault(err)
	}
	return signedBy(secret, v.tls || in.Proto == "https"), nil
}

func (s *Server) signOut(ctx context.Context, _ *struct{}) (*cookieAnswer, error) {
	v := visitorOf(ctx)
	if v.session != "" {
		if err := s.Accounts.EndSession(v.session, v.address); err != nil {
			return nil, fault(err)
		}
	}
	gone := signedBy("", false)
	gone.SetCookie.MaxAge = -1
	return gone, nil
}

type takeUpInput struct {
	Proto string `header:"X-Forwarded-Proto" doc:"Of a proxy: https"`
	Body  struct {
		Token    string `json:"token" doc:"Of the invitation"`
		Password string `json:"password"`
	}
}

type nameDoc struct {
	Name string `json:"name"`
}

// takenUp is a name and the cookie of its session.
type takenUp struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
	Body      nameDoc
}

func (s *Server) takeUp(ctx context.Context, in *takeUpInput) (*takenUp, error) {
	v := visitorOf(ctx)
	if errors.Is(v.refused, errInsecure) {
		return nil, fault(errInsecure)
	}
	secret, who, err := s.Accounts.AcceptAndSignIn(ctx, in.Body.Token, in.Body.Password, v.address)
	if err != nil {
		return nil, fault(err)
	}
	return &takenUp{signedBy(secret, v.tls || in.Proto == "https").SetCookie, nameDoc{who.Name}}, nil
}

type invitedInput struct {
	Body struct {
		Token string `json:"token" doc:"Of the invitation"`
	}
}

// invited tells a name to who has its invitation, and to nobody else.
func (s *Server) invited(ctx context.Context, in *invitedInput) (*body[nameDoc], error) {
	if errors.Is(visitorOf(ctx).refused, errInsecure) {
		return nil, fault(errInsecure)
	}
	name, err := s.Accounts.Invited(in.Body.Token)
	if err != nil {
		return nil, fault(err)
	}
	return &body[nameDoc]{nameDoc{name}}, nil
}

type passwordInput struct {
	Body struct {
		Old      string `json:"old"`
		Password string `json:"password"`
	}
}

func (s *Server) changePassword(ctx context.Context, in *passwordInput) (*struct{}, error) {
	v := visitorOf(ctx)
	if v.Kind != account.KindAccount {
		return nil, fault(cmp.Or(v.refused, errNoProof)) // a token has no password
	}
	if err := s.Accounts.ChangePassword(ctx, v.Name, in.Body.Old, in.Body.Password, v.address); err != nil {
		return nil, fault(err)
	}
	return nil, nil
}
